package io.turbidite.bench.part;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * One upsert and one query by index under each maintenance strategy: the axes of LUO19 figures 12
 * to 15 and of DEFER18 figure 7. {@code bench upsert}, {@code query} and {@code deferred} have all
 * strategies take turns.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class StrategyBenchmark {
    @Param({"EAGER", "VALIDATION", "MUTABLE_BITMAP", "DELETED_KEY", "DEFERRED"})
    public Maintenance strategy = Maintenance.EAGER;

    /** Of each 100 writes, those of a record that is there. */
    @Param({"0", "50"})
    public int updatesPercent;

    /** Records that a query finds: its selectivity. */
    @Param({"10", "1000"})
    public int matches = 10;

    @Param("100000")
    public int records;

    private final SplittableRandom random = new SplittableRandom(1);
    private final Map<String, Object> row = new HashMap<>();
    private Path directory;
    private Store store;
    private Dataset read;
    private Dataset written;
    private int users;
    private long nextId;
    private int[] userOf;

    /** Fills two datasets and updates so many of their records; all is flushed. */
    @Setup
    public void fill() throws IOException {
        directory = Files.createTempDirectory("turbidite-bench");
        store = Store.open(directory, StoreOptions.defaults().withWriteMemoryBytes(256L << 20));
        read = store.createDataset(spec("Read"));
        written = store.createDataset(spec("Written"));
        users = Math.max(1, records / matches);
        userOf = new int[records];
        for (int id = 0; id < records; id++) {
            put(id, id % users);
        }
        read.flush();
        for (int i = 0; i < (long) records * updatesPercent / 100; i++) {
            put(random.nextInt(records), random.nextInt(users));
        }
        read.flush();
        for (nextId = 0; nextId < records; nextId++) {
            written.upsert(row(nextId, (int) (nextId % users)));
        }
        written.flush();
    }

    private DatasetSpec spec(String name) {
        return DatasetSpec.named(name)
                .field("id", "int64")
                .field("user", "int32")
                .field("text", "string")
                .primaryKey("id")
                .maintenance(strategy)
                // two of the strategies need it, so all have it
                .mergePolicy(MergePolicySpec.parse("correlated-tiering"))
                .index(IndexSpec.btree("by_user", "user"));
    }

    private void put(int id, int user) {
        userOf[id] = user;
        read.upsert(row(id, user));
    }

    private Map<String, Object> row(long id, int user) {
        row.put("id", id);
        row.put("user", user);
        row.put("text", "text of record " + id % 1_000);
        return row;
    }

    @TearDown
    public void close() {
        store.close();
        Scratch.delete(directory);
    }

    /** A new record, or another user for one that is there (figures 12, 13). */
    @Benchmark
    public void upsert() {
        boolean isUpdate = random.nextInt(100) < updatesPercent;
        long id = isUpdate ? random.nextLong(nextId) : nextId++;
        written.upsert(row(id, random.nextInt(users)));
    }

    /** The records of a user (figure 14). */
    @Benchmark
    public long recordsOfUser() {
        return recordsOf(random.nextInt(users));
    }

    /** How many records a user has, from the index where the strategy can (figure 15). */
    @Benchmark
    public long countOfUser() {
        return countOf(random.nextInt(users));
    }

    long recordsOf(int user) {
        long[] count = {0};
        try (QueryResult found =
                Query.on(read).where(Predicates.eq("user", user)).run()) {
            found.forEach(one -> count[0]++);
        }
        return count[0];
    }

    long countOf(int user) {
        try (QueryResult found =
                Query.on(read).where(Predicates.eq("user", user)).count().run()) {
            return found.count();
        }
    }

    /** What both have to say of a user. */
    long expectedOf(int user) {
        long count = 0;
        for (int of : userOf) {
            count += of == user ? 1 : 0;
        }
        return count;
    }

    int users() {
        return users;
    }
}
