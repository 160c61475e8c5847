package io.turbidite.bench.part;

import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.Properties;
import io.turbidite.hashlog.psf.PropertyExtractor;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfSet;

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

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** One JSON record through a hash log in memory (FISH19): parsed alone, and put into its chains. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@SuppressWarnings("NullAway.Init") // JMH calls open() first
public class LogBenchmark {
    private static final int RECORDS = 256;
    private static final long MEMORY_BYTES = 1L << 30;

    /** Fields that have a PSF each (FISH19 figure 13's axis). */
    @Param({"1", "4"})
    public int psfs;

    private final MemorySegment[] records = new MemorySegment[RECORDS];
    private final Properties properties = new Properties();
    private Tasks tasks;
    private HashLog log;
    private IngestSession session;
    private PropertyExtractor extractor;
    private int next;

    /** Opens a log without files. */
    @Setup
    public void open() {
        for (int i = 0; i < RECORDS; i++) {
            String text =
                    "{\"id\":%d,\"f0\":%d,\"f1\":\"v%d\",\"f2\":%d,\"f3\":true,\"text\":\"%s\"}"
                            .formatted(i, i % 10, i % 20, i % 7, "t".repeat(200));
            records[i] = MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
        }
        tasks = ThreadTasks.create("bench");
        LogSite site = new LogSite(
                "bench",
                null,
                "log",
                tasks,
                Clock.system(),
                MemoryBudget.of(MEMORY_BYTES),
                new Meters(),
                new StoreEvents());
        log = HashLog.create(site, HashLogOptions.defaults(), 1);
        PsfSet set = PsfSet.empty(new ParserSpec.Json());
        for (int i = 0; i < psfs; i++) {
            PsfDefinition definition = PsfDefinition.parse("field(f" + i + ")");
            set = set.with(i, definition);
            log.register("f" + i, definition);
        }
        extractor = set.newExtractor();
        session = log.openSession("bench");
    }

    @TearDown
    public void close() {
        session.close();
        log.close();
        tasks.close();
    }

    @Benchmark
    public int parse() {
        MemorySegment record = records[next++ % RECORDS];
        if (!extractor.extract(record, 0, (int) record.byteSize(), properties)) {
            throw new IllegalStateException(String.valueOf(extractor.rejection()));
        }
        return properties.count();
    }

    @Benchmark
    public long ingest() {
        MemorySegment record = records[next++ % RECORDS];
        return session.ingest(record, 0, record.byteSize());
    }
}
