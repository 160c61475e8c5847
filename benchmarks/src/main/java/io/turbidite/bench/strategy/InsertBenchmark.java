package io.turbidite.bench.strategy;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.strategy.TweetStore.Shape;

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
import java.util.concurrent.TimeUnit;

/**
 * One insert that must find its key free, with a primary key index and without: the axes of LUO19
 * figure 11. {@code bench insert} has both take turns.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class InsertBenchmark {
    @Param({"true", "false"})
    public boolean keyTree = true;

    /** Of each 100 inserts, those whose key is taken. */
    @Param({"0", "50"})
    public int duplicatesPercent;

    /** There before the first that is measured. */
    @Param("100000")
    public int tweets;

    /** More than are inserted in the time that is measured. */
    private static final int MORE = 8_000_000;

    private final Tweet tweet = new Tweet();
    private Path directory;
    private TweetStore store;
    private TweetSource source;

    /** Inserts the tweets that are there. */
    @Setup
    public void fill() throws IOException {
        directory = Files.createTempDirectory("turbidite-bench");
        store = new TweetStore(
                directory,
                Recipe.EAGER,
                new Shape(1, keyTree, "correlated-tiering"),
                Regime.inCache());
        source = new TweetSource(7, tweets + MORE, duplicatesPercent / 100.0);
        for (int i = 0; i < tweets; i++) {
            insert();
        }
        store.settle();
    }

    @TearDown
    public void close() {
        store.close();
        Scratch.delete(directory);
    }

    @Benchmark
    public void insert() {
        source.next(tweet);
        store.insert(tweet);
    }

    /** How many tweets there are. */
    long count() {
        return store.scan().rows();
    }

    /** How many there have to be. */
    long expectedCount() {
        return source.distinctCount();
    }
}
