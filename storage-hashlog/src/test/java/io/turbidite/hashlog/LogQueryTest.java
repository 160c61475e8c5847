package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

class LogQueryTest {
    private static final long SEED = Seeds.of("LogQueryTest");

    private static String event(int i) {
        return "{\"id\":%d,\"type\":\"t%d\",\"text\":\"%s\"}"
                .formatted(i, i % 3, "x".repeat(20 + i % 150));
    }

    private static void ingest(IngestSession session, int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append(event(i)).append('\n');
        }
        var batch = LogBench.segment(text.toString());
        session.ingest(batch, 0, batch.byteSize());
    }

    private static String text(LogCursor cursor) {
        return new String(
                cursor.segment()
                        .asSlice(cursor.offset(), cursor.length())
                        .toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.UTF_8);
    }

    private static List<String> find(LogBench bench, LogQuery query) {
        List<String> found = new ArrayList<>();
        try (LogCursor cursor = bench.log.find(query)) {
            while (cursor.next()) {
                found.add(text(cursor));
            }
            assertThat(cursor.isTruncated()).isFalse();
        }
        return found;
    }

    /** Events below {@code count} that {@code wanted} holds for, newest first. */
    private static List<String> expected(int count, IntPredicate wanted) {
        return IntStream.iterate(count - 1, i -> i >= 0, i -> i - 1)
                .filter(wanted)
                .mapToObj(LogQueryTest::event)
                .toList();
    }

    /**
     * 3,000 events over memory and disk; type is indexed for the middle third and again for the
     * end.
     */
    private static LogBench filled(@Nullable SimDisk disk) {
        LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
        try (IngestSession session = bench.log.openSession("s")) {
            for (int i = 0; i < 3_000; i += 20) {
                if (i == 1_000) {
                    bench.register("type");
                }
                if (i == 2_000) {
                    bench.log.deregister(0);
                }
                if (i == 2_500) {
                    bench.register("type");
                }
                ingest(session, i, i + 20);
            }
        }
        return bench;
    }

    @Test
    void chains_and_scans_together_find_each_record_once_newest_first() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            LogQuery query = LogQuery.property("type", "t1");
            try (LogCursor cursor = bench.log.find(query)) {
                assertThat(cursor.parts()).hasSize(4);
                assertThat(cursor.parts().getFirst().isIndexed()).isTrue();
            }
            List<String> wanted = expected(3_000, i -> i % 3 == 1);
            assertThat(find(bench, query)).isEqualTo(wanted);
            assertThat(find(bench, query.byScan())).isEqualTo(wanted);
            assertThat(find(bench, query.limit(7))).isEqualTo(wanted.subList(0, 7));
            assertThat(find(bench, query.where("id >= 900 && id < 2600")))
                    .isEqualTo(expected(3_000, i -> i % 3 == 1 && i >= 900 && i < 2_600));
            assertThat(find(bench, LogQuery.expression("id < 40")))
                    .isEqualTo(expected(3_000, i -> i < 40));
            assertThat(find(bench, LogQuery.all())).isEqualTo(expected(3_000, i -> true));
            assertThat(find(bench, LogQuery.property("type", "t9"))).isEmpty();
        }
    }

    @Test
    void address_ranges_cut_exactly() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            List<Long> addresses = new ArrayList<>();
            try (LogCursor cursor = bench.log.find(LogQuery.all())) {
                while (cursor.next()) {
                    addresses.addFirst(cursor.address());
                }
            }
            SplittableRandom random = new SplittableRandom(SEED);
            for (int round = 0; round < 200; round++) {
                int low = random.nextInt(3_000);
                int high = low + random.nextInt(3_000 - low);
                LogQuery query = LogQuery.property("type", "t2")
                        .between(addresses.get(low), addresses.get(high));
                assertThat(find(bench, query))
                        .as("seed %d, %d to %d", SEED, low, high)
                        .isEqualTo(expected(3_000, i -> i % 3 == 2 && i >= low && i < high));
            }
        }
    }

    @Test
    void time_ranges_take_the_pages_of_the_time() {
        SimDisk disk = LogBench.disk(SEED);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            List<Long> arrivals = new ArrayList<>();
            try (IngestSession session = bench.log.openSession("s")) {
                for (int i = 0; i < 2_000; i += 20) {
                    arrivals.add(bench.site.clock().wallMicros());
                    ingest(session, i, i + 20);
                    AtomicInteger polls = new AtomicInteger();
                    bench.tasks.await(() -> polls.incrementAndGet() > 20);
                }
                session.awaitDurable();
            }
            long from = arrivals.get(30);
            long to = arrivals.get(60);
            List<String> found = find(bench, LogQuery.all().arrivedBetween(from, to));
            assertThat(found).contains(event(600), event(1_200));
            // no more than the pages at both ends on top
            assertThat(found.size()).isBetween(601, 601 + 2 * 250);
        }
    }

    @Test
    void two_runs_three_seconds_apart_are_told_apart_by_time() {
        for (int perRun : new int[] {3, 400}) {
            SimDisk disk = LogBench.disk(SEED);
            List<Long> between = new ArrayList<>();
            try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
                IngestSession open = bench.log.openSession("stays");
                for (int run = 0; run < 4; run++) {
                    if (run < 2) {
                        try (IngestSession session = bench.log.openSession("run " + run)) {
                            ingest(session, run * perRun, (run + 1) * perRun);
                        }
                    } else {
                        ingest(open, run * perRun, (run + 1) * perRun);
                        open.awaitDurable();
                    }
                    between.add(pass(bench, 1_500_000));
                    pass(bench, 1_500_000);
                }
                open.close();
                checkRuns(bench, perRun, between);
            }
            SimDisk crashed = disk.crashImage(SEED);
            try (LogBench bench = LogBench.reopened(SEED, crashed, LogBench.options())) {
                assertThat(bench.log.recoveredSessions())
                        .containsExactlyInAnyOrder("run 0", "run 1", "stays");
                checkRuns(bench, perRun, between);
            }
        }
    }

    /** Each run is found by the times around it, and nothing else. */
    private static void checkRuns(LogBench bench, int perRun, List<Long> between) {
        for (int run = 0; run < between.size(); run++) {
            long from = run == 0 ? Long.MIN_VALUE : between.get(run - 1);
            List<String> found = find(bench, LogQuery.all().arrivedBetween(from, between.get(run)));
            assertThat(found).as("run %d of %d", run, perRun).hasSize(perRun);
            assertThat(found.getLast()).isEqualTo(event(run * perRun));
        }
    }

    /** Lets time go by; returns the wall clock. */
    private static long pass(LogBench bench, long micros) {
        long until = bench.site.clock().monotonicNanos() + micros * 1_000;
        bench.tasks.await(() -> bench.site.clock().monotonicNanos() >= until);
        return bench.site.clock().wallMicros();
    }

    @Test
    void several_workers_find_what_one_finds() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            ConcurrentLinkedQueue<Long> found = new ConcurrentLinkedQueue<>();
            bench.log.findInParallel(
                    LogQuery.property("type", "t0"),
                    3,
                    () -> (address, segment, offset, length) -> found.add(address));
            List<Long> wanted = new ArrayList<>();
            try (LogCursor cursor = bench.log.find(LogQuery.property("type", "t0"))) {
                while (cursor.next()) {
                    wanted.add(cursor.address());
                }
            }
            assertThat(found).containsExactlyInAnyOrderElementsOf(wanted);
            AtomicInteger limited = new AtomicInteger();
            bench.log.findInParallel(
                    LogQuery.all().limit(10),
                    2,
                    () -> (address, segment, offset, length) -> limited.incrementAndGet());
            assertThat(limited).hasValue(10);
        }
    }

    @Test
    void a_query_while_others_ingest_shows_every_earlier_record_once() throws Exception {
        try (LogBench bench = LogBench.onThreads(LogBench.disk(SEED), LogBench.options())) {
            bench.register("type");
            try (IngestSession session = bench.log.openSession("s")) {
                AtomicInteger done = new AtomicInteger();
                AtomicBoolean stop = new AtomicBoolean();
                Thread writer = Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < 20_000 && !stop.get(); i += 20) {
                        ingest(session, i, i + 20);
                        done.set(i + 20);
                    }
                });
                for (int round = 0; round < 30; round++) {
                    LogQuery query = LogQuery.property("type", "t1");
                    assertThat(writer.isAlive() || done.get() == 20_000).isTrue();
                    int before = done.get();
                    List<String> found = find(bench, round % 2 == 0 ? query : query.byScan());
                    List<String> least = expected(before, i -> i % 3 == 1);
                    assertThat(found).doesNotHaveDuplicates();
                    assertThat(found.subList(found.size() - least.size(), found.size()))
                            .isEqualTo(least);
                }
                stop.set(true);
                writer.join();
            }
        }
    }

    @Test
    void on_the_null_device_a_cursor_that_is_overtaken_says_so() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options())) {
            bench.register("type");
            try (IngestSession session = bench.log.openSession("s")) {
                ingest(session, 0, 500);
                try (LogCursor cursor = bench.log.find(LogQuery.all())) {
                    assertThat(cursor.next()).isTrue();
                    bench.log.log().truncate(bench.log.log().safeTail());
                    while (cursor.next()) {
                        assertThat(cursor.length()).isPositive();
                    }
                    assertThat(cursor.address()).isPositive();
                }
            }
        }
    }

    @Test
    void what_cannot_be_asked_is_refused() {
        try (LogBench bench = filled(null)) {
            assertThatThrownBy(() -> bench.log.find(LogQuery.property("kind", "x")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("kind")
                    .hasMessageContaining("type");
            assertThatThrownBy(() -> bench.log.find(LogQuery.expression("id >")))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> LogQuery.all().between(5, 4))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> LogQuery.all().limit(-1))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(bench.budget.accounts().stream()
                            .filter(account -> account.owner().contains("readers"))
                            .mapToLong(account -> account.bytesUsed())
                            .sum())
                    .isZero();
        }
    }
}
