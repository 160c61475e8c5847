package io.turbidite.pm.region;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.MappedRange;
import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Memory in equal extents: ranges of a mapped file, or memory without one.
 *
 * <p><em>Thread-safe</em> as {@link RegionMemory} says. Growth adds extents and moves none. A file
 * is written in full, and synced, before it is mapped: a store into a hole of a full disk would be
 * a signal. A mapped range is copied and asked for single words, nothing else.
 *
 * <p>The processor's write-back is reached by forcing a synchronous mapping, and each forced range
 * has a fence of its own. So {@link #fence()} has nothing left to do but to keep the compiler from
 * moving stores.
 */
public final class SegmentMemory implements RegionMemory {
    /** Extents are a power of two between these. */
    public static final int EXTENT_BYTES_MIN = 1 << 16;

    public static final int EXTENT_BYTES_MAX = 1 << 30;

    /** Where memory without a file lies. */
    private static final String MEMORY = "memory";

    private static final int FILL_BYTES = 1 << 16;

    /** Of a file that is made to find out what the machine has. */
    static final int PROBE_BYTES = 4_096;

    private static final VarHandle WORD =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final String name;
    private final String place;
    private final RegionMode mode;
    private final int extentShift;
    private final long offsetMask;
    private final @Nullable DiskFile file;
    private final List<MappedRange> ranges = new ArrayList<>();
    private final List<Arena> arenas = new ArrayList<>();
    private volatile MemorySegment[] extents = {};
    private volatile boolean closed;

    private SegmentMemory(
            String name, String place, RegionMode mode, int extentBytes, @Nullable DiskFile file) {
        this.name = name;
        this.place = place;
        this.mode = mode;
        this.extentShift = Integer.numberOfTrailingZeros(extentBytes);
        this.offsetMask = extentBytes - 1L;
        this.file = file;
    }

    /** Memory without a file, zeroed; it grows from nothing. */
    public static SegmentMemory inMemory(String name, int extentBytes) {
        checkExtent(extentBytes);
        return new SegmentMemory(name, MEMORY, RegionMode.VOLATILE, extentBytes, null);
    }

    /**
     * Makes a file of one extent and maps it; it is locked until it is closed.
     *
     * @param mode {@link RegionMode#DAX} or {@link RegionMode#FILE}
     * @return null if the machine, or the file's place, has not this mode; a file that was made is
     *     gone again
     * @throws StorageIoException of kind NO_SPACE if there is no room for the first extent; of kind
     *     ALREADY_EXISTS if something has the name
     */
    public static @Nullable SegmentMemory create(
            Disk disk, String name, int extentBytes, RegionMode mode) {
        checkExtent(extentBytes);
        requireFileMode(mode);
        DiskFile file = disk.create(name);
        SegmentMemory made = null;
        try {
            RegionFile.lock(file);
            made = of(disk, file, extentBytes, mode);
            return made;
        } finally {
            if (made == null) {
                disk.delete(name);
            }
        }
    }

    /**
     * Maps the file of a region that is there; it is locked until it is closed.
     *
     * @param mode {@link RegionMode#DAX} or {@link RegionMode#FILE}
     * @return null if the machine, or the file's place, has not this mode
     * @throws CorruptionException if it is not that region's; it is not changed then
     * @throws StorageIoException if somebody else has it open
     */
    public static @Nullable SegmentMemory open(
            Disk disk, String name, int extentBytes, RegionMode mode, RegionSpec spec) {
        checkExtent(extentBytes);
        requireFileMode(mode);
        return of(
                disk,
                RegionFile.open(disk, name, spec.storeId(), spec.indexId()),
                extentBytes,
                mode);
    }

    /**
     * Maps a file of a directory that has no other user; one that is not there is made. Whose it is
     * is not asked.
     *
     * @return as {@link #create}
     */
    public static @Nullable SegmentMemory map(
            Disk disk, String name, int extentBytes, RegionMode mode) {
        if (!disk.exists(name)) {
            return create(disk, name, extentBytes, mode);
        }
        checkExtent(extentBytes);
        requireFileMode(mode);
        return of(disk, disk.open(name), extentBytes, mode);
    }

    private static void requireFileMode(RegionMode mode) {
        if (mode == RegionMode.VOLATILE) {
            throw new InvalidRequestException("a volatile region has no file");
        }
    }

    /** Owns the file; closes it if it is not mapped. */
    private static @Nullable SegmentMemory of(
            Disk disk, DiskFile file, int extentBytes, RegionMode mode) {
        String name = file.name();
        SegmentMemory memory = new SegmentMemory(name, disk.description(), mode, extentBytes, file);
        boolean done = false;
        try {
            int whole = (int) (file.size() / extentBytes);
            // what is behind the last whole extent is of a growth that was cut: nothing is there
            if (file.size() > (long) whole * extentBytes) {
                file.truncate((long) whole * extentBytes);
            }
            if (whole == 0 && !memory.fill(file, 1)) {
                throw new StorageIoException(
                        StorageIoException.Kind.NO_SPACE,
                        "growth",
                        name,
                        "there is no room for the first %d bytes of a region"
                                .formatted(extentBytes),
                        null);
            }
            done = memory.mapFrom(0, Math.max(1, whole));
            return done ? memory : null;
        } finally {
            if (!done) {
                memory.close();
            }
        }
    }

    /**
     * A copy of a file, in memory: what is done to it is done to no file.
     *
     * @param mode what the file's region is of, which says how it is checked
     * @throws InvalidRequestException if there is no memory for it
     */
    public static SegmentMemory copyOf(Disk disk, String name, int extentBytes, RegionMode mode) {
        checkExtent(extentBytes);
        SegmentMemory memory = new SegmentMemory(name, MEMORY, mode, extentBytes, null);
        boolean done = false;
        try (DiskFile file = RegionFile.openReadOnly(disk, name)) {
            long size = file.size() / extentBytes * extentBytes; // behind it a growth was cut
            if (!memory.grow(size)) {
                throw new InvalidRequestException(
                        "%s has %d bytes, more than there is memory".formatted(name, size));
            }
            for (int i = 0; i < memory.extents.length; i++) {
                long from = (long) i << memory.extentShift;
                int count = file.read(from, memory.extents[i], 0, extentBytes);
                if (count < extentBytes) {
                    throw new CorruptionException(
                            name, from + count, "bytes", String.valueOf(size), "fewer");
                }
            }
            done = true;
            return memory;
        } finally {
            if (!done) {
                memory.close();
            }
        }
    }

    /**
     * The best mode that the machine has for files of a directory: {@link RegionMode#DAX}, else
     * {@link RegionMode#FILE}, else {@link RegionMode#VOLATILE}. A file of one page is made to find
     * out, locked, and deleted.
     *
     * @param probe a name that no file has
     * @throws StorageIoException of kind ALREADY_EXISTS if one has: it is left
     */
    public static RegionMode bestMode(Disk disk, String probe) {
        DiskFile made = disk.create(probe);
        try (Cleanup _ = new Cleanup().add(() -> disk.delete(probe));
                DiskFile file = made) {
            RegionFile.lock(file);
            file.write(0, MemorySegment.ofArray(new byte[PROBE_BYTES]), 0, PROBE_BYTES);
            return maps(file, PROBE_BYTES, true)
                    ? RegionMode.DAX
                    : maps(file, PROBE_BYTES, false) ? RegionMode.FILE : RegionMode.VOLATILE;
        }
    }

    private static boolean maps(DiskFile file, int bytes, boolean synchronous) {
        try (MappedRange range = file.mapRange(0, bytes, synchronous)) {
            return range != null;
        }
    }

    private static void checkExtent(int extentBytes) {
        if (extentBytes < EXTENT_BYTES_MIN
                || extentBytes > EXTENT_BYTES_MAX
                || Integer.bitCount(extentBytes) != 1) {
            throw new InvalidRequestException(
                    "an extent must have a power of two bytes from %d to %d, not %d"
                            .formatted(EXTENT_BYTES_MIN, EXTENT_BYTES_MAX, extentBytes));
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String place() {
        return place;
    }

    @Override
    public RegionMode mode() {
        return mode;
    }

    @Override
    public long byteSize() {
        return (long) extents.length << extentShift;
    }

    @Override
    public long getLong(long offset) {
        try {
            return (long) WORD.getAcquire(extent(offset), offset & offsetMask);
        } catch (IllegalStateException | InternalError e) {
            throw failure("read", e);
        }
    }

    @Override
    public void putLong(long offset, long value) {
        try {
            WORD.setRelease(extent(offset), offset & offsetMask, value);
        } catch (IllegalStateException | InternalError e) {
            throw failure("write", e);
        }
    }

    @Override
    public boolean compareAndSwap(long offset, long expected, long value) {
        try {
            return WORD.compareAndSet(extent(offset), offset & offsetMask, expected, value);
        } catch (IllegalStateException | InternalError e) {
            throw failure("write", e);
        }
    }

    @Override
    public void getBytes(long offset, MemorySegment target, long targetOffset, int byteCount) {
        MemorySegment from = extent(offset);
        try {
            MemorySegment.copy(from, offset & offsetMask, target, targetOffset, byteCount);
        } catch (IllegalStateException | InternalError e) {
            throw failure("read", e);
        }
    }

    @Override
    public void putBytes(long offset, MemorySegment source, long sourceOffset, int byteCount) {
        assert (offset & 7) == 0 : offset;
        MemorySegment to = extent(offset);
        try {
            MemorySegment.copy(source, sourceOffset, to, offset & offsetMask, byteCount);
        } catch (IllegalStateException | InternalError e) {
            throw failure("write", e);
        }
    }

    private MemorySegment extent(long offset) {
        MemorySegment[] current = extents;
        long index = offset >>> extentShift;
        if (index >= current.length) {
            if (closed) {
                throw new ClosedException("the region " + name);
            }
            throw new IndexOutOfBoundsException(
                    "offset %d of the region %s".formatted(offset, name));
        }
        return current[(int) index];
    }

    private StorageException failure(String operation, Throwable cause) {
        if (closed) {
            return new ClosedException("the region " + name);
        }
        if (cause instanceof IllegalStateException notOurs) {
            throw notOurs; // the caller's own segment is closed
        }
        return new StorageIoException(
                StorageIoException.Kind.IO,
                operation,
                name,
                "the mapped file was cut, or its device does not answer",
                cause);
    }

    @Override
    public void writeBack(long offset, long byteCount) {
        if (mode != RegionMode.DAX || file == null) {
            return;
        }
        long from = offset & -LINE_BYTES;
        long end = (offset + byteCount + LINE_BYTES - 1) & -LINE_BYTES;
        while (from < end) {
            int index = (int) (from >>> extentShift);
            long extentEnd = Math.min(end, (index + 1L) << extentShift);
            force(index, from & offsetMask, extentEnd - from);
            from = extentEnd;
        }
    }

    @Override
    public void fence() {
        VarHandle.fullFence();
    }

    @Override
    public void force() {
        if (file == null) {
            return;
        }
        for (int i = 0; i < extents.length; i++) {
            force(i, 0, offsetMask + 1);
        }
    }

    private void force(int index, long offset, long byteCount) {
        MappedRange range;
        synchronized (this) {
            checkOpen();
            range = ranges.get(index);
        }
        try {
            range.force(offset, byteCount);
        } catch (IllegalStateException | InternalError e) {
            throw failure("force", e);
        }
    }

    @Override
    public synchronized boolean grow(long byteCount) {
        checkOpen();
        int wanted = Math.toIntExact((byteCount + offsetMask) >>> extentShift);
        if (wanted <= extents.length) {
            return true;
        }
        return file == null
                ? allocate(wanted)
                : fill(file, wanted) && mapFrom(extents.length, wanted);
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the region " + name);
        }
    }

    private boolean allocate(int wanted) {
        int extentBytes = (int) (offsetMask + 1);
        List<MemorySegment> grown = new ArrayList<>(Arrays.asList(extents));
        while (grown.size() < wanted) {
            Arena arena = NativeMemory.shared("the region " + name);
            try {
                grown.add(NativeMemory.first(arena, extentBytes, 4_096));
            } catch (InvalidRequestException full) {
                publish(grown); // those before it are whole
                return false;
            }
            arenas.add(arena);
        }
        publish(grown);
        return true;
    }

    private boolean fill(DiskFile filled, int wanted) {
        MemorySegment zeros = MemorySegment.ofArray(new byte[FILL_BYTES]);
        long before = filled.size();
        long end = (long) wanted << extentShift;
        try {
            for (long at = before; at < end; at += FILL_BYTES) {
                filled.write(at, zeros, 0, FILL_BYTES);
            }
            filled.sync();
            return true;
        } catch (StorageIoException e) {
            filled.truncate(before);
            if (e.kind() == StorageIoException.Kind.NO_SPACE) {
                return false;
            }
            throw e;
        }
    }

    private boolean mapFrom(int first, int end) {
        List<MemorySegment> grown = new ArrayList<>(Arrays.asList(extents));
        for (int i = first; i < end; i++) {
            MappedRange range = file == null
                    ? null
                    : file.mapRange(
                            (long) i << extentShift, offsetMask + 1, mode == RegionMode.DAX);
            if (range == null) {
                publish(grown);
                return false;
            }
            ranges.add(range);
            grown.add(range.memory());
        }
        publish(grown);
        return true;
    }

    private void publish(List<MemorySegment> grown) {
        extents = grown.toArray(MemorySegment[]::new);
    }

    /** Waits until no thread is in the middle of a use. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        extents = new MemorySegment[0];
        for (MappedRange range : ranges) {
            range.close();
        }
        for (Arena arena : arenas) {
            arena.close();
        }
        if (file != null) {
            file.close();
        }
    }

    @Override
    public String toString() {
        return "SegmentMemory[%s, %s, %d bytes]".formatted(name, mode, byteSize());
    }
}
