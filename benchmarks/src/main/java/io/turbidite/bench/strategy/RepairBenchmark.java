package io.turbidite.bench.strategy;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.strategy.TweetStore.Shape;

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
import java.util.concurrent.TimeUnit;

/**
 * All secondaries cleaned once, whole: the axes of LUO19 figures 17 and 18. {@code bench repair}
 * has both ways, and merges that hand over what they discard, take turns.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 5)
@Measurement(iterations = 10)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class RepairBenchmark {
    /** By the key trees, or by a scan of all records as DELI does. */
    @Param({"keys", "records"})
    public String by = "keys";

    @Param({"1", "5"})
    public int indexes = 1;

    /** Of each 100 writes, those of a tweet that is there. */
    @Param({"10", "50"})
    public int updatesPercent = 50;

    @Param("100000")
    public int tweets;

    private Path directory;
    private TweetStore store;
    private TweetSource source;

    /** Writes the tweets without merging. */
    @Setup(Level.Invocation)
    public void fill() throws IOException {
        directory = Files.createTempDirectory("turbidite-bench");
        store = new TweetStore(
                directory,
                Recipe.VALIDATION,
                new Shape(indexes, true, "correlated-no-merge"),
                Regime.inCache());
        source = new TweetSource(23, tweets, updatesPercent / 100.0);
        Tweet tweet = new Tweet();
        for (int i = 0; i < tweets; i++) {
            source.next(tweet);
            store.upsert(tweet);
        }
        store.flush();
    }

    @TearDown(Level.Invocation)
    public void close() {
        store.close();
        Scratch.delete(directory);
    }

    @Benchmark
    public void repair() {
        if (by.equals("keys")) {
            store.repair();
        } else {
            store.repairByRecords();
        }
    }

    /** Tweets that the index finds by itself: after a repair, those that there are. */
    long indexed() {
        return store.countByAttribute(0, TweetSource.ATTRIBUTE_LIMIT).rows();
    }

    long expected() {
        return source.distinctCount();
    }
}
