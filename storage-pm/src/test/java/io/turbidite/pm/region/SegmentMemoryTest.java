package io.turbidite.pm.region;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.pm.sim.SimMemory;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Memory of the machine: in a file, and without one. */
class SegmentMemoryTest {
    private static final int EXTENT = SegmentMemory.EXTENT_BYTES_MIN;

    @TempDir
    Path directory;

    private RealDisk disk;

    @BeforeEach
    void open() {
        disk = RealDisk.open(directory);
        assumeTrue(disk.mapsFiles(), "a file system that is not mapped");
    }

    private SegmentMemory memory(RegionMode mode) {
        return mode == RegionMode.VOLATILE
                ? SegmentMemory.inMemory("test", EXTENT)
                : Objects.requireNonNull(SegmentMemory.map(disk, "region", EXTENT, mode));
    }

    /** What has its name is somebody else's. */
    @Test
    void aProbeIsAFileThatWasNotThere() {
        disk.create("probe").close();
        StorageIoException e =
                assertThrows(StorageIoException.class, () -> SegmentMemory.bestMode(disk, "probe"));
        assertEquals(StorageIoException.Kind.ALREADY_EXISTS, e.kind());
        assertTrue(disk.exists("probe"));
    }

    /** A killed process leaves it empty or with a page of zeros. */
    @Test
    void whatIsSweptIsAProbeAndNothingElse() throws IOException {
        disk.create("empty").close();
        Files.write(directory.resolve("zeros"), new byte[4_096]);
        Files.write(directory.resolve("mine"), new byte[] {0, 0, 1});
        Files.write(directory.resolve("long"), new byte[4_097]);
        Files.write(directory.resolve("linked"), new byte[0]);
        Files.createLink(directory.resolve("other"), directory.resolve("linked"));
        Files.createDirectory(directory.resolve("directory"));
        try (FileChannel used = FileChannel.open(
                directory.resolve("used"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            var _ = used.lock();
            for (String name : disk.list("")) {
                if (name.equals("used")) {
                    assertThrows(StorageIoException.class, () -> RegionFile.sweep(disk, name));
                } else {
                    RegionFile.sweep(disk, name);
                }
            }
        }
        assertEquals(
                List.of("directory", "linked", "long", "mine", "other", "used"), disk.list(""));
    }

    /** It was told as a region that had reached its limit. */
    @Test
    void aGrowthThatFindsNoRoomNamesTheDirectory() {
        SimMemory small = SimMemory.create(RegionMode.DAX, 4 * Pages.CHUNK_BYTES);
        RegionSpec spec = new RegionSpec(1, 2, 512, 64L * Pages.CHUNK_BYTES);
        Region region = Region.create(small, spec, Epochs.create(1, new SimClock()));
        StorageIoException e = assertThrows(StorageIoException.class, () -> {
            for (int i = 0; i < 100_000; i++) {
                var _ = region.pages().allocate(512);
            }
        });
        assertEquals(StorageIoException.Kind.NO_SPACE, e.kind());
        assertTrue(String.valueOf(e.getMessage()).contains(small.place() + " is full"));
        try (SegmentMemory memory = memory(RegionMode.FILE)) {
            assertEquals(disk.description(), memory.place());
        }
    }

    /** It was told as a mode that the machine lacks. */
    @Test
    void aFullDiskIsToldAsSuchAndNoFileIsLeft() {
        SimDisk full = new SimDisk(1, Profile.STRICT);
        full.fault(FaultScript.with(Fault.ENOSPC).on(OperationKind.WRITE).forever());
        StorageIoException e = assertThrows(
                StorageIoException.class,
                () -> SegmentMemory.map(full, "region", EXTENT, RegionMode.FILE));
        assertEquals(StorageIoException.Kind.NO_SPACE, e.kind());
        String said = String.valueOf(e.getMessage());
        assertTrue(said.contains("no room for the first 65536 bytes"), said);
        assertFalse(full.exists("region"));
        full.clearFaults();
        assertNull(SegmentMemory.map(full, "region", EXTENT, RegionMode.FILE), "never mapped");
        assertFalse(full.exists("region"));
    }

    @ParameterizedTest
    @EnumSource(names = {"FILE", "VOLATILE"})
    void wordsAndBytesAreReadAsTheyWereStored(RegionMode mode) {
        try (SegmentMemory memory = memory(mode)) {
            assertEquals(mode, memory.mode());
            assertEquals(mode == RegionMode.FILE ? EXTENT : 0, memory.byteSize());
            assertTrue(memory.grow(EXTENT + 1));
            assertEquals(2 * EXTENT, memory.byteSize());
            assertEquals(0, memory.getLong(EXTENT + 8));
            memory.putLong(EXTENT + 8, 0x0102030405060708L);
            byte[] read = new byte[3];
            memory.getBytes(EXTENT + 9, MemorySegment.ofArray(read), 0, 3);
            assertArrayEquals(new byte[] {7, 6, 5}, read, "little-endian");
            memory.putBytes(16, MemorySegment.ofArray(new byte[] {9, 9, 1, 2}), 2, 2);
            assertEquals(0x0201, memory.getLong(16));
            assertFalse(memory.compareAndSwap(16, 7, 8));
            assertTrue(memory.compareAndSwap(16, 0x0201, 8));
            assertEquals(8, memory.getLong(16));
            assertTrue(memory.grow(4 * EXTENT));
            assertEquals(8, memory.getLong(16), "what was there stays");
            memory.writeBack(0, 3 * EXTENT);
            memory.fence();
            memory.force();
            assertThrows(IndexOutOfBoundsException.class, () -> memory.getLong(memory.byteSize()));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FILE", "VOLATILE"})
    void nothingIsTouchedAfterTheClose(RegionMode mode) {
        SegmentMemory memory = memory(mode);
        assertTrue(memory.grow(EXTENT));
        memory.close();
        memory.close();
        MemorySegment bytes = MemorySegment.ofArray(new byte[8]);
        assertThrows(ClosedException.class, () -> memory.getLong(0));
        assertThrows(ClosedException.class, () -> memory.putLong(0, 1));
        assertThrows(ClosedException.class, () -> memory.compareAndSwap(0, 0, 1));
        assertThrows(ClosedException.class, () -> memory.getBytes(0, bytes, 0, 8));
        assertThrows(ClosedException.class, () -> memory.putBytes(0, bytes, 0, 8));
        assertThrows(ClosedException.class, () -> memory.grow(EXTENT));
    }

    @Test
    void aFileKeepsWhatWasStored() throws IOException {
        try (SegmentMemory memory = memory(RegionMode.FILE)) {
            assertTrue(memory.grow(2 * EXTENT));
            memory.putLong(EXTENT, 5);
        }
        assertEquals(2 * EXTENT, Files.size(directory.resolve("region")));
        try (SegmentMemory memory = memory(RegionMode.FILE)) {
            assertEquals(2 * EXTENT, memory.byteSize());
            assertEquals(5, memory.getLong(EXTENT));
        }
    }

    /** Another process may cut it. The JVM lives on, and says which file it was. */
    @Test
    void aFaultIsATypedError() throws IOException {
        try (SegmentMemory memory = memory(RegionMode.FILE)) {
            assertTrue(memory.grow(EXTENT));
            try (FileChannel other =
                    FileChannel.open(directory.resolve("region"), StandardOpenOption.WRITE)) {
                assertEquals(0, other.truncate(0).size());
            }
            MemorySegment bytes = MemorySegment.ofArray(new byte[512]);
            assertThrows(StorageIoException.class, () -> memory.getBytes(4_096, bytes, 0, 512));
            assertThrows(StorageIoException.class, () -> memory.putBytes(4_096, bytes, 0, 512));
            StorageIoException fault = assertThrows(
                    StorageIoException.class, () -> memory.getBytes(8_192, bytes, 0, 8));
            assertEquals("region", fault.file());
            assertIsFault(() -> memory.getLong(8_192));
            assertIsFault(() -> memory.putLong(8_192, 1));
        }
    }

    /** Of a single word the JVM may tell some instructions later, when the call has returned. */
    private static void assertIsFault(Executable access) {
        Throwable fault = assertThrows(Throwable.class, access);
        assertTrue(fault instanceof StorageIoException || fault instanceof InternalError);
    }

    /** A file grows by whole extents; power may go in the middle of one. */
    @Test
    void aGrowthThatWasCutIsNotThere() throws IOException {
        try (SegmentMemory memory = memory(RegionMode.FILE)) {
            assertTrue(memory.grow(2 * EXTENT));
            memory.putLong(EXTENT, 5);
        }
        byte[] more = new byte[1_000];
        Arrays.fill(more, (byte) 7);
        Files.write(directory.resolve("region"), more, StandardOpenOption.APPEND);
        try (SegmentMemory copy = SegmentMemory.copyOf(disk, "region", EXTENT, RegionMode.FILE)) {
            assertEquals(2 * EXTENT, copy.byteSize());
            assertEquals(5, copy.getLong(EXTENT));
        }
        assertEquals(2 * EXTENT + 1_000, Files.size(directory.resolve("region")));
        try (SegmentMemory memory = memory(RegionMode.FILE)) {
            assertEquals(2 * EXTENT, memory.byteSize());
            assertEquals(5, memory.getLong(EXTENT));
            assertTrue(memory.grow(3 * EXTENT));
            assertEquals(0, memory.getLong(2 * EXTENT));
        }
    }

    @Test
    void anExtentOfAnotherLengthIsRefused() {
        assertThrows(InvalidRequestException.class, () -> SegmentMemory.inMemory("x", 1_000));
    }

    /** The machine says which modes it has; persistent memory is where both agree. */
    @Test
    void theProbeLeavesNothing() {
        RegionMode best = SegmentMemory.bestMode(disk, "probe");
        assertFalse(disk.exists("probe"));
        if (best == RegionMode.DAX) {
            try (SegmentMemory memory = memory(RegionMode.DAX)) {
                assertTrue(memory.grow(EXTENT));
                memory.putLong(64, 1);
                memory.writeBack(64, 8);
                memory.fence();
                assertEquals(1, memory.getLong(64));
            }
        } else {
            assertEquals(RegionMode.FILE, best);
            try (SegmentMemory none = SegmentMemory.map(disk, "region", EXTENT, RegionMode.DAX)) {
                assertNull(none);
            }
            assertFalse(disk.exists("region"));
        }
    }
}
