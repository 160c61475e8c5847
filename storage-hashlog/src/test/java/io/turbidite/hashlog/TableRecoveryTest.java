package io.turbidite.hashlog;

import static io.turbidite.hashlog.RecoveredLog.SEED;
import static io.turbidite.hashlog.RecoveredLog.filled;
import static io.turbidite.hashlog.RecoveredLog.ingest;
import static io.turbidite.hashlog.RecoveredLog.options;
import static io.turbidite.hashlog.RecoveredLog.stateOf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Opening a log again with tables of other sizes, folded ones, and ones that grow meanwhile; and in
 * little memory.
 */
class TableRecoveryTest {
    @Test
    void a_table_of_another_size_is_asked_for_in_vain_and_one_that_is_too_small_grows() {
        SimDisk disk = filled();
        LogState whole = stateOf(disk.copy());
        try (LogBench bench = LogBench.reopened(SEED, disk, options().withTable(12, 16 << 20))) {
            assertThat(LogState.of(bench.log)).isEqualTo(whole);
        }
        assertThatThrownBy(() -> LogBench.reopened(SEED, disk, options().withTable(6, 2_000)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("does not fit the memory budget");
        assertThat(disk.openHandleCount()).isZero();
        assertThat(stateOf(disk)).isEqualTo(whole);
    }

    @Test
    void chains_of_a_folded_table_are_found_again_without_a_checkpoint() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        // 64 buckets and no byte more: after about 700 properties tags share chains
        HashLogOptions tight = options().withTable(6, 6_300);
        LogState before;
        try (LogBench bench = LogBench.simulated(SEED, disk, tight);
                IngestSession session = bench.log.openSession("s")) {
            bench.register("n");
            bench.register("type");
            ingest(session, 2_000);
            bench.log.checkpoint();
            ingest(session, 100);
            before = LogState.of(bench.log);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, tight)) {
            checkNumbers(bench, before);
        }
        disk.delete("log/00000001.index");
        SimDisk larger = disk.copy();
        // with its own options, again and again, and going on in between
        for (int round = 0; round < 3; round++) {
            disk.files().stream().filter(name -> name.endsWith(".index")).forEach(disk::delete);
            try (LogBench bench = LogBench.reopened(SEED, disk, tight)) {
                checkNumbers(bench, before);
                assertThat(bench.log.psfs().getFirst().intervals().getFirst().from())
                        .isLessThanOrEqualTo(before.records().firstKey());
                long serial = 2_100 + 40L * round;
                try (IngestSession session =
                        bench.log.openSession("t" + round, serial, record -> {})) {
                    ingest(session, 40);
                }
                LogState.of(bench.log).checkChains(bench.log, "gone on");
                before = LogState.of(bench.log);
            }
        }
        LogState whole = stateAt(larger);
        for (int round = 0; round < 2; round++) {
            try (LogBench bench = LogBench.reopened(SEED, larger, options())) {
                checkNumbers(bench, whole);
            }
        }
    }

    private static LogState stateAt(SimDisk disk) {
        try (LogBench bench = LogBench.reopened(SEED, disk.copy(), options())) {
            return LogState.of(bench.log);
        }
    }

    @Test
    void every_cut_of_a_log_whose_table_folds_opens_with_its_own_options() {
        SimDisk disk = new SimDisk(SEED, Profile.ADVERSARIAL);
        HashLogOptions tight = options().withTable(6, 6_300);
        List<SimDisk> cuts = new ArrayList<>();
        try (LogBench bench = LogBench.simulated(SEED, disk, tight);
                IngestSession a = bench.log.openSession("s");
                IngestSession b = bench.log.openSession("b")) {
            bench.register("n");
            bench.register("type");
            disk.onOperation(step -> {
                if (step.kind() == OperationKind.SYNC) {
                    cuts.add(disk.crashImage(step.index()));
                }
            });
            for (int i = 0; i < 40; i++) {
                ingest(i % 3 == 0 ? b : a, 50);
                if (i % 10 == 9) {
                    bench.log.checkpoint();
                }
            }
        }
        disk.onOperation(step -> {});
        assertThat(cuts.size()).isGreaterThan(15);
        for (int i = 0; i < cuts.size(); i++) {
            SimDisk cut = cuts.get(i);
            for (int round = 0; round < 2; round++) {
                try (LogBench bench = LogBench.reopened(SEED, cut, tight)) {
                    LogState state = LogState.of(bench.log);
                    state.checkChains(bench.log, "cut " + i);
                    for (String record : state.records().values()) {
                        int from = record.indexOf("\"n\":") + 4;
                        String n = record.substring(from, record.indexOf(',', from));
                        if (Integer.parseInt(n) % 29 == 0) {
                            checkFound(bench.log, state, n);
                        }
                    }
                    // and all of it is found by chains
                    assertThat(bench.log
                                    .psfs()
                                    .getFirst()
                                    .intervals()
                                    .getFirst()
                                    .from())
                            .isLessThanOrEqualTo(LogBench.SHAPE.firstAddress());
                    try (IngestSession session = bench.log.openSession("c" + round)) {
                        ingest(session, 30);
                    }
                }
                cut.files().stream().filter(name -> name.endsWith(".index")).forEach(cut::delete);
            }
        }
    }

    private static void checkFound(HashLog log, LogState state, String n) {
        List<Long> expected = new ArrayList<>();
        state.records().descendingMap().forEach((address, record) -> {
            if (record.contains("\"n\":" + n + ",")) {
                expected.add(address);
            }
        });
        List<Long> found = new ArrayList<>();
        try (LogCursor cursor = log.find(LogQuery.property("n", n))) {
            while (cursor.next()) {
                found.add(cursor.address());
            }
        }
        assertThat(found).as("n = %s", n).isEqualTo(expected);
    }

    @Test
    void a_recovery_needs_no_memory_but_pages_and_table() {
        SimDisk disk = filled();
        LogState whole = stateOf(disk.copy());
        disk.delete("log/00000001.index");
        disk.delete("log/00000002.index");
        SimClock clock = new SimClock();
        // 64 buckets, twice as many while they move, and again
        HashLogOptions options = options().withTable(6, 64 << 10);
        LogSite site = new LogSite(
                "test",
                disk,
                "log",
                new SimTasks(SEED, clock),
                clock,
                MemoryBudget.of(LogBench.SHAPE.ringBytes() + options.tableBytesMax()),
                new Meters(),
                new StoreEvents());
        try (HashLog log = HashLog.open(site, options)) {
            assertThat(log.log().tail()).isEqualTo(whole.tail());
            assertThat(log.recoveredSerial("s")).isEqualTo(550);
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_log_of_a_larger_table_opens_with_a_small_one_and_looks_at_what_was_before() {
        SimDisk disk = filled();
        LogState before = stateOf(disk.copy());
        HashLogOptions tight = options().withTable(6, 6_300);
        for (int i = 0; i < 2; i++) {
            try (LogBench bench = LogBench.reopened(SEED, disk, tight);
                    IngestSession session = bench.log.openSession("t" + i)) {
                LogState state = LogState.of(bench.log);
                state.checkChains(bench.log, "small");
                for (String n : List.of("0", "77", "310", "549")) {
                    checkFound(bench.log, state, n);
                }
                assertThat(state.records()).containsAllEntriesOf(before.records());
                assertThat(bench.log.recoveredSerial("s")).isEqualTo(550);
                ingest(session, 900);
                LogState.of(bench.log).checkChains(bench.log, "small, gone on");
            }
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            LogState state = LogState.of(bench.log);
            state.checkChains(bench.log, "large again");
            checkFound(bench.log, state, "310");
        }
    }

    private static void checkNumbers(LogBench bench, LogState before) {
        LogState state = LogState.of(bench.log);
        assertThat(state.records()).isEqualTo(before.records());
        state.checkChains(bench.log, "folded");
        for (int n = 0; n < 2_100; n += 7) {
            try (LogCursor cursor = bench.log.find(LogQuery.property("n", Integer.toString(n)))) {
                assertThat(cursor.parts()).hasSizeLessThanOrEqualTo(2);
                assertThat(cursor.next()).as("record %d", n).isTrue();
                assertThat(cursor.next()).isFalse();
            }
        }
    }

    @Test
    void a_checkpoint_while_writers_go_on_and_the_table_grows_loses_nothing() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        HashLogOptions options = options().withLog(LogOptions.of(new LogShape(1 << 20, 16, 4)));
        ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
        AtomicInteger running = new AtomicInteger(2);
        int made = 0;
        SimDisk image;
        try (LogBench bench = LogBench.onThreads(disk, options);
                ThreadTasks threads = ThreadTasks.create("writers", (name, e) -> errors.add(e))) {
            bench.register("type");
            bench.register("n");
            for (String name : List.of("a", "b")) {
                AtomicBoolean done = new AtomicBoolean();
                threads.start(name, 1_000_000, () -> {
                    if (done.compareAndSet(false, true)) {
                        try (IngestSession session = bench.log.openSession(name)) {
                            for (int i = 0; i < 600; i++) {
                                ingest(session, 20);
                            }
                            session.awaitDurable();
                        } finally {
                            running.decrementAndGet();
                        }
                    }
                    return false;
                });
            }
            while (running.get() > 0 && errors.isEmpty()) {
                made += bench.log.checkpoint() >= 0 ? 1 : 0;
            }
            image = disk.crashImage(1);
        }
        assertThat(errors).isEmpty();
        assertThat(made).isPositive();
        try (LogBench bench = LogBench.reopenedOnThreads(image, options)) {
            LogState state = LogState.of(bench.log);
            assertThat(state.numbersOf("a"))
                    .isEqualTo(IntStream.range(0, 12_000).boxed().toList());
            assertThat(state.numbersOf("b")).hasSize(12_000);
            state.checkChains(bench.log, "writers");
            for (int n = 0; n < 12_000; n += 97) {
                try (LogCursor cursor =
                        bench.log.find(LogQuery.property("n", Integer.toString(n)))) {
                    assertThat(cursor.next()).isTrue();
                    assertThat(cursor.next()).isTrue();
                    assertThat(cursor.next()).isFalse();
                }
            }
        }
    }
}
