package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.Disk;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.registry.Interval;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Real threads: several writers, with scans, registrations and a small ring in their way. */
class IngestStressTest {
    private static final long SEED = Seeds.of("IngestStressTest");
    private static final int BATCH = 100;

    private final ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger finished = new AtomicInteger();

    private static MemorySegment batch(int writer, int from, int to) {
        StringBuilder text = new StringBuilder();
        SplittableRandom random = new SplittableRandom(Seeds.mix(SEED, from));
        for (int i = from; i < to; i++) {
            text.append("{\"w\":").append(writer).append(",\"n\":").append(i).append(",\"c\":1");
            text.append(",\"x\":\"").repeat('z', random.nextInt(90)).append("\"}\n");
        }
        return LogBench.segment(text.toString());
    }

    /** Starts a writer of {@code count} records on a thread of its own. */
    private void write(ThreadTasks threads, HashLog log, int writer, int count) {
        running.incrementAndGet();
        AtomicBoolean done = new AtomicBoolean();
        threads.start("writer" + writer, 1_000_000, () -> {
            if (done.compareAndSet(false, true)) {
                try (IngestSession session = log.openSession("writer" + writer)) {
                    for (int i = 0; i < count; i += BATCH) {
                        MemorySegment batch = batch(writer, i, i + BATCH);
                        session.ingest(batch, 0, batch.byteSize());
                    }
                    assertThat(session.acceptedCount()).isEqualTo(count);
                } finally {
                    finished.incrementAndGet();
                }
            }
            return false;
        });
    }

    private void awaitWriters(ThreadTasks threads) {
        threads.await(() -> finished.get() == running.get());
        assertThat(errors).isEmpty();
    }

    private boolean isWriting() {
        return finished.get() < running.get();
    }

    private ThreadTasks threads() {
        return ThreadTasks.create("writers", (name, e) -> errors.add(e));
    }

    private static LogBench bench(@Nullable Disk disk, LogShape shape) {
        HashLogOptions options = LogBench.options().withLog(LogOptions.of(shape));
        return LogBench.onThreads(disk, options);
    }

    @Test
    void a_million_records_of_three_threads_make_one_chain() {
        LogShape shape = new LogShape(1 << 20, 256, 4);
        int each = Tier.count(40_000, 334_000, 1_000_000);
        try (LogBench bench = bench(null, shape);
                ThreadTasks threads = threads()) {
            int c = bench.register("c");
            for (int t = 0; t < 3; t++) {
                write(threads, bench.log, t, each);
            }
            awaitWriters(threads);
            int[] next = {each, each, each};
            int count = 0;
            try (LogReader reader = bench.log.openReader("check")) {
                reader.protect();
                ChainWalk walk = bench.log.walk(reader, Property.ofInteger(c, 1));
                walk.start(bench.log.log().begin());
                long last = Long.MAX_VALUE;
                while (walk.next()) {
                    assertThat(walk.address()).isLessThan(last);
                    last = walk.address();
                    int[] parsed = parse(walk.segment(), walk.payloadOffset());
                    if (--next[parsed[0]] != parsed[1]) {
                        throw new AssertionError("writer %d: record %d where %d was next"
                                .formatted(parsed[0], parsed[1], next[parsed[0]]));
                    }
                    count++;
                }
            }
            assertThat(count).isEqualTo(3 * each);
        }
    }

    @Test
    void scans_to_the_safe_tail_never_meet_a_record_that_is_being_written() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        int each = 15_000;
        try (LogBench bench = bench(disk, LogBench.SHAPE);
                ThreadTasks threads = threads()) {
            bench.register("c");
            bench.register("n");
            for (int t = 0; t < 2; t++) {
                write(threads, bench.log, t, each);
            }
            int[] next = new int[2];
            try (LogReader reader = bench.log.openReader("scan")) {
                LogScan scan = new LogScan(reader);
                long from = bench.log.log().begin();
                for (boolean more = true; more; ) {
                    more = isWriting();
                    reader.protect();
                    scan.start(from, Long.MAX_VALUE);
                    while (scan.next()) {
                        if (RecordHeader.kind(scan.header()) == RecordHeader.RECORD) {
                            int[] parsed = parse(
                                    scan.segment(),
                                    scan.offset() + RecordHeader.payloadOffset(scan.header()));
                            assertThat(parsed[1]).isEqualTo(next[parsed[0]]++);
                            assertThat(RecordHeader.keyPointerCount(scan.header()))
                                    .isEqualTo(2);
                        }
                    }
                    from = scan.position();
                    reader.unprotect();
                }
            }
            awaitWriters(threads);
            assertThat(next).containsExactly(each, each);
            assertThat(bench.log.log().head()).isGreaterThan(LogBench.SHAPE.ringBytes());
        }
        assertThat(disk.openHandleCount()).isZero();
    }

    @Test
    void every_record_within_an_interval_is_indexed_while_psfs_come_and_go() {
        LogShape shape = new LogShape(1 << 20, 64, 4);
        int each = 40_000;
        try (LogBench bench = bench(null, shape);
                ThreadTasks threads = threads()) {
            for (int t = 0; t < 2; t++) {
                write(threads, bench.log, t, each);
            }
            List<Integer> ids = new ArrayList<>();
            for (int i = 0; i < 200 && isWriting(); i++) {
                int id = bench.register("c");
                ids.add(id);
                long tail = bench.log.log().tail();
                threads.await(() -> bench.log.log().tail() > tail + 40_000 || !isWriting());
                bench.log.deregister(id);
            }
            awaitWriters(threads);
            assertThat(ids.size()).isGreaterThan(2);
            long covered = 0;
            try (LogReader reader = bench.log.openReader("check")) {
                reader.protect();
                for (int id : ids) {
                    List<Interval> intervals = bench.log.psfs().get(id).intervals();
                    if (intervals.isEmpty()) {
                        continue; // the writers had ended: no record came between its boundaries
                    }
                    Interval interval = intervals.getFirst();
                    List<Long> chain = new ArrayList<>();
                    ChainWalk walk = bench.log.walk(reader, Property.ofInteger(id, 1));
                    walk.start(interval.from());
                    while (walk.next()) {
                        if (interval.contains(walk.address())) {
                            chain.add(walk.address());
                        }
                    }
                    List<Long> all = new ArrayList<>();
                    LogScan scan = new LogScan(reader);
                    scan.start(bench.log.log().begin(), interval.to());
                    while (scan.next()) {
                        if (interval.contains(scan.address())) {
                            all.add(scan.address());
                        }
                    }
                    assertThat(chain.reversed()).as("PSF %d", id).isEqualTo(all);
                    covered += all.size();
                }
            }
            assertThat(covered).isGreaterThan(1_000);
        }
    }

    /** Writer and number of a record made by {@link #batch}, read without garbage. */
    private static int[] parse(MemorySegment segment, long payload) {
        int[] at = {5};
        int writer = number(segment, payload, at);
        at[0] += 5;
        return new int[] {writer, number(segment, payload, at)};
    }

    private static int number(MemorySegment segment, long payload, int[] at) {
        int number = 0;
        byte digit = segment.get(Bytes.U8, payload + at[0]);
        assertThat(Character.isDigit(digit)).isTrue();
        while (digit >= '0' && digit <= '9') {
            number = number * 10 + digit - '0';
            digit = segment.get(Bytes.U8, payload + ++at[0]);
        }
        return number;
    }
}
