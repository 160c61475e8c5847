package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.hashlog.registry.HistoryRun;
import io.turbidite.hashlog.registry.RegisteredPsf;

import org.junit.jupiter.api.Test;

import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

class HistoryTest {
    private static final long SEED = Seeds.of("HistoryTest");
    private static final int BEFORE = 1_500;
    private static final int COUNT = 2_000;

    private static String event(int i) {
        return "{\"id\":%d,\"type\":\"t%d\",\"text\":\"%s\"}"
                .formatted(i, i % 3, "x".repeat(20 + i % 150));
    }

    private static void ingest(IngestSession session, int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append(i % 97 == 5 ? "no json\n" : "").append(event(i)).append('\n');
        }
        var batch = LogBench.segment(text.toString());
        session.ingest(batch, 0, batch.byteSize());
    }

    /** Events over memory and disk, of which the last have the type indexed by chains. */
    private static LogBench filled(SimDisk disk) {
        LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
        try (IngestSession session = bench.log.openSession("s")) {
            for (int i = 0; i < COUNT; i += 20) {
                if (i == BEFORE) {
                    bench.register("type");
                }
                ingest(session, i, i + 20);
            }
        }
        return bench;
    }

    private static List<String> find(LogBench bench, LogQuery query) {
        List<String> found = new ArrayList<>();
        try (LogCursor cursor = bench.log.find(query)) {
            while (cursor.next()) {
                found.add(new String(
                        cursor.segment()
                                .asSlice(cursor.offset(), cursor.length())
                                .toArray(ValueLayout.JAVA_BYTE),
                        StandardCharsets.UTF_8));
            }
        }
        return found;
    }

    private static List<String> expected(int type) {
        return IntStream.iterate(COUNT - 1, i -> i >= 0, i -> i - 1)
                .filter(i -> i % 3 == type)
                .mapToObj(HistoryTest::event)
                .toList();
    }

    private static void index(LogBench bench) {
        try (HistoryIndexing indexing = bench.log.indexHistory("type")) {
            indexing.await();
            assertThat(indexing.isDone()).isTrue();
        }
    }

    private static long scanned(LogBench bench) {
        try (LogCursor cursor = bench.log.find(LogQuery.property("type", "t1"))) {
            while (cursor.next()) {
                assertThat(cursor.length()).isPositive();
            }
            return cursor.scannedCount();
        }
    }

    private static void checkAnswers(LogBench bench, String as) {
        for (int type = 0; type < 3; type++) {
            LogQuery query = LogQuery.property("type", "t" + type);
            assertThat(find(bench, query)).as(as).isEqualTo(expected(type));
        }
        assertThat(find(bench, LogQuery.property("type", "t9"))).as(as).isEmpty();
    }

    @Test
    void what_came_before_a_psf_is_found_without_looking_at_the_rest() {
        SimDisk disk = LogBench.disk(SEED);
        try (LogBench bench = filled(disk)) {
            assertThat(scanned(bench)).isGreaterThanOrEqualTo(BEFORE);
            index(bench);
            checkAnswers(bench, "indexed");
            assertThat(scanned(bench)).isZero();
            LogQuery query = LogQuery.property("type", "t1").where("id < 700");
            assertThat(find(bench, query)).hasSize(233);
            assertThat(find(bench, query.limit(3))).isEqualTo(find(bench, query).subList(0, 3));
            RegisteredPsf psf = bench.log.psfs().getFirst();
            assertThat(psf.gaps(bench.log.log().begin(), bench.log.log().safeTail()))
                    .isEmpty();
            index(bench); // nothing is left
            assertThat(bench.log.psfs().getFirst()).isEqualTo(psf);
            assertThat(bench.meters
                            .scope("log", "test")
                            .counter("hashlog.history.records")
                            .sum())
                    .isEqualTo(BEFORE);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            checkAnswers(bench, "reopened");
            assertThat(scanned(bench)).isZero();
        }
        assertThat(disk.openHandleCount()).isZero();
    }

    @Test
    void a_long_history_becomes_several_runs_by_bytes_and_by_entries() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            HistoryIndexing.Bounds bounds = new HistoryIndexing.Bounds(100_000, 301);
            try (HistoryIndexing indexing = bench.log.history().index(bench.log, "type", bounds)) {
                indexing.await();
                assertThat(indexing.indexedBytes()).isPositive();
            }
            List<HistoryRun> runs = bench.log.psfs().getFirst().runs();
            assertThat(runs).hasSizeBetween(5, 9);
            for (int i = 1; i < runs.size(); i++) {
                assertThat(runs.get(i).from()).isEqualTo(runs.get(i - 1).to());
            }
            assertThat(scanned(bench)).isZero();
            checkAnswers(bench, "several");
        }
    }

    @Test
    void ranges_within_a_run_cut_exactly() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            index(bench);
            List<Long> addresses = new ArrayList<>();
            LogQuery query = LogQuery.property("type", "t2");
            try (LogCursor cursor = bench.log.find(query)) {
                while (cursor.next()) {
                    addresses.add(cursor.address());
                }
            }
            List<String> all = expected(2);
            SplittableRandom random = new SplittableRandom(SEED);
            for (int i = 0; i < 50; i++) {
                int last = random.nextInt(all.size());
                int first = random.nextInt(last + 1);
                assertThat(find(
                                bench,
                                query.between(addresses.get(last), addresses.get(first) + 1)))
                        .isEqualTo(all.subList(first, last + 1));
            }
        }
    }

    @Test
    void several_workers_find_what_one_finds() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            index(bench);
            ConcurrentLinkedQueue<Integer> lengths = new ConcurrentLinkedQueue<>();
            bench.log.findInParallel(
                    LogQuery.property("type", "t1"),
                    3,
                    () -> (address, segment, offset, length) -> lengths.add(length));
            assertThat(lengths).hasSameSizeAs(expected(1));
        }
    }

    @Test
    void deleted_and_truncated_records_are_not_shown() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            index(bench);
            LogQuery query = LogQuery.property("type", "t0");
            List<String> left = new ArrayList<>(expected(0));
            try (LogCursor cursor = bench.log.find(query)) {
                for (int i = 0; i < 300; i++) {
                    assertThat(cursor.next()).isTrue();
                }
                assertThat(cursor.delete()).isTrue();
                left.remove(299);
                for (int i = 0; i < 100; i++) {
                    assertThat(cursor.next()).isTrue();
                }
                bench.log.truncate(cursor.address());
            }
            assertThat(find(bench, query)).isEqualTo(left.subList(0, 399));
        }
    }

    @Test
    void a_subscription_that_starts_in_history_misses_nothing() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            index(bench);
            List<Integer> lengths = new ArrayList<>();
            try (LogSubscription subscription =
                    bench.log.subscribe(LogQuery.property("type", "t1"), false)) {
                while (subscription.backlogBytes() > 0) {
                    subscription.poll(
                            (address, segment, offset, length) -> lengths.add(length), 1_000);
                }
            }
            assertThat(lengths.reversed())
                    .isEqualTo(expected(1).stream().map(String::length).toList());
        }
    }

    @Test
    void runs_below_the_logs_begin_go_while_it_is_open() {
        SimDisk disk = LogBench.disk(SEED);
        try (LogBench bench = filled(disk)) {
            try (HistoryIndexing indexing = bench.log
                    .history()
                    .index(bench.log, "type", new HistoryIndexing.Bounds(40_000, 1_000))) {
                indexing.await();
            }
            List<HistoryRun> runs = bench.log.psfs().getFirst().runs();
            assertThat(runs).hasSizeGreaterThan(3);
            LogQuery query = LogQuery.property("type", "t0");
            try (LogCursor late = bench.log.find(query)) {
                assertThat(late.next()).isTrue();
                bench.log.truncate(runs.getLast().from());
                bench.tasks.await(() -> bench.log.psfs().getFirst().runs().size() == 1);
                while (late.next()) {
                    assertThat(late.length()).isPositive();
                }
                assertThat(late.isTruncated()).isTrue();
            }
            bench.tasks.await(() -> runFiles(disk) == 1);
            List<String> left = find(bench, query);
            assertThat(left).isEqualTo(expected(0).subList(0, left.size())).hasSizeGreaterThan(160);
            assertThat(bench.meters
                            .scope("log", "test")
                            .counter("hashlog.history.dropped")
                            .sum())
                    .isEqualTo(runs.size() - 1);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            assertThat(bench.log.psfs().getFirst().runs()).hasSize(1);
        }
    }

    @Test
    void a_run_that_is_damaged_while_the_log_is_open_is_scanned_past_dropped_and_made_again() {
        for (int damage = 0; damage < 4; damage++) {
            SimDisk disk = LogBench.disk(SEED);
            try (LogBench bench = filled(disk)) {
                index(bench);
                HistoryRun run = bench.log.psfs().getFirst().runs().getFirst();
                String file = "log/%08x.run".formatted(run.number());
                if (damage == 3) {
                    disk.delete(file);
                } else {
                    // the envelope, the first block of entries, every block of them
                    for (long at = damage * 4_096L + 80;
                            at < disk.content(file).length - 64;
                            at += 4_096) {
                        disk.flipBit(file, at, 3);
                        if (damage < 2) {
                            break;
                        }
                    }
                }
                checkAnswers(bench, "damage " + damage);
                assertThat(find(bench, LogQuery.property("type", "t1").where("id < 700")))
                        .hasSize(233);
                bench.tasks.await(() -> bench.log.psfs().getFirst().runs().isEmpty());
                assertThat(bench.events.recent())
                        .anyMatch(event ->
                                event instanceof StoreEvent.Failed(var _, String what, var _)
                                        && what.contains("index the history again"));
                checkAnswers(bench, "dropped");
                index(bench);
                assertThat(scanned(bench)).isZero();
                checkAnswers(bench, "made again");
            }
        }
    }

    @Test
    void a_run_whose_damage_lies_behind_what_it_has_shown_shows_no_record_twice() {
        SimDisk disk = LogBench.disk(SEED);
        try (LogBench bench = filled(disk)) {
            index(bench);
            HistoryRun run = bench.log.psfs().getFirst().runs().getFirst();
            String file = "log/%08x.run".formatted(run.number());
            for (int type = 0; type < 3; type++) {
                LogQuery query = LogQuery.property("type", "t" + type);
                List<String> found = new ArrayList<>();
                try (LogCursor cursor = bench.log.find(query)) {
                    while (found.size() < 250 && cursor.next()) {
                        found.add(LogState.text(cursor));
                    }
                    for (long at = 4_096 + 80; at < disk.content(file).length - 64; at += 4_096) {
                        disk.flipBit(file, at, 3);
                    }
                    while (cursor.next()) {
                        found.add(LogState.text(cursor));
                    }
                    for (long at = 4_096 + 80; at < disk.content(file).length - 64; at += 4_096) {
                        disk.flipBit(file, at, 3);
                    }
                }
                assertThat(found).isEqualTo(expected(type));
            }
        }
    }

    private static long runFiles(SimDisk disk) {
        return disk.list("log").stream().filter(name -> name.contains(".run")).count();
    }

    @Test
    void a_removed_psf_is_indexed_to_the_end_and_its_runs_serve_the_next_of_its_kind() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            bench.log.deregister(0);
            try (IngestSession session = bench.log.openSession("s2")) {
                ingest(session, COUNT, COUNT + 40);
            }
            index(bench);
            bench.register("type");
            assertThat(scanned(bench)).isZero();
            assertThat(find(bench, LogQuery.property("type", "t1"))).hasSize(680);
        }
    }

    @Test
    void what_cannot_be_indexed_is_refused() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            assertThatThrownBy(() -> bench.log.indexHistory("nobody"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("no PSF 'nobody'");
            try (HistoryIndexing first = bench.log.indexHistory("type")) {
                assertThatThrownBy(() -> bench.log.indexHistory("type"))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("being indexed");
                first.await();
            }
        }
        try (LogBench memory = LogBench.simulated(SEED, null, LogBench.options())) {
            memory.register("type");
            assertThatThrownBy(() -> memory.log.indexHistory("type"))
                    .isInstanceOf(InvalidRequestException.class);
        }
    }

    @Test
    void one_that_is_closed_early_keeps_what_is_done_and_gives_its_memory_back() {
        try (LogBench bench = filled(LogBench.disk(SEED))) {
            long before = bench.budget.bytesUsed();
            HistoryIndexing early = bench.log
                    .history()
                    .index(bench.log, "type", new HistoryIndexing.Bounds(40_000, 1_000));
            bench.tasks.await(() -> early.indexedBytes() > 0);
            early.close();
            assertThatThrownBy(early::await).isInstanceOf(ClosedException.class);
            assertThat(bench.budget.bytesUsed()).isEqualTo(before);
            assertThat(bench.log.psfs().getFirst().runs()).isNotEmpty();
            checkAnswers(bench, "in part");
            assertThat(scanned(bench)).isBetween(1L, (long) BEFORE);
            bench.log.indexHistory("type").await(); // and frees its memory by itself
            assertThat(bench.budget.bytesUsed()).isEqualTo(before);
            assertThat(scanned(bench)).isZero();
        }
    }

    @Test
    void a_power_cut_at_any_step_leaves_answers_right_and_no_file_behind() {
        SimDisk disk = LogBench.disk(SEED);
        SplittableRandom random = new SplittableRandom(SEED);
        List<SimDisk> images = new ArrayList<>();
        try (LogBench bench = filled(disk)) {
            bench.log.awaitDurable();
            disk.onOperation(operation -> images.add(disk.crashImage(random.nextLong())));
            index(bench);
            disk.onOperation(operation -> {});
        }
        assertThat(images).hasSizeGreaterThan(10);
        for (int i = 0; i < images.size(); i++) {
            String as = Seeds.replay("HistoryTest", SEED) + " image " + i;
            try (LogBench bench = LogBench.reopened(SEED + i, images.get(i), LogBench.options())) {
                checkAnswers(bench, as);
                List<HistoryRun> runs = bench.log.psfs().getFirst().runs();
                assertThat(images.get(i).list("log").stream().filter(name -> name.contains(".run")))
                        .as(as)
                        .hasSize(runs.size());
                index(bench);
                checkAnswers(bench, as);
                assertThat(scanned(bench)).as(as).isZero();
            }
        }
    }

    @Test
    void a_damaged_run_is_left_out_when_the_log_is_opened() {
        SimDisk disk = LogBench.disk(SEED);
        try (LogBench bench = filled(disk)) {
            index(bench);
        }
        disk.flipBit("log/00000001.run", 70, 1);
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            checkAnswers(bench, "without");
            assertThat(bench.log.psfs().getFirst().runs()).isEmpty();
            index(bench);
            assertThat(scanned(bench)).isZero();
        }
    }

    @Test
    void a_failing_disk_is_told_and_costs_nothing_but_the_run() {
        SimDisk disk = LogBench.disk(SEED);
        try (LogBench bench = filled(disk)) {
            bench.log.awaitDurable();
            disk.fault(FaultScript.with(Fault.EIO)
                    .on(OperationKind.WRITE)
                    .named(name -> name.contains(".run"))
                    .forever());
            try (HistoryIndexing indexing = bench.log.indexHistory("type")) {
                assertThatThrownBy(indexing::await).isInstanceOf(StorageException.class);
            }
            assertThat(bench.events.recent())
                    .anyMatch(event -> event instanceof StoreEvent.Failed(var _, String what, var _)
                            && what.contains("history"));
            disk.clearFaults();
            checkAnswers(bench, "failed");
            index(bench);
            assertThat(scanned(bench)).isZero();
        }
    }
}
