package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/** What a log does on a full disk: it says so, in bounded time, and truncation makes room. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FullDiskTest {
    private static final long SEED = Seeds.of("FullDiskTest");
    private static final long SECOND_NANOS = 1_000_000_000L;

    private static void append(IngestSession session, int count) {
        MemorySegment record = LogBench.segment("r".repeat(1_000));
        for (int i = 0; i < count; i++) {
            session.append(record, 0, 1_000);
        }
    }

    private static long seconds(LogBench bench, long sinceNanos) {
        return (bench.site.clock().monotonicNanos() - sinceNanos) / SECOND_NANOS;
    }

    @Test
    void a_session_gives_records_back_with_the_reason_and_goes_on_once_there_is_space() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            disk.capacity(60_000);
            IngestSession session = bench.log.openSession("s");
            long start = bench.site.clock().monotonicNanos();
            StorageIoException full =
                    catchThrowableOfType(StorageIoException.class, () -> append(session, 500));
            assertThat(full.kind()).isEqualTo(StorageIoException.Kind.NO_SPACE);
            assertThat(full).hasMessageContaining("the disk is full");
            assertThat(full.getCause()).hasMessageContaining("No space left");
            assertThat(seconds(bench, start)).isBetween(9L, 12L);
            long taken = session.acceptedCount();
            assertThat(session.serial()).isEqualTo(taken);

            long again = bench.site.clock().monotonicNanos();
            assertThatThrownBy(() -> append(session, 1)).isInstanceOf(StorageIoException.class);
            assertThat(seconds(bench, again)).as("known to be full").isZero();

            disk.capacity(Long.MAX_VALUE);
            append(session, 50);
            session.awaitDurable();
            assertThat(session.durableSerial()).isEqualTo(taken + 50);
            session.close();
        }
    }

    @Test
    void waiting_for_durability_ends_with_the_reason() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            IngestSession session = bench.log.openSession("s");
            append(session, 1);
            session.awaitDurable();
            disk.capacity(0);
            append(session, 20);
            assertThatThrownBy(session::awaitDurable)
                    .isInstanceOf(StorageIoException.class)
                    .hasMessageContaining("the disk is full")
                    .hasMessageContaining("in memory alone");
            assertThatThrownBy(bench.log::awaitDurable).isInstanceOf(StorageIoException.class);
            assertThatThrownBy(bench.log::checkpoint).isInstanceOf(StorageIoException.class);
            assertThat(disk.list("log")).noneMatch(file -> file.endsWith(".new"));
            disk.capacity(Long.MAX_VALUE);
            session.awaitDurable();
            assertThat(session.durableSerial()).isEqualTo(21);
            session.close();
        }
    }

    @Test
    void truncation_makes_room_on_a_full_disk_though_none_was_made_before() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            disk.capacity(200_000);
            IngestSession session = bench.log.openSession("s");
            assertThatThrownBy(() -> append(session, 500)).isInstanceOf(StorageIoException.class);
            assertThat(disk.usedBytes()).isGreaterThan(150_000);
            bench.log.truncate(bench.log.log().durable());
            append(session, 20);
            bench.log.truncate(bench.log.log().durable()); // the ring had more than was freed
            session.awaitDurable();
            assertThat(bench.log.log().begin()).isGreaterThan(100_000);
            session.close();
        }
    }

    /**
     * A registry that may not be on disk is written again by an opening; without room for that, the
     * log can still be truncated, and takes no record before.
     */
    @Test
    void a_log_whose_registry_was_not_synced_is_opened_and_truncated_on_a_full_disk() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            append(session, 200);
            session.awaitDurable();
            disk.fault(
                    FaultScript.with(Fault.EIO).on(OperationKind.SYNC_DIRECTORY).forever());
            assertThatThrownBy(() -> bench.register("type"))
                    .isInstanceOf(StoreFailedException.class);
        }
        disk.clearFaults();
        disk.processDied();
        disk.capacity(disk.usedBytes());
        try (LogBench bench = LogBench.reopened(SEED, disk, LogBench.options())) {
            assertThat(bench.log.psfs()).hasSize(1);
            StorageIoException full = catchThrowableOfType(
                    StorageIoException.class, () -> bench.log.openSession("s"));
            assertThat(full.kind()).isEqualTo(StorageIoException.Kind.NO_SPACE);
            bench.log.truncate(bench.log.log().durable());
            bench.run(1_000_000);
            try (IngestSession session = bench.log.openSession("s")) {
                append(session, 20);
                session.awaitDurable();
                SimDisk cut = disk.crashImage(1, Profile.STRICT);
                try (LogBench again = LogBench.reopened(SEED, cut, LogBench.options())) {
                    assertThat(again.log.psfs()).hasSize(1);
                }
            }
        }
    }

    @Test
    void waits_that_are_ended_end_within_two_seconds() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        LogBench bench = LogBench.onThreads(disk, LogBench.options());
        IngestSession session = bench.log.openSession("s");
        append(session, 1);
        session.awaitDurable();
        disk.capacity(0);
        AtomicReference<Throwable> ended = new AtomicReference<>();
        AtomicBoolean begun = new AtomicBoolean();
        Tasks.Worker writer = bench.tasks.start("writer", 1_000_000, () -> {
            if (ended.get() == null) {
                begun.set(true);
                try {
                    append(session, 500);
                } catch (StorageIoException e) {
                    ended.set(e);
                }
            }
            return false;
        });
        bench.tasks.await(begun::get);
        long start = bench.site.clock().monotonicNanos();
        bench.log.endWaitsWithin(500_000);
        bench.tasks.await(() -> ended.get() != null);
        assertThat(ended.get()).isInstanceOf(StorageIoException.class);
        writer.close();
        assertThatThrownBy(session::close).isInstanceOf(StorageIoException.class);
        assertThatThrownBy(bench::close)
                .isInstanceOf(StoreFailedException.class)
                .hasMessageContaining("are lost");
        assertThat(seconds(bench, start)).isLessThan(3L);
        bench.tasks.close();
    }
}
