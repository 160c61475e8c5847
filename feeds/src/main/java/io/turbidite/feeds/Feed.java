package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.FeedDefinition.DatasetPart;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.FeedDefinition.IndexPart;
import io.turbidite.feeds.FeedDefinition.Mode;
import io.turbidite.feeds.parse.CsvRecordParser;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.parse.Transform;
import io.turbidite.feeds.source.FileSource;
import io.turbidite.feeds.source.SourceStream;
import io.turbidite.feeds.store.StoreDelivery;
import io.turbidite.feeds.store.StoreDelivery.Operation;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.DatasetDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A feed, ready to run: carries the records of its source into its dataset, each exactly once, however
 * often it is run, stopped or killed.
 *
 * <p>Each batch of records is one atomic write together with the position behind it; running goes on
 * from there. Records that can't be taken become dead letters, and the feed goes on.
 *
 * <p>{@link #stop} may be called by any thread; all else is <em>confined to one thread</em>. There must
 * be one feed of a name at a time.
 */
public final class Feed implements AutoCloseable {
    private static final double NANOS_PER_SECOND = 1e9;

    private final FeedDefinition definition;
    private final Store store;
    private final FileSource source;
    private final RecordParser parser;
    private final StoreDelivery delivery;
    private volatile boolean stopped;

    private Feed(
            FeedDefinition definition,
            Store store,
            FileSource source,
            RecordParser parser,
            StoreDelivery delivery) {
        this.definition = definition;
        this.store = store;
        this.source = source;
        this.parser = parser;
        this.delivery = delivery;
    }

    /**
     * Checks what can be checked without a store: that the source is there, and that its first header
     * has what the dataset and the transforms need. {@link #open} does it too; before a store is made
     * for a definition, this is the call that keeps it from being made for nothing.
     *
     * @throws DefinitionException naming file, line and key
     */
    public static void check(FeedDefinition definition) {
        checkHeader(definition, openSource(definition));
    }

    /**
     * Readies a feed, and makes its dataset if the store has none of that name.
     *
     * @throws DefinitionException if the definition doesn't fit its source, or differs from the dataset
     *     that is there; nothing was created
     */
    public static Feed open(FeedDefinition definition, Store store) {
        FileSource source = openSource(definition);
        checkHeader(definition, source);
        Dataset there = store.findDataset(definition.dataset().name());
        if (there != null) {
            checkSame(definition, there, store);
        }
        Dataset dataset = there == null ? store.createDataset(definition.toDatasetSpec()) : there;
        Operation operation = switch (definition.mode()) {
            case UPSERT -> Operation.UPSERT;
            case INSERT -> Operation.INSERT;
            case DELETE -> Operation.DELETE;
        };
        return new Feed(
                definition,
                store,
                source,
                newParser(definition),
                StoreDelivery.open(store, dataset, definition.feed(), operation));
    }

    /**
     * Runs until the source ends or {@link #stop} is called.
     *
     * @throws StorageException if the source can't be read on or the store takes no more; what was
     *     accepted before is committed, and the next run goes on from there
     */
    public FeedReport run(FeedProgress progress) {
        Clock clock = store.surroundings().clock();
        long startNanos = clock.monotonicNanos();
        long acceptedBefore = delivery.accepted();
        long rejectedBefore = delivery.rejected();
        FeedRun.Parts parts = new FeedRun.Parts(
                definition.feed(),
                source,
                parser,
                separator(definition),
                delivery,
                store.surroundings().tasks(),
                clock,
                store.events());
        FeedRun run = new FeedRun(parts, progress, () -> stopped);
        boolean finished = run.run();
        return new FeedReport(
                definition.feed(),
                definition.dataset().name(),
                delivery.accepted() - acceptedBefore,
                delivery.rejected() - rejectedBefore,
                run.waiting(),
                run.continued(),
                (clock.monotonicNanos() - startNanos) / NANOS_PER_SECOND,
                finished,
                run.resumed(),
                delivery.deadLetters());
    }

    /** Ends the run soon; what has been read is delivered first. */
    public void stop() {
        stopped = true;
    }

    /**
     * As {@link #stop}, but from then on nothing waits for the store either: what it has not taken by then is left to
     * the next run. Any thread may call it.
     */
    public void stopWithin(long micros) {
        stopped = true;
        store.endWaitsWithin(micros);
    }

    public FeedDefinition definition() {
        return definition;
    }

    /** Lets the dead-letter file go; the store stays open. */
    @Override
    public void close() {
        delivery.close();
    }

    private static FileSource openSource(FeedDefinition definition) {
        try {
            return FileSource.open(definition.source().resolved());
        } catch (StorageException e) {
            throw definition.problem("source.path", "is wrong: " + e.getMessage());
        }
    }

    /** Reads the header of the first file that has one. */
    private static void checkHeader(FeedDefinition definition, FileSource source) {
        RecordParser parser = newParser(definition);
        if (!parser.wantsHeader()) {
            return;
        }
        try (SourceStream stream = source.read(source.files().getFirst())) {
            RecordFramer framer =
                    new RecordFramer(stream::read, parser.quotes(), separator(definition), 0, 1);
            if (framer.next()) {
                parser.header(framer.frame());
            }
        } catch (InvalidRequestException e) {
            throw definition.problem(
                    "source.path",
                    "leads to %s, which does not fit: %s"
                            .formatted(source.files().getFirst().name(), e.getMessage()));
        }
    }

    private static RecordParser newParser(FeedDefinition definition) {
        DatasetPart dataset = definition.dataset();
        boolean whole = definition.mode() != Mode.DELETE;
        RecordType type = whole
                ? dataset.type()
                : StoreDelivery.keyType(dataset.type(), dataset.primaryKey());
        List<Transform> transforms = definition.transforms().stream()
                .filter(transform -> type.indexOf(transform.field()) >= 0)
                .toList();
        return switch (definition.format()) {
            case FormatPart.Csv(var format) -> new CsvRecordParser(type, format, whole, transforms);
            case FormatPart.Json() -> new JsonRecordParser(type, whole, transforms);
        };
    }

    private static char separator(FeedDefinition definition) {
        return definition.format() instanceof FormatPart.Csv(var format) ? format.separator() : ',';
    }

    private static void checkSame(FeedDefinition definition, Dataset there, Store store) {
        DatasetPart wanted = definition.dataset();
        DatasetDescription described = store.describe().datasets().stream()
                .filter(d -> d.name().equals(there.name()))
                .findFirst()
                .orElseThrow();
        same(definition, "type", wanted.type(), there.type());
        same(definition, "primaryKey", wanted.primaryKey(), there.primaryKey());
        same(definition, "filter", wanted.filters(), there.filterFields());
        same(
                definition,
                "partitions",
                wanted.partitions(),
                described.partitions().size());
        same(definition, "maintenance", wanted.maintenance().label(), described.maintenance());
        same(definition, "mergePolicy", wanted.mergePolicy().toString(), described.mergePolicy());
        IndexDescription primary = described.partitions().getFirst().indexes().getFirst();
        same(definition, "pageBytes", wanted.pages(), primary.pages());
        same(definition, "repair", wanted.repair().label(), described.repair());
        same(
                definition,
                "bitmapHandover",
                wanted.bitmapHandover().label(),
                described.bitmapHandover());
        same(definition, "retain", retain(wanted.retention()), retain(described.retain()));
        checkSameIndexes(definition, there.name(), described);
    }

    /** Indexes come and go in any order; what is missing, or too many, is one command away. */
    private static void checkSameIndexes(
            FeedDefinition definition, String name, DatasetDescription described) {
        Map<String, IndexDescription> there = new LinkedHashMap<>();
        described.partitions().getFirst().indexes().stream()
                .skip(1) // the primary
                .forEach(index -> there.put(index.name(), index));
        String command = " STORE %s ".formatted(name);
        for (IndexPart wanted : definition.dataset().indexes()) {
            IndexDescription index = there.remove(wanted.name());
            String way = null;
            if (index == null) {
                way = "create%s%s --on %s%s --maintenance %s"
                        .formatted(
                                command,
                                wanted.name(),
                                String.join(",", wanted.on()),
                                wanted.unique() ? " --unique" : "",
                                wanted.maintenance().label());
            } else if (index.state().equals("disabled")) {
                way = "enable" + command + wanted.name();
            }
            if (way != null) {
                throw differs(
                        definition, wanted.name(), index == null ? "not there" : "disabled", way);
            }
            if (index != null && index.fields().equals(wanted.on())) {
                same(
                        definition,
                        "indexes",
                        "%s in pages of %s".formatted(index.name(), wanted.pages()),
                        "%s in pages of %s".formatted(index.name(), index.pages()));
            }
            if (index != null
                    && (!index.fields().equals(wanted.on())
                            || index.unique() != wanted.unique()
                            || !index.maintenance().equals(wanted.maintenance().label()))) {
                String is = "%son %s, maintained by %s"
                        .formatted(
                                index.unique() ? "unique, " : "",
                                index.fields(),
                                index.maintenance());
                throw differs(definition, wanted.name(), is, "drop" + command + wanted.name());
            }
        }
        if (!there.isEmpty()) {
            String first = there.keySet().iterator().next();
            throw differs(
                    definition,
                    first,
                    "there, but not in the definition",
                    "drop" + command + first);
        }
    }

    private static DefinitionException differs(
            FeedDefinition definition, String index, String is, String way) {
        return definition.problem(
                "dataset.indexes",
                "differs from dataset %s in the store: index %s is %s; ./turbidite index %s changes that"
                        .formatted(definition.dataset().name(), index, is, way));
    }

    private static String retain(@Nullable Object retention) {
        return retention == null ? "for ever" : retention.toString();
    }

    private static void same(FeedDefinition definition, String key, Object wanted, Object there) {
        if (!wanted.equals(there)) {
            throw definition.problem(
                    "dataset." + key,
                    "differs from dataset %s in the store: it says %s, there it is %s"
                            .formatted(definition.dataset().name(), wanted, there));
        }
    }
}
