package io.turbidite.bench.navigation;

import io.turbidite.bench.engine.PricedDisk;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The data set of LUO19 §6.2: tweets that were only inserted, in components of one size that are
 * not merged, with an index on the user. <em>Confined to one thread.</em>
 */
final class Tweets implements AutoCloseable {
    private static final int CANDIDATE_BYTES_MAX = 1 << 30;

    private final PricedDisk disk;
    private final Store store;
    private final Dataset dataset;
    private final RecordView record;
    private final KeySpec userKey;
    private final KeyBatch candidates = new KeyBatch(CANDIDATE_BYTES_MAX);

    /**
     * What a query found, to be compared.
     *
     * @param sum of the keys
     */
    record Answer(long rows, long sum) {}

    private Tweets(PricedDisk disk, Store store, Dataset dataset) {
        this.disk = disk;
        this.store = store;
        this.dataset = dataset;
        this.record = new RecordView(dataset.type());
        this.userKey = KeySpec.of(dataset.type(), List.of("user"), "benchmark");
    }

    /** Inserts tweets and closes the store again. */
    static void load(Path directory, int count, int componentCount) {
        StoreOptions options = StoreOptions.defaults()
                .withDurability(Durability.BUFFERED)
                .withWriteMemoryBytes(1L << 30);
        try (Store store = Store.open(directory, options)) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Tweets")
                    .field("id", "int64")
                    .field("user", "int32")
                    .field("created", "datetime")
                    .field("message", "string")
                    .primaryKey("id")
                    .maintenance(Maintenance.VALIDATION)
                    .mergePolicy(MergePolicySpec.parse("no-merge", Map.of()))
                    .index(IndexSpec.btree("by_user", "user")));
            TweetSource source = new TweetSource(7, count, 0);
            RecordWriter writer = dataset.newRecordWriter();
            Tweet tweet = new Tweet();
            for (int i = 1; i <= count; i++) {
                source.next(tweet);
                writer.begin();
                writer.setLong(0, tweet.id);
                writer.setLong(1, tweet.attributes[0]);
                writer.setLong(2, tweet.created);
                writer.setString(3, tweet.message);
                dataset.upsertRecord(writer.finish());
                if ((long) i * componentCount / count > (long) (i - 1) * componentCount / count) {
                    dataset.flush();
                }
            }
            // so that each entry is known to be current, as it is after merges that repair
            dataset.repair();
        }
    }

    static Tweets open(Path directory, long cacheBytes, boolean directIo) {
        PricedDisk disk = new PricedDisk(RealDisk.open(directory));
        Store store = Store.open(
                disk,
                ThreadTasks.create("turbidite"),
                Clock.system(),
                StoreOptions.defaults()
                        .withDurability(Durability.BUFFERED)
                        .withCacheBytes(cacheBytes)
                        .withDirectIo(directIo));
        return new Tweets(disk, store, store.dataset("Tweets"));
    }

    /** Bytes of the components of the primary. */
    long primaryBytes() {
        return store
                .describe()
                .datasets()
                .getFirst()
                .partitions()
                .getFirst()
                .indexes()
                .getFirst()
                .components()
                .stream()
                .mapToLong(StoreDescription.ComponentDescription::bytes)
                .sum();
    }

    /** The tweets of the users from {@code low} to below {@code high}, by the index. */
    Answer byUser(int low, int high, FetchOptions options) {
        KeyRange range = KeyRange.of(userKey.encode(low), userKey.encode(high));
        long rows = 0;
        long sum = 0;
        try (ReadView view = dataset.openView()) {
            candidates.clear();
            try (IndexCursor entries = view.search(0, "by_user", range, FilterPredicate.none())) {
                while (entries.next()) {
                    if (!candidates.add(
                            entries.primaryKey(), entries.timestamp(), entries.checkedUntil())) {
                        throw new IllegalStateException("too many candidates");
                    }
                }
            }
            candidates.sortDistinct();
            try (RecordStream records = view.fetch(0, candidates, options)) {
                while (records.next()) {
                    rows++;
                    sum += record.wrap(records.record()).getLong(0);
                }
            }
        }
        return new Answer(rows, sum);
    }

    /**
     * The same as a query, whose rows are copied into frames.
     *
     * @param workers that look up beside this thread
     */
    Answer byQuery(int low, int high, int workers) {
        RunOptions options = RunOptions.defaults()
                .withTasks(store.environment().tasks())
                .withLookupWorkers(workers);
        long rows = 0;
        long sum = 0;
        try (QueryResult result = Query.on(dataset)
                .where(Predicates.range("user", low, high - 1))
                .usingIndex("by_user")
                .select("id")
                .with(options)
                .run()) {
            while (result.next()) {
                rows++;
                sum += result.row().getLong(0);
            }
        }
        return new Answer(rows, sum);
    }

    /** The same by a scan of all tweets. */
    Answer byScan(int low, int high) {
        long rows = 0;
        long sum = 0;
        try (ReadView view = dataset.openView();
                RecordCursor cursor = view.scan(0, KeyRange.all(), FilterPredicate.none())) {
            while (cursor.next()) {
                record.wrap(cursor.record());
                long user = record.getLong(1);
                if (user >= low && user < high) {
                    rows++;
                    sum += record.getLong(0);
                }
            }
        }
        return new Answer(rows, sum);
    }

    /** What the transfers so far would have cost the papers' disk. */
    long papersDiskNanos() {
        return disk.nanos();
    }

    /** What the store has counted under this name. */
    long counted(String name) {
        Counter counter = store.meters().counter(name);
        return counter.sum();
    }

    @Override
    public void close() {
        store.close();
    }
}
