package io.turbidite.hashlog;

import io.turbidite.core.file.RealDisk;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.psf.PsfDefinition;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;

/**
 * What recovery of a suffix costs: {@code RecoveryCost DIRECTORY MIB}. Writes so many MiB of events
 * of about 1 KiB with four PSFs and no checkpoint, and opens the log three times; then with a
 * checkpoint.
 */
final class RecoveryCost {
    private RecoveryCost() {}

    public static void main(String[] args) {
        long bytes = Long.parseLong(args[1]) << 20;
        HashLogOptions options = HashLogOptions.defaults().withCheckpoints(Long.MAX_VALUE);
        try (ThreadTasks tasks = ThreadTasks.create("cost")) {
            LogSite site = new LogSite(
                    "cost",
                    RealDisk.open(Path.of(args[0])),
                    "log",
                    tasks,
                    Clock.system(),
                    MemoryBudget.of(2L << 30),
                    new Meters(),
                    new StoreEvents());
            try (HashLog log = HashLog.create(site, options, 1)) {
                fill(log, bytes);
            }
            for (int i = 0; i < 3; i++) {
                open(site, options, "replay of all");
            }
            try (HashLog log = HashLog.open(site, options)) {
                long before = Clock.system().monotonicNanos();
                log.checkpoint();
                System.out.printf(
                        "checkpoint: %d ms%n",
                        (Clock.system().monotonicNanos() - before) / 1_000_000);
            }
            open(site, options, "from a checkpoint");
        }
    }

    private static void fill(HashLog log, long bytes) {
        for (String psf : List.of(
                "field(id)",
                "field(type)",
                "bucket(id, 1000)",
                "where(type == \"t1\" && id > 9)")) {
            log.register(psf, PsfDefinition.parse(psf));
        }
        String pad = "y".repeat(900);
        try (IngestSession session = log.openSession("s")) {
            while (session.logBytes() < bytes) {
                StringBuilder text = new StringBuilder();
                for (int i = 0; i < 500; i++) {
                    long n = session.serial() + i;
                    text.append("{\"id\":%d,\"type\":\"t%d\",\"pad\":\"%s\"}\n"
                            .formatted(n, n % 12, pad));
                }
                MemorySegment batch = LogBench.segment(text.toString());
                session.ingest(batch, 0, batch.byteSize());
            }
        }
    }

    private static void open(LogSite site, HashLogOptions options, String what) {
        var cpu = (com.sun.management.OperatingSystemMXBean)
                ManagementFactory.getOperatingSystemMXBean();
        long wall = Clock.system().monotonicNanos();
        long before = cpu.getProcessCpuTime();
        try (HashLog log = HashLog.open(site, options)) {
            wall = Clock.system().monotonicNanos() - wall;
            long used = cpu.getProcessCpuTime() - before;
            long mib = (log.log().tail() - log.log().begin()) >> 20;
            System.out.printf(
                    "%s: log of %d MiB, %d ms wall, %d ms CPU, %d buckets%n",
                    what, mib, wall / 1_000_000, used / 1_000_000, log.bucketCount());
        }
    }
}
