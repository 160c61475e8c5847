package io.turbidite.hashlog.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.epoch.Epochs;
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
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogBench;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.List;

/** Pages turn, memory is bounded, the slow are waited for and told about, the old goes. */
@Param(name = "words", gen = IntGen.class, conf = "1:1800")
public class HybridLogTest {
    private static final long SEED = Seeds.of("HybridLogTest");
    private static final LogShape SHAPE = LogBench.SHAPE;

    /** Lincheck makes one object after the other and closes none. */
    private static @Nullable HybridLogTest previous;

    private final SimClock clock = new SimClock();
    private final HybridLog turning;

    public HybridLogTest() {
        LogShape shape = new LogShape(16 << 10, 32, 1);
        LogSite site = new LogSite(
                "lincheck",
                null,
                "log",
                new SimTasks(1, clock),
                clock,
                MemoryBudget.of(2 << 20),
                new Meters(),
                new StoreEvents());
        turning = HybridLog.open(
                site, LogOptions.of(shape), LogStart.fresh(1, shape), Epochs.create(8, clock));
        synchronized (HybridLogTest.class) {
            if (previous != null) {
                previous.turning.close();
            }
            previous = this;
        }
    }

    @AfterEach
    void close_the_last() {
        synchronized (HybridLogTest.class) {
            if (previous != null) {
                previous.turning.close();
            }
            previous = null;
        }
    }

    /**
     * Appends a record of so many words over page turns; true if nobody else has any of its space.
     */
    @Operation
    public boolean append(@Param(name = "words") int words) {
        int byteCount = words * 8;
        try (LogSession session = turning.openSession("s" + words)) {
            session.begin();
            long address = session.allocate(byteCount);
            while (address < 0) {
                while (!turning.pages().turn(~address)) {
                    Thread.onSpinWait();
                }
                address = session.allocate(byteCount);
            }
            boolean alone = turning.safeTail() <= address;
            MemorySegment memory = turning.memory();
            long place = turning.place(address);
            for (int i = 0; i < words; i++) {
                alone &= (long) RecordHeader.WORDS.getAndSet(memory, place + i * 8L, -1L) == 0;
            }
            RecordHeader.storeRelease(
                    memory, place, RecordHeader.of(byteCount - 8, 0, 0) | RecordHeader.VISIBLE);
            session.published(address + byteCount);
            session.end();
            return alone;
        }
    }

    /** Whether everything below the safe tail is a line of whole records and fillers. */
    @Operation
    public boolean isWhole() {
        LogShape shape = turning.shape();
        long end = turning.safeTail();
        long at = shape.firstAddress();
        while (at < end) {
            long word = RecordHeader.loadAcquire(turning.memory(), turning.place(at));
            if (!RecordHeader.isVisible(word)) {
                return false;
            }
            at += RecordHeader.recordBytes(word);
            if (shape.offsetOf(at) == 0) {
                at = shape.firstRecordOf(shape.pageOf(at));
            }
        }
        return at == end || shape.offsetOf(end) == 0;
    }

    @Test
    void pages_turn_under_many_writers_and_the_safe_tail_is_safe() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(5)
                .invocationsPerIteration(Tier.count(12, 60, 2_000))
                .threads(3)
                .actorsPerThread(5)
                .sequentialSpecification(Model.class)
                .check(HybridLogTest.class);
    }

    /** All is well, always. */
    public static final class Model {
        public boolean append(int words) {
            return words > 0;
        }

        public boolean isWhole() {
            return true;
        }
    }

    private static void append(IngestSession session, int count, int bytes) {
        MemorySegment record = LogBench.segment("r".repeat(bytes));
        for (int i = 0; i < count; i++) {
            session.append(record, 0, bytes);
        }
    }

    @Test
    void a_device_slower_than_ingestion_is_waited_for_and_counted() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            append(session, 500, 1_000);
            assertThat(session.acceptedCount()).isEqualTo(500);
            assertThat(bench.meters
                            .scope("log", "test")
                            .counter("hashlog.ingest.stalls")
                            .sum())
                    .isPositive();
            assertThat(bench.budget.bytesUsed()).isLessThan(2 << 20);
        }
    }

    @Test
    void a_full_disk_stops_ingestion_until_there_is_space() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            disk.capacity(60_000);
            bench.tasks.start("space", 3_000_000, new Tasks.Step() {
                private int calls;

                @Override
                public boolean run() {
                    if (++calls == 2) {
                        disk.capacity(Long.MAX_VALUE);
                    }
                    return false;
                }
            });
            try (IngestSession session = bench.log.openSession("s")) {
                append(session, 500, 1_000);
                session.awaitDurable();
                assertThat(session.durableSerial()).isEqualTo(500);
            }
            assertThat(bench.events.recent())
                    .hasAtLeastOneElementOfType(StoreEvent.SpaceChanged.class)
                    .anyMatch(e -> e instanceof StoreEvent.Stalled stalled
                            && stalled.cause().equals("device"));
        }
    }

    @Test
    void a_session_waits_for_a_page_no_longer_than_it_may_and_goes_on_later() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        LogOptions impatient = LogOptions.of(SHAPE).withStalls(1_000_000, 5_000_000);
        try (LogBench bench =
                LogBench.simulated(SEED, disk, LogBench.options().withLog(impatient))) {
            disk.capacity(60_000);
            try (IngestSession session = bench.log.openSession("s")) {
                assertThatThrownBy(() -> append(session, 500, 1_000))
                        .isInstanceOf(StorageIoException.class)
                        .hasMessageContaining("hand it in again");
                long taken = session.serial();
                assertThat(taken).isEqualTo(session.acceptedCount()).isLessThan(200);
                disk.capacity(Long.MAX_VALUE);
                append(session, 100, 1_000);
                session.awaitDurable();
                assertThat(session.durableSerial()).isEqualTo(taken + 100);
            }
        }
    }

    @Test
    void closing_on_a_full_disk_says_what_is_lost_and_frees_everything() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
        try (IngestSession session = bench.log.openSession("s")) {
            append(session, 5, 1_000);
            disk.capacity(10);
        }
        assertThatThrownBy(bench::close)
                .isInstanceOf(StoreFailedException.class)
                .hasMessageContaining("full disk");
        assertThat(bench.budget.bytesUsed()).isZero();
        assertThat(disk.openHandles()).isEqualTo(List.of());
    }

    @Test
    void a_failed_sync_fails_the_log_with_the_first_cause_and_reads_go_on() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            IngestSession session = bench.log.openSession("s");
            append(session, 10, 1_000);
            session.awaitDurable();
            long durable = session.durableSerial();
            disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.SYNC));
            append(session, 10, 1_000);
            assertThatThrownBy(session::awaitDurable)
                    .isInstanceOf(StoreFailedException.class)
                    .hasMessageContaining("reopen");
            disk.clearFaults();
            assertThatThrownBy(() -> append(session, 1, 10))
                    .isInstanceOf(StoreFailedException.class);
            assertThat(session.durableSerial()).isEqualTo(durable);
            session.close();
            try (LogReader reader = bench.log.openReader("r")) {
                reader.protect();
                LogScan scan = new LogScan(reader);
                scan.start(bench.log.log().begin(), Long.MAX_VALUE);
                assertThat(scan.next()).isTrue();
            }
        }
    }

    @Test
    void a_reader_that_never_refreshes_is_named_and_ingestion_goes_on_when_it_does() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options());
                LogReader reader = bench.log.openReader("sleepy")) {
            reader.protect();
            bench.tasks.start("waker", 5_000_000, new Tasks.Step() {
                private int calls;

                @Override
                public boolean run() {
                    if (++calls == 2) {
                        reader.unprotect();
                    }
                    return false;
                }
            });
            try (IngestSession session = bench.log.openSession("s")) {
                append(session, 500, 1_000);
                assertThat(session.acceptedCount()).isEqualTo(500);
            }
            assertThat(bench.events.recent())
                    .anyMatch(e -> e instanceof StoreEvent.Stalled stalled
                            && stalled.cause().equals("session sleepy"));
        }
    }

    @Test
    void the_oldest_segments_go_by_size_by_age_and_on_request() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        LogOptions kept = LogOptions.of(SHAPE).withRetention(400_000, 60_000_000);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options().withLog(kept))) {
            HybridLog log = bench.log.log();
            try (IngestSession session = bench.log.openSession("s")) {
                append(session, 1_000, 1_000);
                session.awaitDurable();
                runFor(bench, 200_000);
                assertThat(log.tail() - log.begin()).isBetween(400_000L, 480_000L);
                assertThat(disk.files()).doesNotContain("log/00000000.pages");
                runFor(bench, 70_000_000);
                assertThat(log.tail() - log.begin()).isLessThan(SHAPE.ringBytes() + 70_000);
                append(session, 200, 1_000);
                session.awaitDurable();
            }
            long begin = log.begin();
            log.truncate(log.durable());
            assertThat(log.begin()).isGreaterThan(begin).isEqualTo(log.durable());
            try (LogReader reader = bench.log.openReader("late")) {
                reader.protect();
                assertThatThrownBy(() -> reader.headerAt(SHAPE.firstAddress()))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("is gone");
            }
        }
    }

    private static final long TEN_YEARS_MICROS = 3_652L * 86_400 * 1_000_000;

    private static void jump(LogBench bench) {
        ((SimClock) bench.site.clock()).jumpWallMicros(TEN_YEARS_MICROS);
    }

    @Test
    void a_clock_that_jumps_forward_drops_nothing_by_age() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        LogOptions kept = LogOptions.of(SHAPE).withRetention(Long.MAX_VALUE, 60_000_000);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options().withLog(kept))) {
            HybridLog log = bench.log.log();
            try (IngestSession session = bench.log.openSession("s")) {
                append(session, 1_000, 1_000);
                session.awaitDurable();
                runFor(bench, 1_000_000);
                long begin = log.begin();
                jump(bench);
                runFor(bench, 1_000_000);
                assertThat(log.begin()).isEqualTo(begin);
                // records that the same clock dates confirm nothing
                append(session, 300, 1_000);
                session.awaitDurable();
                runFor(bench, 1_000_000);
                assertThat(log.begin()).isEqualTo(begin);
                assertThat(bench.events.recent())
                        .filteredOn(StoreEvent.RetentionHeldBack.class::isInstance)
                        .hasSize(1);
                runFor(bench, 70_000_000);
                assertThat(log.begin()).isGreaterThan(begin);
                assertThat(log.tail() - log.begin()).isGreaterThan(300_000);
            }
        }
    }

    @Test
    void a_log_that_is_opened_with_a_clock_far_ahead_keeps_what_it_has() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        LogOptions kept = LogOptions.of(SHAPE).withRetention(Long.MAX_VALUE, 60_000_000);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options().withLog(kept));
                IngestSession session = bench.log.openSession("s")) {
            append(session, 1_000, 1_000);
        }
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options().withLog(kept))) {
            HybridLog log = bench.log.log();
            long begin = log.begin();
            jump(bench);
            try (IngestSession session = bench.log.openSession("s")) {
                append(session, 300, 1_000);
                session.awaitDurable();
            }
            runFor(bench, 1_000_000);
            assertThat(log.begin()).isEqualTo(begin);
            runFor(bench, 70_000_000);
            assertThat(log.begin()).isGreaterThan(begin);
        }
    }

    private static void runFor(LogBench bench, long micros) {
        ((SimTasks) bench.tasks).runForMicros(micros);
    }

    @Test
    void arrival_times_are_kept_by_page() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            HybridLog log = bench.log.log();
            long start = log.site().clock().wallMicros();
            try (IngestSession session = bench.log.openSession("s")) {
                for (int i = 0; i < 20; i++) {
                    append(session, 15, 1_000);
                    runFor(bench, 1_000_000);
                }
            }
            try (LogReader reader = bench.log.openReader("r")) {
                reader.protect();
                long last = start;
                for (long page = 0; page <= SHAPE.pageOf(log.safeTail() - 1); page++) {
                    PageHeader header = reader.pageHeader(page);
                    assertThat(header.firstArrivalMicros()).isGreaterThanOrEqualTo(last);
                    assertThat(header.lastArrivalMicros())
                            .isGreaterThanOrEqualTo(header.firstArrivalMicros());
                    last = header.lastArrivalMicros();
                }
                assertThat(last - start).isGreaterThan(19_000_000);
            }
        }
    }

    @Test
    void a_ring_that_does_not_fit_the_budget_is_refused_and_nothing_is_kept() {
        MemoryBudget small = MemoryBudget.of(100_000);
        LogSite site = new LogSite(
                "small",
                null,
                "log",
                new SimTasks(SEED, clock),
                clock,
                small,
                new Meters(),
                new StoreEvents());
        assertThatThrownBy(() -> HybridLog.open(
                        site,
                        LogOptions.of(SHAPE),
                        LogStart.fresh(1, SHAPE),
                        Epochs.create(1, clock)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("budget");
        assertThat(small.bytesUsed()).isZero();
    }

    @Test
    void readers_come_and_go_and_leave_nothing_in_the_budget() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            try (IngestSession session = bench.log.openSession("s")) {
                append(session, 300, 1_000);
            }
            int accounts = bench.budget.accounts().size();
            long used = bench.budget.bytesUsed();
            for (int i = 0; i < 100; i++) {
                try (LogReader reader = bench.log.openReader("reader " + i)) {
                    reader.protect();
                    reader.seekRecord(bench.log.log().begin());
                    assertThat(bench.budget.bytesUsed()).isGreaterThan(used);
                }
            }
            assertThat(bench.budget.accounts()).hasSize(accounts);
            assertThat(bench.budget.bytesUsed()).isEqualTo(used);
        }
    }

    @Test
    void a_closed_log_gives_back_all_memory_and_files() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        MemoryBudget budget;
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            budget = bench.budget;
            try (IngestSession session = bench.log.openSession("s")) {
                append(session, 300, 1_000);
            }
            try (LogReader reader = bench.log.openReader("r")) {
                reader.protect();
                reader.seekRecord(bench.log.log().begin());
            }
        }
        assertThat(budget.bytesUsed()).as("%s", budget).isZero();
        assertThat(disk.openHandles()).isEqualTo(List.of());
    }
}
