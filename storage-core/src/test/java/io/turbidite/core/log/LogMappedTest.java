package io.turbidite.core.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;
import io.turbidite.core.file.MappedFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A log whose segments are mapped. */
@Timeout(60)
class LogMappedTest {
    private static final int RECORD_BYTES = 500;

    @TempDir
    Path directory;

    private WriteAheadLog open(RealDisk disk, Tasks tasks, long start, Set<Long> replayed) {
        return WriteAheadLog.open(
                new LogEnvironment(disk, "log", 1, tasks, Clock.system()),
                LogDriver.TINY
                        .withSegmentBytes(64 << 10, 8, 64, 2 << 10)
                        .withDurability(Durability.PROCESS),
                start,
                (position, payload) -> assertTrue(replayed.add(position)));
    }

    private static long append(WriteAheadLog log) {
        long sequence = log.append(Slice.of(new byte[RECORD_BYTES]));
        log.awaitDurable(sequence);
        return sequence;
    }

    /** Over many segments, new and recycled ones: what was acknowledged is in the files. */
    @Test
    void aCopyOfTheFilesHasEveryRecord() throws IOException {
        TreeSet<Long> replayed = new TreeSet<>();
        long first = 0;
        try (Tasks tasks = ThreadTasks.create("mapped");
                WriteAheadLog log = open(RealDisk.open(directory), tasks, 0, replayed)) {
            assumeTrue(RealDisk.open(directory).mapsFiles());
            for (int i = 0; i < 1_000; i++) {
                long sequence = append(log);
                if (i % 300 == 299) {
                    log.flush();
                    log.truncateBefore(sequence);
                    first = sequence;
                }
            }
            assertTrue(log.statistics().recycledCount() > 0);
            copyTo(directory.resolve("copy"));
        }
        try (Tasks tasks = ThreadTasks.create("copy");
                WriteAheadLog log =
                        open(RealDisk.open(directory.resolve("copy")), tasks, first, replayed)) {
            assertEquals(101, replayed.size());
            append(log);
        }
    }

    private void copyTo(Path target) throws IOException {
        Path log = target.resolve("log");
        Files.createDirectories(log);
        boolean isWhole = false;
        while (!isWhole) {
            for (Path file : filesIn(log)) {
                Files.delete(file);
            }
            try {
                for (Path file : filesIn(directory.resolve("log"))) {
                    Files.copy(file, log.resolve(file.getFileName()));
                }
                isWhole = true;
            } catch (NoSuchFileException renamed) {
                // the log has taken an old segment for a new one meanwhile
            }
        }
    }

    private static List<Path> filesIn(Path directory) throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.toList();
        }
    }

    /** Nobody may do that, and the JVM lives on. */
    @Test
    void aSegmentThatIsCutFailsTheLog() throws IOException {
        try (Tasks tasks = ThreadTasks.create("cut")) {
            WriteAheadLog log = open(RealDisk.open(directory), tasks, 0, new TreeSet<>());
            assumeTrue(RealDisk.open(directory).mapsFiles());
            append(log);
            try (Stream<Path> all = Files.list(directory.resolve("log"))) {
                for (Path file : all.toList()) {
                    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                        channel.truncate(0);
                    }
                }
            }
            StoreFailedException failed = assertThrows(StoreFailedException.class, () -> {
                for (int i = 0; i < 100; i++) {
                    append(log);
                }
            });
            assertInstanceOf(StorageIoException.class, failed.getCause());
            log.close();
        }
    }

    /** A segment has its space before a record is admitted, mapped or not. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFullDiskRefusesBeforeItIsMet(boolean mapped) {
        SimDisk disk = new SimDisk(3, Profile.ADVERSARIAL);
        if (!mapped) {
            disk.refuseMapping();
        }
        LogOptions options = LogDriver.TINY
                .withSegmentBytes(32 << 10, 8, 64, 2 << 10)
                .withDurability(Durability.PROCESS);
        LogDriver driver = new LogDriver(3, disk, options, new LogOracle());
        driver.resume();
        driver.append(50);
        driver.tasks().runForMicros(10_000);
        disk.capacity(disk.usedBytes());
        StorageIoException refused = assertThrows(StorageIoException.class, () -> {
            for (int i = 0; i < 1_000; i++) {
                driver.append(50);
            }
        });
        assertEquals(StorageIoException.Kind.NO_SPACE, refused.kind());
        assertEquals(mapped ? 0 : 1, driver.log().statistics().reserveUseCount());
        disk.capacity(Long.MAX_VALUE);
        driver.tasks().runForMicros(200_000);
        driver.append(50);
        driver.close();
        driver.resume();
        driver.close();
    }

    /** Power is cut at each step of a log that may not map its segments, and goes on in one. */
    @ParameterizedTest
    @EnumSource(
            value = Durability.class,
            names = {"INTERVAL", "PROCESS"})
    void aLogMovesFromAMappedDiskToAnotherAndBack(Durability durability) {
        SimDisk disk = new SimDisk(5, Profile.ADVERSARIAL);
        LogOracle oracle = new LogOracle();
        LogOptions options = LogDriver.TINY.withDurability(durability);
        for (int life = 0; life < 6; life++) {
            SimDisk place = disk.copy();
            if (life % 2 == 0) {
                place.refuseMapping();
            }
            LogDriver driver = new LogDriver(life, place, options, oracle);
            driver.resume();
            for (int i = 0; i < 200; i++) {
                driver.operate();
            }
            driver.close();
            disk = place;
        }
    }

    /** Else a file would be left behind at each try. */
    @Test
    void aSpareThatCannotBeFinishedLeavesNoFile() {
        SimDisk disk = new SimDisk(5, Profile.ADVERSARIAL);
        AtomicInteger refusals = new AtomicInteger();
        LogDriver driver = new LogDriver(
                5,
                new UnmappingDisk(disk, refusals),
                LogDriver.TINY.withDurability(Durability.PROCESS),
                new LogOracle());
        driver.resume();
        driver.append(50);
        int fileCount = disk.list("log").size();
        refusals.set(20);
        driver.log().flush();
        while (refusals.get() > 0) {
            driver.append(50);
            driver.tasks().runForMicros(200_000);
        }
        assertTrue(
                disk.list("log").size() <= fileCount + 3, () -> disk.list("log").toString());
        driver.close();
    }

    /** Maps nothing for a while. */
    private record UnmappingDisk(Disk disk, AtomicInteger refusals) implements ForwardingDisk {
        @Override
        public DiskFile wrap(DiskFile file) {
            return new UnmappingFile(file, refusals);
        }
    }

    private record UnmappingFile(DiskFile file, AtomicInteger refusals) implements ForwardingFile {
        @Override
        public @Nullable MappedFile map(long byteCount) {
            if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new StorageIoException(
                        StorageIoException.Kind.IO, "map", file.name(), "refused", null);
            }
            return file.map(byteCount);
        }
    }
}
