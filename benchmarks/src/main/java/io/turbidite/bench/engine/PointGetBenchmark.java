package io.turbidite.bench.engine;

import io.turbidite.bench.peer.Engine;
import io.turbidite.bench.peer.PeerOptions;
import io.turbidite.bench.peer.RocksEngine;
import io.turbidite.bench.peer.TurbiditeEngine;
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

/** Point gets by JMH, for profilers: {@code ./turbidite bench jmh -- PointGet -prof gc}. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class PointGetBenchmark {
    @Param({"turbidite", "rocksdb"})
    public String engine = "turbidite";

    @Param("200000")
    public int tweets;

    private final SplittableRandom random = new SplittableRandom(1);
    private Path directory;
    private Engine store;
    private TweetSource source;

    /** Fills a store. */
    @Setup
    public void fill() throws IOException {
        directory = Files.createTempDirectory("turbidite-bench");
        PeerOptions options = new PeerOptions(directory, 128 << 20, 1 << 30, 1, false);
        store = engine.equals("turbidite")
                ? new TurbiditeEngine(options)
                : new RocksEngine(options);
        source = new TweetSource(1, tweets, 0.1);
        Tweet tweet = new Tweet();
        Engine.Writer writer = store.newWriter();
        for (int i = 0; i < tweets; i++) {
            source.next(tweet);
            writer.upsert(tweet);
        }
        store.settle();
    }

    @TearDown
    public void close() {
        store.close();
        Scratch.delete(directory);
    }

    @Benchmark
    public int present() {
        return store.get(source.pastId(random));
    }

    @Benchmark
    public int absent() {
        return store.get(random.nextLong());
    }
}
