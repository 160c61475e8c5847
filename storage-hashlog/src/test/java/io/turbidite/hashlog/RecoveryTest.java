package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunctions;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Opening a log again: from checkpoints, from damaged ones, from none, and while the disk fails.
 */
class RecoveryTest {
    private static final long SEED = Seeds.of("RecoveryTest");

    private static HashLogOptions options() {
        return LogBench.options().withTable(6, 16 << 20);
    }

    private static void ingest(IngestSession session, int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(LogState.event(session.name(), (int) session.serial() + i))
                    .append('\n');
        }
        MemorySegment batch = LogBench.segment(text.toString());
        session.ingest(batch, 0, batch.byteSize());
    }

    /** A log with two checkpoints and something behind them. */
    private static SimDisk filled() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, options());
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            bench.register("n");
            ingest(session, 300);
            assertThat(bench.log.checkpoint()).isPositive();
            ingest(session, 200);
            assertThat(bench.log.checkpoint()).isPositive();
            ingest(session, 50);
        }
        assertThat(disk.files()).contains("log/00000001.index", "log/00000002.index");
        return disk;
    }

    private static LogState stateOf(SimDisk disk) {
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            LogState state = LogState.of(bench.log);
            state.checkChains(bench.log, "reopened");
            assertThat(bench.log.recoveredSerial("s")).isEqualTo(550);
            return state;
        }
    }

    @Test
    void a_damaged_checkpoint_falls_back_to_the_one_before_or_to_none() {
        SimDisk disk = filled();
        LogState whole = stateOf(disk.copy());
        assertThat(whole.numbersOf("s")).hasSize(550);
        for (List<String> damaged : List.of(
                List.of("log/00000002.index"),
                List.of("log/00000001.index"),
                List.of("log/00000001.index", "log/00000002.index"))) {
            SimDisk copy = disk.copy();
            damaged.forEach(name -> copy.flipBit(name, 100, 3));
            assertThat(stateOf(copy)).isEqualTo(whole);
        }
        SimDisk without = disk.copy();
        without.delete("log/00000001.index");
        without.delete("log/00000002.index");
        assertThat(stateOf(without)).isEqualTo(whole);
    }

    @Test
    void a_log_that_ends_before_what_a_checkpoint_says_is_refused_and_not_changed() {
        SimDisk disk = filled();
        LogState whole = stateOf(disk.copy());
        SimDisk later = disk.copy();
        try (LogBench bench = LogBench.reopened(SEED, later, options());
                IngestSession session = bench.log.openSession("s", 550, record -> {})) {
            ingest(session, 500);
            bench.log.checkpoint();
        }
        disk.put("log/00000003.index", later.content("log/00000003.index"));
        assertThatThrownBy(() -> stateOf(disk))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("00000003.index");
        disk.delete("log/00000003.index");
        assertThat(stateOf(disk)).isEqualTo(whole);
    }

    @Test
    void pages_that_an_earlier_life_left_behind_a_torn_one_do_not_come_back() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        List<SimDisk> cuts = new ArrayList<>();
        try (LogBench bench = LogBench.simulated(SEED, disk, options());
                IngestSession session = bench.log.openSession("s")) {
            ingest(session, 10);
            session.awaitDurable();
            ingest(session, 400); // some pages, which go to disk with one sync
            disk.onOperation(step -> {
                if (step.kind() == OperationKind.SYNC && cuts.isEmpty()) {
                    // of what was not synced all came through but a byte of the first page
                    SimDisk torn = disk.copy();
                    torn.flipBit("log/00000000.pages", 4_096 + LogBench.SHAPE.pageBytes() - 900, 1);
                    cuts.add(torn);
                }
            });
            session.awaitDurable();
        }
        assertThat(cuts).hasSize(1);
        for (SimDisk cut : cuts) {
            List<SimDisk> later = new ArrayList<>();
            LogState before;
            try (LogBench bench = LogBench.reopened(SEED, cut, options());
                    IngestSession session = bench.log.openSession("again")) {
                cut.onOperation(step -> {
                    if (step.kind() == OperationKind.WRITE) {
                        later.add(cut.crashImage(step.index()));
                    }
                });
                ingest(session, 120);
                session.awaitDurable();
                before = LogState.of(bench.log);
                cut.onOperation(step -> {});
            }
            for (SimDisk image : later) {
                try (LogBench bench = LogBench.reopened(SEED, image, options())) {
                    LogState state = LogState.of(bench.log);
                    assertThat(state.records()).isEqualTo(before.records().headMap(state.tail()));
                }
            }
        }
    }

    @Test
    void only_the_two_newest_checkpoints_stay() {
        SimDisk disk = filled();
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            bench.log.checkpoint();
            bench.log.checkpoint();
        }
        assertThat(disk.files())
                .filteredOn(name -> name.contains("index"))
                .containsExactly("log/00000003.index", "log/00000004.index");
    }

    @Test
    void checkpoints_come_by_bytes_and_by_closing() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        HashLogOptions options = options().withCheckpoints(64 << 10);
        try (LogBench bench = LogBench.simulated(SEED, disk, options);
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            for (int i = 0; i < 40; i++) {
                ingest(session, 50);
                session.awaitDurable();
                AtomicInteger polls = new AtomicInteger();
                bench.tasks.await(() -> polls.incrementAndGet() > 60);
            }
            assertThat(bench.meters
                            .scope("log", "test")
                            .counter("hashlog.checkpoint.count")
                            .sum())
                    .isGreaterThan(2);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, options)) {
            assertThat(bench.log.log().tail()).isGreaterThan(400_000);
            LogState.of(bench.log).checkChains(bench.log, "by bytes");
        }
    }

    @Test
    void begin_survives_to_the_record() {
        SimDisk disk = filled();
        long begin;
        List<Long> addresses;
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            addresses = List.copyOf(LogState.of(bench.log).records().keySet());
            begin = addresses.get(101);
            bench.log.truncate(begin + 5); // within a record, which stays
            assertThat(bench.log.log().begin()).isEqualTo(begin);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, options())) {
            assertThat(bench.log.log().begin()).isEqualTo(begin);
            assertThat(LogState.of(bench.log).records().keySet())
                    .containsExactlyElementsOf(addresses.subList(101, addresses.size()));
        }
    }

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

    @Test
    void functions_are_handed_in_again_or_missed_by_name() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        PsfFunctions functions = new PsfFunctions(
                Map.of("first", (values, fields, result) -> result.field(fields[0])));
        try (LogBench bench = LogBench.simulated(SEED, disk, options().withFunctions(functions));
                IngestSession session = bench.log.openSession("s")) {
            bench.log.register("f", PsfDefinition.parse("function(first, type, n)"));
            ingest(session, 30);
        }
        assertThatThrownBy(() -> LogBench.reopened(SEED, disk, options()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'first'")
                .hasMessageContaining("hand it in when opening the log");
        try (LogBench bench = LogBench.reopened(SEED, disk, options().withFunctions(functions));
                LogCursor cursor = bench.log.find(LogQuery.property("f", "t1"))) {
            int count = 0;
            while (cursor.next()) {
                count++;
            }
            assertThat(count).isEqualTo(10);
        }
    }

    // ---- a failing disk -------------------------------------------------------------------------

    private static FaultScript script(int call, boolean forever) {
        FaultScript script = FaultScript.with(Fault.EIO).call(call);
        return forever ? script.forever() : script;
    }

    @Test
    void each_failing_operation_of_ingestion_and_checkpoint_costs_nothing_durable() {
        int call = 1;
        for (boolean hit = true; hit; call++) {
            hit = false;
            for (boolean forever : new boolean[] {false, true}) {
                SimDisk disk = new SimDisk(SEED, Profile.STRICT);
                FaultScript script = disk.fault(script(call, forever));
                int durable = workOn(disk);
                hit |= script.hitCount() > 0;
                disk.clearFaults();
                String what = "call %d, forever %b".formatted(call, forever);
                assertThat(disk.openHandles()).as(what).isEmpty();
                SimDisk cut = disk.crashImage(call);
                if (cut.exists("log/HASHLOG")) {
                    try (LogBench bench = LogBench.reopened(SEED, cut, options())) {
                        LogState state = LogState.of(bench.log);
                        assertThat(state.numbersOf("s"))
                                .as(what)
                                .hasSizeGreaterThanOrEqualTo(durable);
                        state.checkChains(bench.log, what);
                    }
                } else {
                    assertThat(durable).as(what).isZero();
                }
            }
        }
        assertThat(call).isGreaterThan(80);
    }

    /** The durable serial; whatever fails is told as a storage exception. */
    private static int workOn(SimDisk disk) {
        int durable = 0;
        try (LogBench bench = LogBench.simulated(SEED, disk, options());
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            for (int i = 0; i < 6; i++) {
                ingest(session, 20);
                session.awaitDurable();
                durable = (int) session.durableSerial();
                bench.log.checkpoint();
            }
        } catch (StorageException expected) {
            assertThat(expected).hasMessageNotContaining("null");
        }
        return durable;
    }

    @Test
    void each_failing_operation_of_a_recovery_is_told_and_the_next_one_works() {
        SimDisk disk = filled();
        LogState whole = stateOf(disk.copy());
        int call = 1;
        for (boolean hit = true; hit; call++) {
            hit = false;
            for (boolean forever : new boolean[] {false, true}) {
                SimDisk copy = disk.copy();
                FaultScript script = copy.fault(script(call, forever));
                try (LogBench bench = LogBench.reopened(SEED, copy, options())) {
                    copy.clearFaults();
                    assertThat(LogState.of(bench.log)).isEqualTo(whole);
                } catch (StorageException expected) {
                    assertThat(expected).hasMessageNotContaining("null");
                }
                hit |= script.hitCount() > 0;
                copy.clearFaults();
                assertThat(copy.openHandles()).as("call %d", call).isEmpty();
                assertThat(stateOf(copy)).as("call %d", call).isEqualTo(whole);
            }
        }
        assertThat(call).isGreaterThan(20);
    }

    @Test
    void a_checkpoint_that_fails_is_told_and_counted_and_ingestion_goes_on() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        disk.fault(FaultScript.with(Fault.EIO)
                .on(OperationKind.WRITE, OperationKind.SYNC)
                .named(name -> name.contains("index"))
                .forever());
        try (LogBench bench = LogBench.simulated(SEED, disk, options().withCheckpoints(20_000));
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            List<StoreEvent> told = new ArrayList<>();
            bench.events.listen(told::add);
            for (int i = 0; i < 20; i++) {
                ingest(session, 20);
                session.awaitDurable();
                AtomicInteger polls = new AtomicInteger();
                bench.tasks.await(() -> polls.incrementAndGet() > 60);
            }
            assertThat(bench.meters
                            .scope("log", "test")
                            .counter("hashlog.checkpoint.failures")
                            .sum())
                    .isPositive();
            assertThat(told)
                    .anyMatch(event -> event instanceof StoreEvent.Failed(var _, String what, var _)
                            && what.equals("index checkpoint of log test"));
        }
        assertThat(disk.openHandles()).isEmpty();
    }
}
