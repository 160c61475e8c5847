package io.turbidite.bench.navigation;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;

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
 * One query from secondary to primary with each optimisation alone: the axes of LUO19 figure 10.
 * {@code bench navigation} has all ways take turns, and compares their answers.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class NavigationBenchmark {
    @Param({
        NavigationSuite.NAIVE,
        NavigationSuite.BATCH,
        NavigationSuite.STATEFUL,
        NavigationSuite.PRUNED,
        NavigationSuite.CHOSEN
    })
    public String way = NavigationSuite.NAIVE;

    /** Of all tweets, in per cent. */
    @Param({"0.01", "0.1", "1"})
    public double selectivity = 0.1;

    @Param("100000")
    public int tweets;

    /** The paper has 20. */
    @Param("20")
    public int components = 20;

    private final SplittableRandom random = new SplittableRandom(1);
    private Path directory;
    private Tweets store;

    /** Inserts the tweets into components that are not merged; all fit into the cache. */
    @Setup
    public void fill() throws IOException {
        directory = Files.createTempDirectory("turbidite-bench");
        Tweets.load(directory, tweets, components);
        store = Tweets.open(directory, 4L * tweets * Tweet.meanBytes() + (64L << 20), false);
    }

    @TearDown
    public void close() {
        store.close();
        Scratch.delete(directory);
    }

    /** The tweets of some users. */
    @Benchmark
    public long tweetsOfUsers() {
        int width = (int) Math.max(1, Math.round(TweetSource.ATTRIBUTE_LIMIT * selectivity / 100));
        int low = random.nextInt(TweetSource.ATTRIBUTE_LIMIT - width + 1);
        return tweetsOf(low, low + width).rows();
    }

    Tweets.Answer tweetsOf(int low, int end) {
        return store.byUser(low, end, NavigationSuite.options(way));
    }

    /** What each way has to say. */
    Tweets.Answer expectedOf(int low, int end) {
        return store.byScan(low, end);
    }
}
