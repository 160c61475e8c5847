package io.turbidite.bench.hashlog;

import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;

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

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One subset of a hash log in memory, by its chain and by a scan of the log: the axes of FISH19
 * figure 16. {@code bench hashlog} measures ingestion, logs on disk and recovery.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // JMH calls fill() first
public class RetrievalBenchmark {
    @Param({"index", "scan"})
    public String by = "index";

    /** Of all records, in per cent. */
    @Param({"0.01", "1", "10", "50"})
    public double selectivity = 1;

    @Param("64")
    public int megabytes = 64;

    private Bed bed;
    private LogQuery query;
    private long expected;

    /** Ingests records of which the subset has this share. */
    @Setup
    public void fill() {
        String psf = "where(pick < %d)".formatted(Math.round(selectivity * 1_000));
        bed = Bed.inMemory((4L * megabytes) << 20, List.of(psf));
        Corpus corpus = Picks.corpus(megabytes);
        bed.ingest(corpus, 1, 1);
        expected = corpus.matchesOf(psf);
        LogQuery property = LogQuery.property(psf, "true");
        query = by.equals("scan") ? property.byScan() : property;
    }

    @TearDown
    public void close() {
        bed.close();
    }

    /** All records of the subset. */
    @Benchmark
    public long subset() {
        long found = 0;
        try (LogCursor cursor = bed.log.find(query)) {
            while (cursor.next()) {
                found++;
            }
        }
        return found;
    }

    long expected() {
        return expected;
    }
}
