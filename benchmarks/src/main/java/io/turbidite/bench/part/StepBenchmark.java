package io.turbidite.bench.part;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
import java.util.concurrent.TimeUnit;

/** A flush and a merge, whole: milliseconds for {@link #records} records. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 10)
@Measurement(iterations = 15)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class StepBenchmark {
    @Param("50000")
    public int records;

    /** Components that are merged. */
    @Param({"2", "10"})
    public int components;

    private Path directory;
    private Store store;
    private Dataset flushed;
    private Dataset merged;

    /** Fills a store. */
    @Setup(Level.Invocation)
    public void fill() throws IOException {
        directory = Files.createTempDirectory("turbidite-bench");
        store = Store.open(directory, StoreOptions.defaults().withWriteMemoryBytes(512L << 20));
        merged = store.createDataset(spec("Merged"));
        for (int i = 0; i < components; i++) {
            fill(merged, i, components);
            merged.flush();
        }
        flushed = store.createDataset(spec("Flushed"));
        fill(flushed, 0, 1);
    }

    private static DatasetSpec spec(String name) {
        return DatasetSpec.named(name)
                .field("id", "int64")
                .field("text", "string")
                .primaryKey("id")
                .mergePolicy(MergePolicySpec.parse("no-merge"));
    }

    private void fill(Dataset dataset, int first, int step) {
        Map<String, Object> row = new HashMap<>();
        for (long id = first; id < records; id += step) {
            row.put("id", id);
            row.put("text", "text of record " + id);
            dataset.upsert(row);
        }
    }

    @TearDown(Level.Invocation)
    public void close() {
        store.close();
        Scratch.delete(directory);
    }

    @Benchmark
    public void flush() {
        flushed.flush();
    }

    @Benchmark
    public void merge() {
        merged.mergeAll();
    }

    /** What the store has counted. */
    long counted(String name) {
        return store.meters().counter(name).sum();
    }
}
