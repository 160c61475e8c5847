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
import io.turbidite.core.sim.ForwardingTasks;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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

    /** Such a sync costs an interrupt of all processors for each page that was stored to. */
    @ParameterizedTest
    @CsvSource({"INTERVAL, 8, 500", "PROCESS, 8, 500", "INTERVAL, 1024, 1800", "PROCESS, 1024, 1800"
    })
    void noSegmentIsSyncedWhileMuchOfItIsMappedAndStoredTo(
            Durability durability, int segmentKib, int recordBytes) {
        WatchedMappings watched = new WatchedMappings();
        SimDisk disk = new SimDisk(5, Profile.ADVERSARIAL);
        LogDriver driver = new LogDriver(
                5,
                new WatchedDisk(disk, watched),
                LogDriver.TINY
                        .withSegmentBytes(segmentKib << 10, 8, 64, 2 << 10)
                        .withIntervalMicros(1_000_000)
                        .withDurability(durability),
                new LogOracle());
        driver.resume();
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 200; i++) {
                driver.append(recordBytes);
            }
            driver.log().flush();
        }
        assertEquals(Set.of(), watched.dear);
        assertTrue(watched.mapCount.get() > 5, () -> watched.mapCount + " mappings");
        driver.close();
    }

    /** A store that meets a mapping which is closed under it would fail the log. */
    @Test
    void writersGoOnWhileTheirSegmentIsMappedAnew() throws Exception {
        int writers = 3;
        int records = 4_000;
        WatchedMappings watched = new WatchedMappings();
        TreeSet<Long> replayed = new TreeSet<>();
        assumeTrue(RealDisk.open(directory).mapsFiles());
        try (Tasks tasks = ThreadTasks.create("anew");
                WriteAheadLog log = open(watched, tasks, replayed);
                ExecutorService threads = Executors.newFixedThreadPool(writers)) {
            List<Future<?>> done = new ArrayList<>();
            for (int writer = 0; writer < writers; writer++) {
                boolean flushes = writer == 0;
                done.add(threads.submit(() -> {
                    for (int i = 0; i < records; i++) {
                        append(log);
                        if (flushes && i % 400 == 399) {
                            log.flush();
                        }
                    }
                }));
            }
            for (Future<?> each : done) {
                each.get();
            }
            long made = log.statistics().createdCount() + log.statistics().recycledCount();
            assertTrue(watched.mapCount.get() > made, () -> watched.mapCount + " mappings");
            assertEquals(Set.of(), watched.torn);
        }
        try (Tasks tasks = ThreadTasks.create("again");
                WriteAheadLog _ = open(watched, tasks, replayed)) {
            assertEquals(writers * records, replayed.size());
        }
    }

    /** A sync takes as long as thousands of records, and each wake is a call of the system. */
    @Test
    void recordsWakeNobodyWhoWaitsForASync() throws Exception {
        SlowSyncs slow = new SlowSyncs();
        AtomicInteger signals = new AtomicInteger();
        try (Tasks tasks = ThreadTasks.create("woken");
                WriteAheadLog log = WriteAheadLog.open(
                        new LogEnvironment(
                                new SlowDisk(RealDisk.open(directory), slow),
                                "log",
                                1,
                                new CountingTasks(tasks, signals),
                                Clock.system()),
                        LogOptions.defaults()
                                .withSegmentBytes(2 << 20, 64, 1 << 10, 2 << 10)
                                .withDurability(Durability.PROCESS),
                        0,
                        (_, _) -> {});
                ExecutorService flusher = Executors.newSingleThreadExecutor()) {
            append(log);
            slow.holds = true;
            Future<?> flush = flusher.submit(log::flush);
            slow.begun.await();
            int before = signals.get();
            for (int i = 0; i < 500; i++) {
                append(log);
            }
            int during = signals.get() - before;
            slow.ends.countDown();
            flush.get();
            assertTrue(during < 100, () -> during + " signals");
        }
    }

    private static final class SlowSyncs {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch ends = new CountDownLatch(1);
        volatile boolean holds;
    }

    private record SlowDisk(Disk disk, SlowSyncs slow) implements ForwardingDisk {
        @Override
        public DiskFile wrap(DiskFile file) {
            return new SlowFile(file, slow);
        }
    }

    private record SlowFile(DiskFile file, SlowSyncs slow) implements ForwardingFile {
        @Override
        public @Nullable MappedFile map(long byteCount) {
            return file.map(byteCount);
        }

        @Override
        public void sync() {
            if (slow.holds) {
                slow.begun.countDown();
                try {
                    slow.ends.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            file.sync();
        }
    }

    private static final class CountingTasks extends ForwardingTasks {
        private final AtomicInteger signals;

        CountingTasks(Tasks tasks, AtomicInteger signals) {
            super(tasks);
            this.signals = signals;
        }

        @Override
        public void signal() {
            signals.incrementAndGet();
            super.signal();
        }
    }

    private WriteAheadLog open(WatchedMappings watched, Tasks tasks, Set<Long> replayed) {
        return WriteAheadLog.open(
                new LogEnvironment(
                        new WatchedDisk(RealDisk.open(directory), watched),
                        "log",
                        1,
                        tasks,
                        Clock.system()),
                LogOptions.defaults()
                        .withSegmentBytes(2 << 20, 64, 1 << 10, 2 << 10)
                        .withDurability(Durability.PROCESS),
                0,
                (position, payload) -> assertTrue(replayed.add(position)));
    }

    private static final class WatchedMappings {
        final Map<String, WatchedMapping> open = new ConcurrentHashMap<>();
        final AtomicInteger mapCount = new AtomicInteger();

        /** Names of files that were synced while the system had much to do for it. */
        final Set<String> dear = ConcurrentHashMap.newKeySet();

        /** Names of files that were unmapped in the middle of a store. */
        final Set<String> torn = ConcurrentHashMap.newKeySet();

        /** The last that was stored to. */
        volatile String current = "";
    }

    private record WatchedDisk(Disk disk, WatchedMappings watched) implements ForwardingDisk {
        @Override
        public DiskFile wrap(DiskFile file) {
            return new WatchedFile(file, watched);
        }

        @Override
        public boolean mapsFiles() {
            return disk.mapsFiles();
        }
    }

    private record WatchedFile(DiskFile file, WatchedMappings watched) implements ForwardingFile {
        @Override
        public @Nullable MappedFile map(long byteCount) {
            MappedFile inner = Objects.requireNonNull(file.map(byteCount));
            WatchedMapping mapping = new WatchedMapping(file.name(), inner, watched);
            watched.mapCount.incrementAndGet();
            watched.open.put(file.name(), mapping);
            return mapping;
        }

        @Override
        public void sync() {
            WatchedMapping mapping = watched.open.get(file.name());
            if (mapping != null
                    && (mapping.storedBytes.get() >= SegmentKeeper.RENEWED_BYTES_MIN
                            || !file.name().equals(watched.current))) {
                watched.dear.add(file.name());
            }
            file.sync();
        }
    }

    private static final class WatchedMapping implements MappedFile {
        private final String name;
        private final MappedFile inner;
        private final WatchedMappings watched;
        final AtomicLong storedBytes = new AtomicLong();
        volatile boolean isStoredTo;

        WatchedMapping(String name, MappedFile inner, WatchedMappings watched) {
            this.name = name;
            this.inner = inner;
            this.watched = watched;
        }

        @Override
        @SuppressWarnings("ThreadPriorityCheck")
        public void write(long fileOffset, MemorySegment source, long sourceOffset, int bytes) {
            watched.current = name;
            storedBytes.addAndGet(bytes);
            isStoredTo = true;
            Thread.yield(); // the time in which a store may meet a close
            inner.write(fileOffset, source, sourceOffset, bytes);
            isStoredTo = false;
        }

        @Override
        public void close() {
            if (isStoredTo) {
                watched.torn.add(name);
            }
            var _ = watched.open.remove(name, this);
            inner.close();
        }
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
