package io.turbidite.bench.part;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.jspecify.annotations.Nullable;
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

/** One operation of a store by its API: in memory, or in a page that is cached. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class StoreBenchmark {
    private static final int GROUPS = 100;

    /** Where the records are: in memory alone, or in one component. */
    @Param({"memory", "component"})
    public String place = "memory";

    @Param("100000")
    public int records;

    private final SplittableRandom random = new SplittableRandom(1);
    private final Map<String, Object> row = new HashMap<>();
    private Path directory;
    private Store store;
    private Dataset dataset;
    private Dataset written;
    private long next;

    /** Fills a store. */
    @Setup
    public void fill() throws IOException {
        directory = Files.createTempDirectory("turbidite-bench");
        store = Store.open(directory, StoreOptions.defaults().withWriteMemoryBytes(512L << 20));
        dataset = store.createDataset(spec("Read").index(IndexSpec.btree("by_group", "group")));
        written = store.createDataset(spec("Written"));
        for (long id = 0; id < records; id++) {
            dataset.upsert(row(id));
        }
        if (place.equals("component")) {
            dataset.flush();
            dataset.mergeAll();
        }
    }

    private static DatasetSpec spec(String name) {
        return DatasetSpec.named(name)
                .field("id", "int64")
                .field("group", "int32")
                .field("text", "string")
                .primaryKey("id");
    }

    private Map<String, Object> row(long id) {
        row.put("id", id);
        row.put("group", (int) (id % GROUPS));
        row.put("text", "text of record " + id % 1_000);
        return row;
    }

    @TearDown
    public void close() {
        store.close();
        Scratch.delete(directory);
    }

    @Benchmark
    public void put() {
        written.upsert(row(next++ % records));
    }

    @Benchmark
    public @Nullable Object get() {
        return dataset.get(random.nextLong(records));
    }

    @Benchmark
    public @Nullable Object getAbsent() {
        return dataset.get(records + random.nextLong(records));
    }

    /** A hundredth of the records, by the index, counted from its entries. */
    @Benchmark
    public long countByIndex() {
        return count(Query.on(dataset).where(Predicates.eq("group", random.nextInt(GROUPS))));
    }

    /** All records through a filter. */
    @Benchmark
    public long filteredScan() {
        return count(Query.on(dataset)
                .where(Predicates.eq("text", "text of record 7"))
                .usingScan());
    }

    private static long count(Query query) {
        try (QueryResult result = query.count().run()) {
            return result.count();
        }
    }

    @Benchmark
    public long groups() {
        return rows(Query.on(dataset).groupBy("group").usingScan());
    }

    @Benchmark
    public long sortedHead() {
        return rows(Query.on(dataset).orderBy("text").limit(10).usingScan());
    }

    /** The first few by an index that has the order. */
    @Benchmark
    public long headByIndex() {
        return rows(Query.on(dataset).orderBy("group").limit(10));
    }

    private static long rows(Query query) {
        long[] count = {0};
        try (QueryResult result = query.run()) {
            result.forEach(found -> count[0]++);
        }
        return count[0];
    }
}
