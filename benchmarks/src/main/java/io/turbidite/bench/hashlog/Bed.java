package io.turbidite.bench.hashlog;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.file.RealDisk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.PsfDefinition;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** A log to measure on, with its threads. */
final class Bed implements AutoCloseable {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int BATCH_BYTES = 1 << 20;
    private static final int PAGE_BYTES = 4 << 20;
    private static final int SEGMENT_PAGES = 64;

    final ThreadTasks tasks;
    final HashLog log;

    private Bed(@Nullable Path directory, LogOptions log, int tableBits, ParserSpec parser) {
        HashLogOptions options = HashLogOptions.defaults()
                .withLog(log)
                .withTable(tableBits, 1 << 30)
                .withParser(parser)
                .withCheckpoints(Long.MAX_VALUE);
        this.tasks = ThreadTasks.create("bench");
        this.log = HashLog.create(site(directory, tasks), options, 1);
    }

    private static LogOptions log(long memoryBytes) {
        int pages = Math.max(8, Integer.highestOneBit((int) (memoryBytes / PAGE_BYTES)));
        return LogOptions.of(new LogShape(PAGE_BYTES, pages, SEGMENT_PAGES));
    }

    static LogSite site(@Nullable Path directory, ThreadTasks tasks) {
        return new LogSite(
                "bench",
                directory == null ? null : RealDisk.open(directory),
                "log",
                tasks,
                Clock.system(),
                MemoryBudget.of(4L << 30),
                new Meters(),
                new StoreEvents());
    }

    /** On the null device: what leaves memory is gone. */
    static Bed inMemory(long memoryBytes, List<String> psfs) {
        return new Bed(null, log(memoryBytes), 18, new ParserSpec.Json()).with(psfs);
    }

    /** The same, of records that are read otherwise. */
    static Bed inMemory(long memoryBytes, List<String> psfs, ParserSpec parser) {
        return new Bed(null, log(memoryBytes), 18, parser).with(psfs);
    }

    /** In an empty directory. */
    static Bed onDisk(Path directory, long memoryBytes, List<String> psfs) {
        return onDisk(directory, memoryBytes, psfs, 18);
    }

    /** The same with a table of {@code 1 << tableBits} buckets. */
    static Bed onDisk(Path directory, long memoryBytes, List<String> psfs, int tableBits) {
        return new Bed(directory, log(memoryBytes), tableBits, new ParserSpec.Json()).with(psfs);
    }

    /** In an empty directory, past the page cache if the file system likes. */
    static Bed toFiles(Path directory, long memoryBytes, List<String> psfs, boolean direct) {
        LogOptions log = log(memoryBytes).withDirectIo(direct);
        return new Bed(directory, log, 18, new ParserSpec.Json()).with(psfs);
    }

    private Bed with(List<String> psfs) {
        psfs.forEach(text -> log.register(text, PsfDefinition.parse(text)));
        return this;
    }

    /**
     * What ingestion cost.
     *
     * @param cpuNanos of the ingesting threads, flushing left out
     * @param wallNanos until everything is durable
     */
    record Cost(
            long bytes,
            long records,
            long logBytes,
            long heapBytes,
            long cpuNanos,
            long wallNanos) {
        double gigabytesPerCpuSecond() {
            return (double) bytes / cpuNanos;
        }

        double gigabytesPerSecond() {
            return (double) bytes / wallNanos;
        }
    }

    /** Ingests {@code passes} times the corpus by so many sessions, each its part. */
    Cost ingest(Corpus corpus, int sessions, int passes) {
        AtomicLong cpu = new AtomicLong();
        AtomicLong heap = new AtomicLong();
        AtomicLong records = new AtomicLong();
        AtomicLong bytes = new AtomicLong();
        AtomicLong logBytes = new AtomicLong();
        AtomicInteger left = new AtomicInteger(sessions);
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        long start = Clock.system().monotonicNanos();
        for (int s = 0; s < sessions; s++) {
            long from = corpus.partFrom(s, sessions);
            long to = corpus.partFrom(s + 1, sessions);
            String name = "session" + s;
            AtomicBoolean begun = new AtomicBoolean();
            tasks.start(name, Long.MAX_VALUE / 1_000_000, () -> {
                if (!begun.compareAndSet(false, true)) {
                    return false; // a worker may be woken for nothing
                }
                try (IngestSession session = log.openSession(name)) {
                    long cpuBefore = THREADS.getCurrentThreadCpuTime();
                    long heapBefore = THREADS.getCurrentThreadAllocatedBytes();
                    for (int pass = 0; pass < passes; pass++) {
                        ingest(session, corpus, from, to);
                    }
                    heap.addAndGet(THREADS.getCurrentThreadAllocatedBytes() - heapBefore);
                    cpu.addAndGet(THREADS.getCurrentThreadCpuTime() - cpuBefore);
                    session.awaitDurable();
                    records.addAndGet(session.acceptedCount());
                    bytes.addAndGet(session.payloadBytes());
                    logBytes.addAndGet(session.logBytes());
                } catch (RuntimeException | Error e) {
                    failure.compareAndSet(null, e);
                }
                left.decrementAndGet();
                tasks.signal();
                return false;
            });
        }
        tasks.await(() -> left.get() == 0);
        Throwable failed = failure.get();
        if (failed != null) {
            throw new IllegalStateException(failed);
        }
        if (records.get() != corpus.count() * passes) {
            throw new IllegalStateException(
                    "%d of %d records".formatted(records.get(), corpus.count() * passes));
        }
        return new Cost(
                bytes.get(),
                records.get(),
                logBytes.get(),
                heap.get(),
                cpu.get(),
                Clock.system().monotonicNanos() - start);
    }

    private static void ingest(IngestSession session, Corpus corpus, long from, long to) {
        for (long at = from; at < to; ) {
            long end = Math.min(to, at + BATCH_BYTES);
            while (corpus.bytes().get(ValueLayout.JAVA_BYTE, end - 1) != '\n') {
                end++;
            }
            session.ingest(corpus.bytes(), at, end - at);
            at = end;
        }
    }

    @Override
    public void close() {
        log.close();
        tasks.close();
    }
}
