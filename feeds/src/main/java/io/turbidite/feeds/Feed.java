package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.DefinitionException.Problem;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.FeedDefinition.IndexPart;
import io.turbidite.feeds.FeedDefinition.Mode;
import io.turbidite.feeds.FeedDefinition.PolicyPart;
import io.turbidite.feeds.avro.AvroLibrary;
import io.turbidite.feeds.avro.AvroRecordParser;
import io.turbidite.feeds.avro.RegistrySchemas;
import io.turbidite.feeds.flow.DiscardPolicy;
import io.turbidite.feeds.flow.ElasticPolicy;
import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.flow.RecordPolicy;
import io.turbidite.feeds.flow.SpillPlace;
import io.turbidite.feeds.flow.ThrottlePolicy;
import io.turbidite.feeds.flow.WorkerPolicy;
import io.turbidite.feeds.parse.CsvRecordParser;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.parse.ShapingParser;
import io.turbidite.feeds.parse.Transform;
import io.turbidite.feeds.parse.TransformAids;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.file.FileSource;
import io.turbidite.feeds.source.parcel.ParcelSource;
import io.turbidite.feeds.source.parcel.Producers;
import io.turbidite.feeds.source.stdin.StdinKind;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.feeds.store.FeedDelivery.Operation;
import io.turbidite.feeds.store.KeyThrottle;
import io.turbidite.feeds.store.LetterLines;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * A feed, ready to run: carries the records of its source into its dataset, each exactly once,
 * however often it is run, stopped or killed.
 *
 * <p>Each batch of records is one atomic write together with the position behind it; the next run
 * goes on from there. Records that can't be taken become dead letters, and the feed goes on.
 *
 * <p>Any thread may call {@link #stop}; everything else is <em>confined to one thread</em>. At any
 * time only one feed of a name may exist.
 */
public final class Feed implements AutoCloseable {
    private final FeedDefinition definition;
    private final Store store;
    private final FeedSource source;
    private final Dataset dataset;
    private final FeedDelivery delivery;
    private final FeedMeters meters;
    private volatile boolean stopped;

    private Feed(
            FeedDefinition definition,
            Store store,
            FeedSource source,
            Dataset dataset,
            FeedDelivery delivery,
            FeedMeters meters) {
        this.meters = meters;
        this.definition = definition;
        this.store = store;
        this.source = source;
        this.dataset = dataset;
        this.delivery = delivery;
    }

    /**
     * Makes the checks that need no store: that the source exists, and that its first header has
     * what the dataset and the transforms need. {@link #open} makes them too. Call this before you
     * create a store for a definition, so that a wrong definition creates none.
     *
     * @throws DefinitionException naming file, line and key
     */
    public static void check(FeedDefinition definition) {
        try (FeedSource source = openSource(definition)) {
            checkHeader(definition, source);
        }
    }

    /**
     * Makes all checks of {@link #open}, and nothing else.
     *
     * @throws DefinitionException if the definition doesn't fit its source, or differs from the
     *     existing dataset
     */
    public static void check(FeedDefinition definition, Store store) {
        checked(definition, store).close();
    }

    /**
     * Prepares a feed, and creates its dataset if the store has none of that name.
     *
     * @throws StorageIoException if what the source reads is away for now; nothing was created
     * @throws DefinitionException if the definition doesn't fit its source, or differs from the
     *     existing dataset; nothing was created
     */
    public static Feed open(FeedDefinition definition, Store store) {
        FeedSource source = checkedOrAway(definition, store);
        try (Undo undo = Undo.of(source::close)) {
            Dataset there = store.findDataset(definition.dataset().name());
            return undo.keep(open(definition, store, source, there));
        }
    }

    /**
     * A feed of the same name and into the same dataset whose source is its dead letters: those
     * that were not fed again yet, up to the last one that there is now. What the definition takes
     * is taken, each once; what it does not take is a dead letter again, behind the others. To be
     * run while no other run of the feed is.
     *
     * @throws DefinitionException as {@link #open}
     */
    public static Feed openLetters(FeedDefinition definition, Store store) {
        FeedSource first = checked(definition, store);
        FeedSource letters = new LetterSource(store, definition.feed(), first);
        try (Undo undo = Undo.of(letters::close)) {
            Dataset there = store.findDataset(definition.dataset().name());
            return undo.keep(open(definition, store, letters, there));
        }
    }

    /** Up to which byte of their file the dead letters of a feed were fed again. */
    public static long lettersRetriedTo(Store store, String feed) {
        return LetterSource.retriedTo(store, feed, LetterLines.taken(store, feed));
    }

    /** As {@link #checked}, but a source that is away for now fails as it does while it is read. */
    private static FeedSource checkedOrAway(FeedDefinition definition, Store store) {
        try {
            return checked(definition, store);
        } catch (DefinitionException e) {
            if (e.problems().size() == 1 && e.getCause() instanceof StorageIoException away) {
                throw away.in("feed " + definition.feed());
            }
            throw e;
        }
    }

    /** The source of a definition without problems. */
    private static FeedSource checked(FeedDefinition definition, Store store) {
        List<Problem> problems = new ArrayList<>();
        Throwable cause = null;
        FeedSource source = null;
        try {
            source = openSource(definition);
            checkHeader(definition, source);
        } catch (DefinitionException e) {
            problems.addAll(e.problems());
            cause = e.getCause();
        }
        Dataset there = store.findDataset(definition.dataset().name());
        if (there != null) {
            problems.addAll(DatasetMatch.problems(definition, there, store));
            String other = source == null
                    ? null
                    : FeedDelivery.readInto(store, there, owner(definition, source));
            if (other != null) {
                checkNotRun(definition, source, store, " into " + other, problems);
            }
        } else {
            String name = definition.dataset().name();
            checkNotRun(definition, source, store, ", but dataset " + name + " is gone", problems);
            checkRegions(definition, store, problems);
        }
        try {
            FeedAids.check(definition, store);
            checkPolicy(definition, source);
        } catch (DefinitionException e) {
            problems.addAll(e.problems());
        }
        if (source == null || !problems.isEmpty()) {
            if (source != null) {
                source.close();
            }
            throw new DefinitionException(
                    problems.stream()
                            .sorted(Comparator.comparingInt(Problem::line))
                            .toList(),
                    cause);
        }
        return source;
    }

    private static Feed open(
            FeedDefinition definition, Store store, FeedSource source, @Nullable Dataset there) {
        Dataset dataset = there == null ? store.createDataset(definition.toDatasetSpec()) : there;
        Operation operation = switch (definition.mode()) {
            case UPSERT -> Operation.UPSERT;
            case INSERT -> Operation.INSERT;
            case DELETE -> Operation.DELETE;
        };
        FeedMeters meters =
                FeedMeters.of(store.meters(), store.environment().clock(), definition.feed());
        return new Feed(
                definition,
                store,
                source,
                dataset,
                FeedDelivery.into(
                        store, dataset, definition.feed(), owner(definition, source), operation),
                meters);
    }

    /**
     * Runs until the source ends or {@link #stop} is called.
     *
     * @throws StorageException if the source can't be read further or the store takes no more.
     *     Accepted records are committed, and the next run goes on from there
     */
    public FeedReport run(FeedProgress progress) {
        return new FeedTurns(this, progress).run();
    }

    /**
     * Begins a run whose caller says when it reads on, as one who runs many feeds does.
     *
     * @return what runs it, to be closed before the feed is
     */
    public FeedTurns begin(FeedProgress progress) {
        return new FeedTurns(this, progress);
    }

    FeedRun newRun(FeedProgress progress) {
        Supplier<RecordPolicy> policies = policies();
        FunctionFailures failures = new FunctionFailures();
        RegistrySchemas schemas =
                schemas(definition); // read once: workers that come later share them
        return new FeedRun(
                new FeedRun.Parts(
                        definition.feed(),
                        source,
                        () -> tools(policies.get(), failures, schemas),
                        workers(),
                        separator(definition),
                        delivery,
                        store.environment().tasks(),
                        clock(),
                        store.events(),
                        spill()),
                progress,
                () -> stopped,
                meters);
    }

    private ParseTools tools(
            RecordPolicy policy, FunctionFailures failures, @Nullable RegistrySchemas schemas) {
        FeedAids aids = new FeedAids(definition, store, meters, failures);
        return new ParseTools(
                newParser(definition, dataset.type(), aids, schemas),
                deletes(definition, dataset.type(), aids),
                aids,
                policy);
    }

    /**
     * Of each parse worker; what they decide is decided over the whole feed. Letters are fed again
     * by hand: none of them is left out.
     */
    private Supplier<RecordPolicy> policies() {
        if (source instanceof LetterSource) {
            return () -> RecordPolicy.TAKES_ALL;
        }
        return switch (definition.policy()) {
            case PolicyPart.Basic(), PolicyPart.Spill(var _), PolicyPart.Elastic(var _, var _) ->
                () -> RecordPolicy.TAKES_ALL;
            case PolicyPart.Discard(int percentMax, int keptOneIn) -> {
                RecordPolicy ofAll = new DiscardPolicy(percentMax / 100.0, keptOneIn);
                yield () -> ofAll;
            }
            case PolicyPart.Throttle(int recordsPerSecond) -> {
                ThrottlePolicy ofAll = new ThrottlePolicy(recordsPerSecond);
                yield () -> new KeyThrottle(dataset, ofAll, clock());
            }
        };
    }

    /** Letters are one partition. */
    private WorkerPolicy workers() {
        return definition.policy() instanceof PolicyPart.Elastic(int least, int most)
                        && !(source instanceof LetterSource)
                ? new ElasticPolicy(least, most)
                : WorkerPolicy.fixed(definition.workers());
    }

    /** Where it spills, or has spilled; null if there is nothing to be looked for. */
    private @Nullable SpillPlace spill() {
        if (source instanceof LetterSource) {
            return null;
        }
        Disk disk = store.environment().disk();
        String feed = definition.feed();
        boolean spills = definition.policy() instanceof PolicyPart.Spill;
        long bytesMax = definition.policy() instanceof PolicyPart.Spill(long most) ? most : 1;
        if (source.canGoBack()) {
            if (SpillPlace.isLeft(disk, feed)) {
                throw new InvalidRequestException(
                        "%s has records that another source of feed '%s' was told to be taken: run it with that source until they are delivered, or give this feed another name"
                                .formatted(SpillPlace.DIRECTORY + "/" + feed, feed));
            }
            return spills ? SpillPlace.swept(disk, StoreFiles.SPILL, feed, bytesMax) : null;
        }
        // by whatever policy: what was acknowledged is delivered
        return spills || SpillPlace.isLeft(disk, feed)
                ? SpillPlace.kept(disk, feed, encoding(), bytesMax)
                : null;
    }

    /** What records in a spill are of. */
    private String encoding() {
        String parts = definition.mode() == Mode.DELETE ? "keys" : "records";
        return "%s of %s %s".formatted(parts, dataset.name(), dataset.type());
    }

    Clock clock() {
        return store.environment().clock();
    }

    FeedDelivery delivery() {
        return delivery;
    }

    /** Ends the run soon; it first delivers what it has read. */
    public void stop() {
        stopped = true;
    }

    /**
     * As {@link #stop}, but after {@code micros} nothing waits for the store either: what it has
     * not taken by then is left to the next run. Any thread may call it.
     */
    public void stopWithin(long micros) {
        stopped = true;
        store.endWaitsWithin(micros);
    }

    /** What it was made of. */
    public FeedDefinition definition() {
        return definition;
    }

    /** What its stages came to since the store was opened, and how they are now. */
    public List<FeedStage> stages() {
        return meters.stages(FeedStage::new);
    }

    /** Whether it runs until it is stopped. */
    public boolean isEndless() {
        return source.isEndless();
    }

    /** Where parcels of records are handed in; null if its source takes none. */
    public @Nullable ParcelSource parcels() {
        return source instanceof ParcelSource parcels ? parcels : null;
    }

    /**
     * Has its source, if clients send to that, know what an earlier one knew of its producers. To
     * be called before it runs.
     */
    public void remembers(Producers known) {
        if (source instanceof ParcelSource parcels) {
            parcels.remembers(known);
        }
    }

    /** The partitions of the source that are there now. */
    List<String> partitions() {
        return source.partitions();
    }

    /** Closes the source and the dead-letter file; the store stays open. */
    @Override
    public void close() {
        try (source) {
            delivery.close();
        }
    }

    /** Under what name the store keeps how far the feed is. */
    private static String owner(FeedDefinition definition, FeedSource source) {
        String group = source.group();
        return group == null
                ? definition.feed()
                : FeedDelivery.owner(definition.dataset().name(), group);
    }

    private static FeedSource openSource(FeedDefinition definition) {
        try {
            return definition.source().open();
        } catch (StorageException e) {
            DefinitionException wrong =
                    definition.problem(definition.source().key(), "is wrong: " + e.getMessage());
            throw new DefinitionException(wrong.problems(), e);
        }
    }

    /**
     * Refuses a new dataset for a feed with positions: it would stay without the records before
     * them.
     */
    private static void checkNotRun(
            FeedDefinition definition,
            @Nullable FeedSource source,
            Store store,
            String where,
            List<Problem> problems) {
        if (source == null) {
            return;
        }
        String owner = owner(definition, source);
        boolean isOfGroup = !owner.equals(definition.feed());
        FeedDelivery.partitions(store, owner).stream()
                .findFirst()
                .ifPresent(partition -> problems.addAll(definition
                        .problem(
                                "feed",
                                "'%s' has already read %s%s: give %s another name to load everything anew"
                                        .formatted(
                                                definition.feed(),
                                                partition,
                                                where,
                                                isOfGroup ? "its group" : "the feed"))
                        .problems()));
    }

    /** The store's place may lack what a region of a new dataset needs. */
    private static void checkRegions(
            FeedDefinition definition, Store store, List<Problem> problems) {
        List<IndexPart> indexes = definition.dataset().indexes();
        Path directory = Path.of(store.describe().directory());
        for (int i = 0; i < indexes.size() && RealDisk.isDirectory(directory); i++) {
            IndexPart index = indexes.get(i);
            if (index.kind().isGiven()) {
                try {
                    PmKind.checkStore("index " + index.name(), index.parameters(), directory);
                } catch (InvalidRequestException e) {
                    String key =
                            index.parameters().containsKey(PmKind.PATH) ? PmKind.PATH : PmKind.MODE;
                    problems.addAll(definition
                            .problem(
                                    "dataset.indexes[%d].%s".formatted(i, key),
                                    "is wrong: " + e.getMessage())
                            .problems());
                }
            }
        }
    }

    /** What its source keeps until it is read needs no spill; what it has in one needs no more. */
    private static void checkPolicy(FeedDefinition definition, @Nullable FeedSource source) {
        if (source != null
                && source.isOnePartition()
                && definition.policy() instanceof PolicyPart.Elastic) {
            throw definition.problem(
                    "policy.kind",
                    "elastic does not go with a source of one partition, such as one file: one worker reads it, and others would have nothing to do; take basic");
        }
        boolean isPiped = definition.source().kind().equals(StdinKind.NAME);
        if (isPiped && definition.workers() > 1) {
            throw definition.problem(
                    "workers",
                    "does not go with source stdin, which is one partition: one worker reads it, and others would have nothing to do");
        }
        if (source == null || !(definition.policy() instanceof PolicyPart.Spill)) {
            return;
        }
        if (isPiped) {
            throw definition.problem(
                    "policy.kind",
                    "spill does not go with source stdin: who writes to the pipe is told nothing, and can wait; take basic, by which it does");
        }
        if (source.group() != null) {
            throw definition.problem(
                    "policy.kind",
                    "spill does not go with a source that feeds share: it keeps what was not read, and a spill would hold back what another feed of the group may take; take basic");
        }
        if (source.canGoBack() && !source.isEndless()) {
            throw definition.problem(
                    "policy.kind",
                    "spill does not go with a source that has an end and can be read again: it would only be copied; take basic, by which it waits");
        }
    }

    private static void checkHeader(FeedDefinition definition, FeedSource source) {
        RecordParser parser;
        try {
            parser = newParser(
                    definition,
                    definition.dataset().type(),
                    TransformAids.none(),
                    schemas(definition));
        } catch (InvalidRequestException e) {
            throw definition.format().isAvro()
                    ? definition.problem("parser", "is wrong: " + e.getMessage())
                    : definition.problem("parser.columns", "does not fit: " + e.getMessage());
        }
        try {
            source.check(parser, separator(definition));
        } catch (InvalidRequestException e) {
            throw definition.problem(definition.source().key(), String.valueOf(e.getMessage()));
        }
    }

    /** Of what a source of messages says is to be deleted; null in a format that has no names. */
    private static @Nullable RecordParser deletes(
            FeedDefinition definition, RecordType declared, TransformAids aids) {
        if (definition.format() instanceof FormatPart.Csv) {
            return null;
        }
        RecordType type = FeedDelivery.keyType(declared, definition.dataset().primaryKey());
        return new JsonRecordParser(type, false, transforms(definition, type), null, aids);
    }

    private static List<Transform> transforms(FeedDefinition definition, RecordType type) {
        return definition.transforms().stream()
                .filter(transform -> type.indexOf(transform.field()) >= 0)
                .toList();
    }

    /**
     * A parser, for one worker.
     *
     * @param declared by the dataset; the definition may have its fields in another order
     * @param schemas those of {@link #schemas}
     */
    private static RecordParser newParser(
            FeedDefinition definition,
            RecordType declared,
            TransformAids aids,
            @Nullable RegistrySchemas schemas) {
        boolean whole = definition.mode() != Mode.DELETE;
        RecordType type = whole
                ? declared
                : FeedDelivery.keyType(declared, definition.dataset().primaryKey());
        List<Transform> transforms = transforms(definition, type);
        String explode = definition.shape().explode();
        RecordParser parser = switch (definition.format()) {
            case FormatPart.Csv(var format) ->
                new CsvRecordParser(type, format, whole, transforms, aids);
            case FormatPart.Json() -> new JsonRecordParser(type, whole, transforms, explode, aids);
            case FormatPart.AvroFiles() -> {
                AvroLibrary.require();
                yield AvroRecordParser.ofFiles(
                        new JsonRecordParser(type, whole, transforms, explode, aids));
            }
            case FormatPart.AvroMessages(var _, var _) ->
                AvroRecordParser.ofMessages(
                        new JsonRecordParser(type, whole, transforms, explode, aids),
                        Objects.requireNonNull(schemas));
        };
        return ShapingParser.of(
                parser, type, explode != null, definition.shape().where());
    }

    /** Reads the schemas of messages; null of another format. */
    private static @Nullable RegistrySchemas schemas(FeedDefinition definition) {
        if (!(definition.format() instanceof FormatPart.AvroMessages(var paths, var directory))) {
            return null;
        }
        AvroLibrary.require();
        Map<Integer, byte[]> texts = new TreeMap<>();
        paths.forEach((id, path) -> texts.put(
                id, FileSource.readSmall(directory.resolve(path), RegistrySchemas.TEXT_BYTES_MAX)));
        return RegistrySchemas.of(texts);
    }

    private static char separator(FeedDefinition definition) {
        return definition.format() instanceof FormatPart.Csv(var format) ? format.separator() : ',';
    }
}
