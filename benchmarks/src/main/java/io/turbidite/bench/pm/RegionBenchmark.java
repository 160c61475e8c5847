package io.turbidite.bench.pm;

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

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * One question to an index in byte-addressable memory, and one insert, of the tree and of the
 * baselines: the axes of PERS24 figures 8 and 10, in plain memory. {@code bench pm} has them take
 * turns, counts blocks and fences, and asks whole stores.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class RegionBenchmark {
    @Param({TreeIndex.NAME, "composite", "log"})
    public String index = TreeIndex.NAME;

    @Param({"INSERT", "UNIFORM", "SKEWED_PRI", "SKEWED_SEC"})
    public String load = "UNIFORM";

    /** How many of the newest are asked for. */
    @Param({"10", "200"})
    public int limit = 10;

    @Param("200000")
    public int records;

    private static final int LAYERS = 8;

    private final SplittableRandom random = new SplittableRandom(1);
    private Operations operations;
    private Contender asked;
    private Contender fed;
    private Asking.Way asker;
    private int next;

    /** Absorbs the load into the index that is asked, by so many flushes. */
    @Setup
    public void fill() {
        operations = Operations.of(Load.valueOf(load), records, LAYERS, 1);
        asked = Contender.of(index);
        asked.feed(operations, Contender.Feeding.ABSORBED);
        asker = asked.asker(operations, limit, () -> {});
        begin();
    }

    /** The index that is written one by one begins anew when it has all of the load. */
    private void begin() {
        fed = Contender.of(index);
        fed.rival().begin(operations.count());
        next = 0;
    }

    @TearDown
    public void close() {
        fed.close();
        asked.closeSessions();
        asked.close();
    }

    /** The newest records of a secondary key (figure 10). */
    @Benchmark
    public long newest() {
        return newestOf(random.nextInt(operations.keyCount()));
    }

    /** An operation of the load, written by itself (figure 8). */
    @Benchmark
    public void insert() {
        if (next == operations.count()) {
            fed.rival().commit(next);
            fed.close();
            begin();
        }
        fed.insertOne(operations, next++);
    }

    long newestOf(int key) {
        return asker.answer(key);
    }

    /** What all have to say. */
    long expectedOf(int key) {
        return operations.answer(key, limit);
    }

    int keys() {
        return operations.keyCount();
    }

    /** What has been written one by one. */
    long insertedCount() {
        return fed.rival().entryCount();
    }
}
