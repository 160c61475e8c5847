package io.turbidite.bench.recency;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.core.type.Point;

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
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * One query for recent tweets, with a filter on the send time and without, under each merge policy:
 * the axes of ALS15 figures 6, 7 and 9, in the cache. {@code bench recency} has all of them take
 * turns.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class RecencyBenchmark {
    @Param({
        RecencySuite.PREFIX,
        RecencySuite.CORRELATED,
        RecencySuite.NO_MERGE,
        RecencySuite.CONSTANT
    })
    public String policy = RecencySuite.PREFIX;

    @Param({"true", "false"})
    public boolean hasFilter = true;

    /** Of all tweets, in per cent: the newest. */
    @Param({"1", "10"})
    public int recentPercent = 1;

    @Param("50000")
    public int tweets;

    private static final int TWEETS_OF_A_USER = 50;
    private static final double WINDOW_SIDE = 100;

    private final SplittableRandom random = new SplittableRandom(1);
    private Path directory;
    private RecentTweets all;
    private RecencyStore store;

    /** Inserts the tweets, and waits for their merges. */
    @Setup
    public void fill() throws IOException {
        directory = Files.createTempDirectory("turbidite-bench");
        all = new RecentTweets(tweets, Math.max(1, tweets / TWEETS_OF_A_USER), 1);
        long bytes = (long) tweets * RecencySuite.RECORD_BYTES;
        store = new RecencyStore(
                directory.resolve("store"),
                RecencySuite.parameters(policy, bytes),
                hasFilter,
                RecencySuite.options(bytes));
        store.load(all);
    }

    @TearDown
    public void close() {
        store.close();
        Scratch.delete(directory);
    }

    /** The recent tweets of a user, counted: a query by a B+-tree (figures 7 and 9). */
    @Benchmark
    public long recentOfUser() {
        return recentOf(random.nextInt(all.users()));
    }

    /** The recent tweets in a window, counted by cells: a query by an R-tree (figure 6). */
    @Benchmark
    public long recentInWindow() {
        return recentAt(
                random.nextDouble() * (RecentTweets.SIDE - WINDOW_SIDE),
                random.nextDouble() * (RecentTweets.SIDE - WINDOW_SIDE));
    }

    private long after() {
        return tweets - (long) tweets * recentPercent / 100 - 1;
    }

    long recentOf(int user) {
        return store.ofUser(user, after());
    }

    long recentAt(double x, double y) {
        return store.inWindow(new Point(x, y), WINDOW_SIDE, after());
    }

    long expectedOf(int user) {
        return all.ofUser(user, after());
    }

    long expectedAt(double x, double y) {
        return all.inWindow(x, y, WINDOW_SIDE, after());
    }

    int users() {
        return all.users();
    }
}
