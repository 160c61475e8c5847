package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.hashlog.log.LogSite;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/** Copies of a log, also such as were cut short. */
class LogCopyTest {
    private static final long SEED = Seeds.of("LogCopyTest");
    private static final int COUNT = 200;

    private static SimDisk filled() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            bench.register("type");
            try (IngestSession session = bench.log.openSession("loader")) {
                for (int i = 0; i < COUNT; i++) {
                    MemorySegment record = LogBench.segment("{\"type\":\"t%d\",\"text\":\"%s\"}"
                            .formatted(i % 3, "x".repeat(i * 37 % 900)));
                    session.append(record, 0, (int) record.byteSize());
                }
                session.awaitDurable();
            }
        }
        disk.createDirectories("feeds");
        disk.put("feeds/f.positions", "as they are".getBytes(StandardCharsets.UTF_8));
        return disk;
    }

    private static LogSite site(SimDisk disk, SimTasks tasks) {
        return new LogSite(
                "log",
                disk,
                "log",
                tasks,
                new SimClock(),
                MemoryBudget.of(640 << 20),
                new Meters(),
                new StoreEvents());
    }

    private static LogCopy.Result copy(SimDisk from, SimDisk to, BooleanSupplier stopped) {
        try (SimTasks tasks = new SimTasks(SEED, new SimClock())) {
            return LogCopy.run(site(from, tasks), List.of("feeds", "missing"), to, stopped);
        }
    }

    private static LogCheck.Result check(SimDisk disk) {
        try (SimTasks tasks = new SimTasks(SEED, new SimClock())) {
            return LogCheck.run(site(disk, tasks), LogBench.options(), () -> false);
        }
    }

    @Test
    void a_copy_is_the_log() {
        SimDisk disk = filled();
        SimDisk target = new SimDisk(SEED + 1, Profile.ADVERSARIAL);
        LogCopy.Result result = copy(disk, target, () -> false);
        assertThat(result.finished()).isTrue();
        assertThat(result.files()).isEqualTo(target.files().size());
        SimDisk image = target.crashImage(SEED); // what is told as done is durable
        assertThat(check(image).errors()).isEmpty();
        assertThat(check(image).records()).isEqualTo(COUNT);
        assertThat(image.content("feeds/f.positions")).isEqualTo(disk.content("feeds/f.positions"));
        assertThatThrownBy(() -> copy(disk, target, () -> false))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("has files already");
        try (LogBench bench = LogBench.reopened(SEED, image, LogBench.options())) {
            assertThat(bench.log.recoveredSerial("loader")).isEqualTo(COUNT);
            assertThatThrownBy(() -> copy(image, new SimDisk(1, Profile.STRICT), () -> false))
                    .isInstanceOf(StoreInUseException.class);
        }
    }

    /** Stopped, cut or without space after any number of steps: no log, or the whole one. */
    @Test
    void a_copy_that_was_cut_short_is_no_log() {
        SimDisk disk = filled();
        AtomicLong asked = new AtomicLong();
        copy(disk, new SimDisk(SEED, Profile.STRICT), () -> asked.incrementAndGet() < 0);
        for (int n = 1; n <= asked.get(); n++) {
            SimDisk target = new SimDisk(SEED, Profile.ADVERSARIAL);
            AtomicLong left = new AtomicLong(n);
            assertThat(copy(disk, target, () -> left.decrementAndGet() == 0).finished())
                    .isFalse();
            assertThat(target.exists("log/HASHLOG")).isFalse();
            assertThat(target.openHandleCount()).isZero();
        }
        long bytes = disk.usedBytes();
        for (int tenth = 0; tenth < 10; tenth++) {
            SimDisk target = new SimDisk(SEED, Profile.STRICT);
            target.capacity(bytes * tenth / 10);
            assertThatThrownBy(() -> copy(disk, target, () -> false))
                    .isInstanceOf(StorageIoException.class);
            assertThat(target.exists("log/HASHLOG")).isFalse();
            assertThat(target.openHandleCount()).isZero();
        }
    }
}
