package io.turbidite.hashlog;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.parse.LineEnds;
import io.turbidite.hashlog.parse.ScanMode;
import io.turbidite.hashlog.psf.PsfDefinition;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a record costs: CPU time, garbage, log bytes. Not a test; run as {@code IngestCost DIR FILE
 * SESSIONS ROUNDS PSF...}, each PSF as its definition's text. The null device unless DIR is not
 * "-".
 */
public final class IngestCost {
    private static final int BATCH_BYTES = 1 << 20;
    private static final LineEnds LINE_ENDS = ScanMode.best().newLineEnds();

    private IngestCost() {}

    public static void main(String[] args) throws InterruptedException {
        Path file = Path.of(args[1]).toAbsolutePath();
        int sessions = Integer.parseInt(args[2]);
        int rounds = Integer.parseInt(args[3]);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment data = read(file, arena);
            for (int round = 0; round < rounds; round++) {
                run(args, data, sessions, round);
            }
        }
    }

    private static MemorySegment read(Path file, Arena arena) {
        RealDisk disk = RealDisk.open(Objects.requireNonNull(file.getParent()));
        try (DiskFile from = disk.openReadOnly(file.getFileName().toString())) {
            MemorySegment data = arena.allocate(from.size());
            int done = 0;
            while (done < data.byteSize()) {
                done += from.read(
                        done, data, done, (int) Math.min(1 << 20, data.byteSize() - done));
            }
            return data;
        }
    }

    private static void run(String[] args, MemorySegment data, int sessions, int round)
            throws InterruptedException {
        LogShape shape = new LogShape(4 << 20, 64, 64);
        MemoryBudget budget = MemoryBudget.of(2L << 30);
        RealDisk disk = args[0].equals("-") ? null : RealDisk.open(Path.of(args[0]));
        try (ThreadTasks tasks = ThreadTasks.create("cost")) {
            LogSite site = new LogSite(
                    "cost",
                    disk,
                    "log" + round,
                    tasks,
                    Clock.system(),
                    budget,
                    new Meters(),
                    new StoreEvents());
            HashLogOptions options =
                    HashLogOptions.defaults().withLog(LogOptions.of(shape)).withTable(18, 1 << 30);
            try (HashLog log = HashLog.create(site, options, 1)) {
                for (int i = 4; i < args.length; i++) {
                    log.register(args[i], PsfDefinition.parse(args[i]));
                }
                measure(log, tasks, data, sessions);
            }
        }
    }

    private static void measure(HashLog log, ThreadTasks tasks, MemorySegment data, int sessions)
            throws InterruptedException {
        AtomicLong cpu = new AtomicLong();
        AtomicLong allocated = new AtomicLong();
        AtomicLong records = new AtomicLong();
        AtomicLong logBytes = new AtomicLong();
        CountDownLatch left = new CountDownLatch(sessions);
        long wall = Clock.system().monotonicNanos();
        for (int s = 0; s < sessions; s++) {
            int number = s;
            tasks.start("session" + s, Long.MAX_VALUE / 1_000_000, () -> {
                ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
                try (IngestSession session = log.openSession("s" + number)) {
                    long cpuBefore = threads.getCurrentThreadCpuTime();
                    long bytesBefore = threads.getCurrentThreadAllocatedBytes();
                    for (long at = 0; at < data.byteSize(); ) {
                        long end = Math.min(data.byteSize(), at + BATCH_BYTES);
                        end = end == data.byteSize()
                                ? end
                                : LINE_ENDS.end(data, end, data.byteSize());
                        session.ingest(data, at, end - at);
                        at = end + 1;
                    }
                    cpu.addAndGet(threads.getCurrentThreadCpuTime() - cpuBefore);
                    allocated.addAndGet(threads.getCurrentThreadAllocatedBytes() - bytesBefore);
                    records.addAndGet(session.acceptedCount());
                    logBytes.addAndGet(session.logBytes());
                }
                left.countDown();
                return false;
            });
        }
        left.await();
        wall = Clock.system().monotonicNanos() - wall;
        double bytes = (double) data.byteSize() * sessions;
        System.out.printf(
                Locale.ROOT,
                "%d sessions: %.0f ns/record, %.3f GB per CPU-second, %.3f GB/s wall, log/raw %.3f, %.1f heap bytes/record, %s%n",
                sessions,
                (double) cpu.get() / records.get(),
                bytes / cpu.get(),
                bytes / wall,
                logBytes.get() / bytes,
                (double) allocated.get() / records.get(),
                log);
    }
}
