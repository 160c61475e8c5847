package io.turbidite.hashlog.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogBench;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Cuts the power after every step of the disk; what is left must read as a prefix past the durable
 * point.
 */
class PowerCutTest {
    private static final long SEED = Seeds.of("PowerCutTest");

    private record Image(SimDisk disk, long durableSerial, long acceptedSerial) {}

    private static String text(int i) {
        return "record %d %s".formatted(i, "y".repeat((i * 37) % 1_900));
    }

    @ParameterizedTest
    @EnumSource(Profile.class)
    void what_was_reported_durable_reads_back_as_a_prefix(Profile profile) {
        SimDisk disk = new SimDisk(SEED, profile);
        List<Image> images = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(SEED);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options())) {
            IngestSession session = bench.log.openSession("s");
            disk.onOperation(step -> {
                if (step.kind() != OperationKind.READ) {
                    images.add(new Image(
                            disk.crashImage(step.index()),
                            session.durableSerial(),
                            session.serial()));
                }
            });
            for (int i = 0; i < 300; i++) {
                MemorySegment record = LogBench.segment(text(i));
                session.append(record, 0, (int) record.byteSize());
                if (random.nextInt(20) == 0) {
                    session.awaitDurable();
                }
            }
            session.close();
        }
        assertThat(images).hasSizeGreaterThan(40);
        for (Image image : images) {
            checkPrefix(image, profile);
        }
    }

    private static void checkPrefix(Image image, Profile profile) {
        if (!image.disk.exists("log/HASHLOG")) {
            assertThat(image.durableSerial).isZero();
            return;
        }
        String what = Seeds.replay("PowerCutTest", SEED) + " " + profile + " " + image;
        List<String> found = readAll(image.disk);
        assertThat(found.size()).as(what).isBetween((int) image.durableSerial, (int)
                image.acceptedSerial);
        for (int i = 0; i < found.size(); i++) {
            assertThat(found.get(i)).as(what).isEqualTo(text(i));
        }
    }

    private static List<String> readAll(SimDisk disk) {
        List<String> found = new ArrayList<>();
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(SEED, clock);
        LogSite site = new LogSite(
                "test",
                disk,
                "log",
                tasks,
                clock,
                MemoryBudget.of(64 << 20),
                new Meters(),
                new StoreEvents());
        LogStart start = LogEnd.find(site, LogBench.SHAPE, LogBench.LOG_ID, true, 0);
        Epochs epochs = Epochs.create(8, clock);
        try (HybridLog log = HybridLog.open(site, LogOptions.of(LogBench.SHAPE), start, epochs);
                LogReader reader = LogReader.open(log, "all")) {
            reader.protect();
            LogScan scan = new LogScan(reader);
            scan.start(log.begin(), log.tail());
            while (scan.next()) {
                if (RecordHeader.kind(scan.header()) == RecordHeader.RECORD) {
                    byte[] bytes = new byte[RecordHeader.payloadBytes(scan.header())];
                    MemorySegment.copy(
                            scan.segment(),
                            scan.offset() + RecordHeader.payloadOffset(scan.header()),
                            MemorySegment.ofArray(bytes),
                            0,
                            bytes.length);
                    found.add(new String(bytes, StandardCharsets.UTF_8));
                }
            }
            reader.unprotect();
        }
        return found;
    }

    @Test
    void every_flipped_bit_of_durable_bytes_is_noticed() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            for (int i = 0; i < 60; i++) {
                MemorySegment record = LogBench.segment(text(i));
                session.append(record, 0, (int) record.byteSize());
            }
            session.awaitDurable();
        }
        List<String> whole = readAll(disk.copy());
        assertThat(whole).hasSize(60);
        SplittableRandom random = new SplittableRandom(SEED);
        int noticed = 0;
        for (String name : List.of("log/00000000.pages", "log/TAIL")) {
            int size = disk.content(name).length;
            // every byte where formats are dense, samples of payload bytes
            for (int at = 0;
                    at < size;
                    at += at < 200 ? 1 : 1 + random.nextInt(name.endsWith("TAIL") ? 40 : 400)) {
                SimDisk damaged = disk.copy();
                damaged.flipBit(name, at, random.nextInt(8));
                try {
                    // a flip in padding, or in the older mark, changes nothing
                    assertThat(readAll(damaged).equals(whole))
                            .as("%s at %d", name, at)
                            .isTrue();
                } catch (CorruptionException expected) {
                    noticed++;
                }
            }
        }
        assertThat(noticed).isGreaterThan(100);
    }

    @Test
    void a_segment_of_another_log_is_refused() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            MemorySegment record = LogBench.segment("a");
            session.append(record, 0, 1);
            session.awaitDurable();
        }
        SimClock clock = new SimClock();
        LogSite site = new LogSite(
                "test",
                disk,
                "log",
                new SimTasks(SEED, clock),
                clock,
                MemoryBudget.of(64 << 20),
                new Meters(),
                new StoreEvents());
        assertThatThrownBy(() -> LogEnd.find(site, LogBench.SHAPE, 99, true, 0))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("store id");
    }
}
