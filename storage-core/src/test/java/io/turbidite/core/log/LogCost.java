package io.turbidite.core.log;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * What a publish costs: {@code LogCost DIRECTORY [mode] [producers] [records] [bytes]}. Not a test;
 * run it by hand without assertions. As in a store, every 230,000 records (128 MB) the log is
 * flushed and truncated.
 */
final class LogCost {
    private static final int ROUND_COUNT = 5;
    private static final int RECORDS_PER_FLUSH = 230_000;

    private final WriteAheadLog log;
    private final Tasks tasks;
    private final int payloadBytes;
    private final MemorySegment source = Arena.ofAuto().allocate(1 << 20);

    private LogCost(WriteAheadLog log, Tasks tasks, int payloadBytes) {
        this.log = log;
        this.tasks = tasks;
        this.payloadBytes = payloadBytes;
    }

    public static void main(String[] args) throws InterruptedException {
        Path directory = Path.of(args[0]);
        Durability mode = Durability.valueOf(args.length > 1 ? args[1] : "BUFFERED");
        int producers = args.length > 2 ? Integer.parseInt(args[2]) : 1;
        int records = args.length > 3 ? Integer.parseInt(args[3]) : 2_000_000;
        int payloadBytes = args.length > 4 ? Integer.parseInt(args[4]) : 560;
        try (Tasks tasks = ThreadTasks.create("cost");
                WriteAheadLog log = WriteAheadLog.open(
                        new LogEnvironment(
                                RealDisk.open(directory), "log", 1, tasks, Clock.system()),
                        LogOptions.defaults().withDurability(mode),
                        0,
                        (position, payload) -> {})) {
            LogCost cost = new LogCost(log, tasks, payloadBytes);
            for (int round = 0; round < ROUND_COUNT; round++) {
                cost.round(mode, producers, records);
            }
            System.out.println(log.statistics());
        }
    }

    private void round(Durability mode, int producers, int records) throws InterruptedException {
        Clock clock = Clock.system();
        CountDownLatch done = new CountDownLatch(producers);
        long[] producerNanos = new long[producers];
        long startNanos = clock.monotonicNanos();
        long startCpu = processNanos();
        List<Tasks.Worker> workers = new ArrayList<>();
        for (int i = 0; i < producers; i++) {
            int id = i;
            workers.add(tasks.start("producer", 1_000_000, () -> {
                if (producerNanos[id] == 0) {
                    long before = threadNanos();
                    produce(records / producers);
                    producerNanos[id] = threadNanos() - before;
                    done.countDown();
                }
                return false;
            }));
        }
        done.await();
        log.flush();
        long cpu = processNanos() - startCpu;
        long wall = clock.monotonicNanos() - startNanos;
        long producer = 0;
        for (long nanos : producerNanos) {
            producer += nanos;
        }
        printWorkers(records);
        for (Tasks.Worker worker : workers) {
            worker.close();
        }
        System.out.printf(
                "%s, %d producers, %d records of %d bytes: producer CPU %d ns, process CPU %d ns, wall %d ns a record%n",
                mode,
                producers,
                records,
                payloadBytes,
                producer / records,
                cpu / records,
                wall / records);
    }

    private void produce(int records) {
        for (int i = 0; i < records; i++) {
            Claim claim = log.claim(payloadBytes);
            MemorySegment.copy(source, 0, claim.segment(), claim.offset(), payloadBytes);
            claim.segment().set(Bytes.I64, claim.offset(), i);
            long sequence = claim.publish(payloadBytes);
            log.awaitDurable(sequence);
            if (sequence % RECORDS_PER_FLUSH == 0) {
                long position = log.position();
                log.flush();
                log.truncateBefore(position);
            }
        }
    }

    /** CPU of the log's own threads since the start, per record of one round. */
    private static void printWorkers(int records) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (long id : threads.getAllThreadIds()) {
            ThreadInfo info = threads.getThreadInfo(id);
            if (info != null && info.getThreadName().contains("/log-")) {
                System.out.printf(
                        "  %s: %d ns so far%n",
                        info.getThreadName(), threads.getThreadCpuTime(id) / records);
            }
        }
    }

    private static long threadNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static long processNanos() {
        return ((com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }
}
