package io.turbidite.bench.strategy;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Engine.Answer;
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
 * One scan of a span of time by range filters, of old and of recent tweets: the axes of LUO19
 * figure 16. {@code bench filter} has all strategies take turns.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class FilterBenchmark {
    @Param({"eager", "validation", "validation, repair", "mutable-bitmap", "deleted-key", "deferred"
    })
    public String strategy = "eager";

    /** Of each 100 writes, those of a tweet that is there. */
    @Param({"0", "50"})
    public int updatesPercent;

    @Param({"oldest", "newest"})
    public String span = "oldest";

    @Param("100000")
    public int tweets;

    private Path directory;
    private TweetStore store;

    /** Writes the tweets, and waits for their merges. */
    @Setup
    public void fill() throws IOException {
        directory = Files.createTempDirectory("turbidite-bench");
        store = new TweetStore(
                directory,
                Recipe.named(strategy),
                new Shape(1, true, "correlated-tiering(mergeableBytesMax=16MiB)"),
                Regime.inCache());
        TweetSource source = new TweetSource(17, tweets, updatesPercent / 100.0);
        Tweet tweet = new Tweet();
        for (int i = 0; i < tweets; i++) {
            source.next(tweet);
            store.upsert(tweet);
        }
        store.settle();
    }

    @TearDown
    public void close() {
        store.close();
        Scratch.delete(directory);
    }

    /** The tweets made in the first, or in the last, fiftieth of the time. */
    @Benchmark
    public long tweetsOfSpan() {
        return answer().rows();
    }

    Answer answer() {
        long first = TweetSource.CREATED_FIRST;
        long width = tweets / 50;
        return span.equals("oldest")
                ? store.createdIn(first, first + width)
                : store.createdIn(first + tweets - width, first + tweets);
    }
}
