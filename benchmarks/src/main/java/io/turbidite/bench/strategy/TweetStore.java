package io.turbidite.bench.strategy;

import io.turbidite.bench.engine.PricedDisk;
import io.turbidite.bench.peer.Engine.Answer;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.CandidateBatch;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.merge.MergePolicySpec;

import java.nio.file.Path;
import java.util.List;

/** A store of tweets under one strategy. <em>Confined to one thread.</em> */
final class TweetStore implements AutoCloseable {
    private static final int BATCH_BYTES = 1 << 20;

    /** Merges are planned within 20 ms. */
    private static final long SETTLED_NANOS = 200_000_000;

    private static final int ATTRIBUTE = 1;
    private static final int CREATED = ATTRIBUTE + Tweet.ATTRIBUTE_COUNT;
    private static final int MESSAGE = CREATED + 1;

    private final PricedDisk disk;
    private final Store store;
    private final Dataset tweets;
    private final RecordWriter writer;
    private final RecordView view;
    private final KeySpec attributeKey;
    private final KeySpec createdKey;
    private final WriteBatch batch;
    private final ByteSink keyBytes = new ByteSink(64, 1 << 16);
    private final Slice slice = new Slice();

    /**
     * What the tweets lie in, whatever the strategy.
     *
     * @param secondaryCount indexes: one of each attribute, then one of two of them
     * @param keyTree whether there is a primary key index
     * @param policy of merges, correlated
     */
    record Shape(int secondaryCount, boolean keyTree, String policy) {
        static Shape standard() {
            return new Shape(1, true, "correlated-tiering");
        }
    }

    /** How candidates of an index become records. */
    enum Validation {
        /** Fetch all, check the record. */
        DIRECT,
        /** Ask the key trees, fetch what is valid. */
        TIMESTAMP
    }

    TweetStore(Path directory, Recipe recipe, Shape shape, Regime regime) {
        disk = new PricedDisk(RealDisk.open(directory));
        store = Store.open(
                disk,
                ThreadTasks.create("turbidite"),
                Clock.system(),
                StoreOptions.defaults()
                        .withWriteMemoryBytes(regime.writeMemoryBytes())
                        .withCacheBytes(regime.cacheBytes())
                        .withDirectIo(regime.directIo())
                        .withDurability(Durability.BUFFERED));
        DatasetSpec spec = DatasetSpec.named("Tweets").field("id", "int64");
        for (int i = 0; i < Tweet.ATTRIBUTE_COUNT; i++) {
            spec.field("a" + i, "int32");
        }
        spec.field("created", "datetime")
                .field("message", "string")
                .primaryKey("id")
                .filter("created")
                .components(ComponentOptions.primary().withKeyTree(shape.keyTree()))
                .mergePolicy(MergePolicySpec.parse(shape.policy()));
        for (int i = 0; i < shape.secondaryCount(); i++) {
            spec.index(
                    i < Tweet.ATTRIBUTE_COUNT
                            ? IndexSpec.btree("by_a" + i, "a" + i)
                            : IndexSpec.btree("by_all" + i, "a1", "a0"));
        }
        tweets = store.createDataset(recipe.applyTo(spec));
        writer = tweets.newRecordWriter();
        view = new RecordView(tweets.type());
        attributeKey = KeySpec.of(tweets.type(), List.of("a0"), "benchmark");
        createdKey = KeySpec.of(tweets.type(), List.of("created"), "benchmark");
        batch = store.newBatch();
    }

    void upsert(Tweet tweet) {
        tweets.upsertRecord(tweet.record(writer));
    }

    /** Puts it unless its id is taken. */
    void insert(Tweet tweet) {
        try {
            tweets.insertRecord(tweet.record(writer));
        } catch (DuplicateKeyException taken) {
            // the experiment is about finding that out
            return;
        }
    }

    void delete(long id) {
        keyBytes.clear();
        KeyCodec.appendLong(keyBytes, id);
        store.write(batch.clear().delete(tweets, keyBytes.asSlice(slice)));
    }

    void flush() {
        tweets.flush();
    }

    /** Returns when everything is flushed and merges have been done for a while. */
    void settle() {
        tweets.flush();
        Clock clock = Clock.system();
        long[] busy = {clock.monotonicNanos()};
        store.environment().tasks().await(() -> {
            long now = clock.monotonicNanos();
            if (total("merge.backlog.bytes") > 0) {
                busy[0] = now;
            }
            return now - busy[0] > SETTLED_NANOS;
        });
    }

    /** Marks what is obsolete in the secondaries, by the key trees. */
    void repair() {
        tweets.repair();
    }

    /** The same by a scan of all records, as DELI does. */
    void repairByRecords() {
        tweets.repairByRecords();
    }

    void mergeAll() {
        tweets.mergeAll();
    }

    /** Pages that were read into the cache so far. */
    double pagesRead() {
        return total("cache.loads");
    }

    /** What the transfers so far would have cost the papers' disk. */
    long papersDiskNanos() {
        return disk.nanos();
    }

    private double total(String name) {
        return store.meters().instruments().stream()
                .filter(instrument -> instrument.name().equals(name))
                .mapToDouble(instrument -> ((Reading) instrument).value())
                .sum();
    }

    /** The records whose first attribute is in a range, both ends included. */
    Answer byAttribute(int low, int high, Validation how) {
        long rows = 0;
        long sum = 0;
        KeyRange range = KeyRange.closed(attributeKey.encode(low), attributeKey.encode(high));
        KeyBatch keys = new KeyBatch(BATCH_BYTES);
        CandidateBatch candidates = new CandidateBatch(BATCH_BYTES);
        try (ReadView moment = tweets.openView();
                IndexCursor entries = moment.search(0, "by_a0", range, FilterPredicate.none())) {
            boolean validates =
                    how == Validation.TIMESTAMP && !description(moment).alwaysValid();
            boolean more = entries.next();
            while (more) {
                keys.clear();
                candidates.clear();
                while (more
                        && (validates ? candidates.add(entries) : keys.add(entries.primaryKey()))) {
                    more = entries.next();
                }
                if (validates) {
                    moment.validate(0, candidates);
                    for (int i = 0; i < candidates.size(); i++) {
                        if (candidates.isValid(i)) {
                            keys.add(candidates.primaryKey(i, slice));
                        }
                    }
                }
                keys.sortDistinct();
                try (RecordStream records = moment.fetch(0, keys)) {
                    while (records.next()) {
                        view.wrap(records.record());
                        long attribute = view.getLong(ATTRIBUTE);
                        // direct validation; a record with several candidates in the range comes
                        // once,
                        // as all of a range of these sizes fits into one batch
                        if (attribute >= low && attribute <= high) {
                            rows++;
                            sum += answer();
                        }
                    }
                }
            }
        }
        return new Answer(rows, sum);
    }

    private static IndexDescription description(ReadView moment) {
        return moment.indexes().getFirst();
    }

    /** How many tweets have their first attribute in a range, by the index alone. */
    Answer countByAttribute(int low, int high) {
        long rows = 0;
        KeyRange range = KeyRange.closed(attributeKey.encode(low), attributeKey.encode(high));
        try (ReadView moment = tweets.openView();
                ValidSearch entries = ValidSearch.open(
                        moment, 0, description(moment), range, FilterPredicate.none())) {
            while (entries.next()) {
                rows++;
            }
        }
        return new Answer(rows, 0);
    }

    /** The records made in a span of time, by a scan that may skip components. */
    Answer createdIn(long fromMicros, long toMicros) {
        long rows = 0;
        long sum = 0;
        FilterPredicate filter = new FilterPredicate(List.of(KeyRange.closed(
                createdKey.encode(instant(fromMicros)), createdKey.encode(instant(toMicros)))));
        try (ReadView moment = tweets.openView();
                RecordStream cursor = moment.scanUnordered(0, KeyRange.all(), filter)) {
            while (cursor.next()) {
                view.wrap(cursor.record());
                long created = view.getLong(CREATED);
                if (created >= fromMicros && created <= toMicros) {
                    rows++;
                    sum += answer();
                }
            }
        }
        return new Answer(rows, sum);
    }

    private static java.time.Instant instant(long micros) {
        return java.time.Instant.EPOCH.plus(micros, java.time.temporal.ChronoUnit.MICROS);
    }

    /** All records. */
    Answer scan() {
        long rows = 0;
        long sum = 0;
        try (ReadView moment = tweets.openView();
                RecordStream cursor =
                        moment.scanUnordered(0, KeyRange.all(), FilterPredicate.none())) {
            while (cursor.next()) {
                view.wrap(cursor.record());
                rows++;
                sum += answer();
            }
        }
        return new Answer(rows, sum);
    }

    private long answer() {
        return Answer.of(
                view.getLong(0),
                (int) view.getLong(ATTRIBUTE),
                view.getBytes(MESSAGE, slice).length());
    }

    @Override
    public void close() {
        store.close();
    }
}
