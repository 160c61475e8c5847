package io.turbidite.core.log;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Makes segment files, new ones and out of truncated ones.
 *
 * <p>A segment has its whole length from the begin, as a hole. What must not meet a full disk later
 * is written with zeros: that is the only way to have space that every file system keeps for us.
 *
 * <p><em>Confined to one thread at a time</em>: the keeper's worker, then the closing one; the
 * counters may be read by any thread.
 */
final class SegmentMaker {
    private static final int ZERO_BYTES = 1 << 20;

    /**
     * Zeros are made durable in such pieces: a commit's sync waits behind one of them, not behind
     * all.
     */
    private static final int ZERO_SYNC_BYTES = 4 << 20;

    private final LogEnvironment environment;
    private final Disk disk;
    private long nextNumber;

    private final LongAdder zeroBytes = new LongAdder();
    private final LongAdder createdCount = new LongAdder();
    private final LongAdder recycledCount = new LongAdder();

    SegmentMaker(LogEnvironment environment, long nextNumber) {
        this.environment = environment;
        this.disk = environment.disk();
        this.nextNumber = nextNumber;
    }

    /**
     * Makes a file of {@code bytes}, of which the first {@code spaceBytes} are written with zeros.
     *
     * @throws StorageIoException if that fails, or there is not space for all of it; nothing is
     *     left
     */
    Segment create(long bytes, long spaceBytes) {
        // A new number each time: a name whose directory sync has failed is not used again.
        long number = nextNumber++;
        String name = Segment.name(environment.directory(), number);
        if (disk.usableBytes() < bytes) {
            // Asked first, so as not to take the last space from others only to give it back.
            throw new StorageIoException(
                    StorageIoException.Kind.NO_SPACE,
                    "preallocation",
                    name,
                    "%d bytes are wanted, %d are left".formatted(bytes, disk.usableBytes()),
                    null);
        }
        DiskFile file = disk.create(name);
        Segment made = null;
        try {
            Segment.lock(disk, file);
            writeZeros(file, 0, spaceBytes, ZERO_SYNC_BYTES);
            if (spaceBytes < bytes) {
                file.truncate(bytes);
            }
            file.sync();
            disk.syncDirectory(environment.directory());
            createdCount.increment();
            made = finish(new Segment(number, file, bytes, spaceBytes));
            return made;
        } catch (StorageIoException e) {
            discard(file, List.of(name), e);
            throw e;
        } finally {
            if (made == null) {
                file.close();
            }
        }
    }

    /**
     * Makes a truncated segment into one with another number, whose first {@code spaceBytes} have
     * been written: over space that is there already, which costs a third of what new space does.
     *
     * @throws StorageIoException if that fails; the truncated one is gone then
     */
    Segment recycle(Segment old, long spaceBytes) {
        long number = nextNumber++;
        String oldName = Segment.name(environment.directory(), old.number);
        String newName = Segment.name(environment.directory(), number);
        DiskFile opened = old.file;
        Segment made = null;
        try {
            Segment.wipeHeader(old.file);
            old.close();
            disk.rename(oldName, newName);
            disk.syncDirectory(environment.directory());
            DiskFile file = disk.open(newName);
            opened = file;
            Segment.lock(disk, file);
            long space = old.spaceForNextUse();
            if (space < spaceBytes) {
                writeZeros(file, space, spaceBytes, ZERO_SYNC_BYTES);
                file.sync();
            }
            recycledCount.increment();
            made = finish(
                    new Segment(number, file, old.capacityBytes, Math.max(space, spaceBytes)));
            return made;
        } catch (StorageIoException e) {
            discard(opened, List.of(oldName, newName), e);
            throw e;
        } finally {
            if (made == null) {
                old.close();
                opened.close();
            }
        }
    }

    /**
     * Writes zeros to all of a segment that was not written before, without syncing them.
     *
     * @return the segment with its space, in place of the one given
     * @throws StorageIoException if there is not space for all of it; the segment is gone then
     */
    Segment fill(Segment sparse) {
        if (sparse.spaceBytes == sparse.capacityBytes) {
            return sparse;
        }
        try {
            long from = Math.max(sparse.spaceBytes, Segment.FIRST_FRAME_OFFSET);
            writeZeros(sparse.file, from, sparse.capacityBytes, Long.MAX_VALUE);
        } catch (StorageIoException e) {
            discard(sparse.file, List.of(Segment.name(environment.directory(), sparse.number)), e);
            throw e;
        }
        long bytes = sparse.capacityBytes;
        return new Segment(sparse.number, sparse.file, bytes, bytes);
    }

    private void writeZeros(DiskFile file, long from, long to, long syncBytes) {
        if (from >= to) {
            return;
        }
        try (Arena arena = NativeMemory.confined("zeros for the log")) {
            int chunk = (int) Math.min(to - from, ZERO_BYTES);
            MemorySegment zeros = arena.allocate(chunk, 8);
            long synced = from;
            for (long at = from; at < to; at += chunk) {
                int byteCount = (int) Math.min(chunk, to - at);
                file.write(at, zeros, 0, byteCount);
                zeroBytes.add(byteCount);
                if (at + chunk - synced >= syncBytes && at + chunk < to) {
                    file.sync();
                    synced = at + chunk;
                }
            }
        }
    }

    /**
     * The last step: a file with a sound header has its whole length, its space and its name on
     * disk, and holds no frame that is valid under this number.
     */
    private Segment finish(Segment segment) {
        segment.header(environment.storeId()).writeTo(segment.file);
        segment.file.sync();
        return segment;
    }

    /** Closes a segment that nobody will use, and deletes its file. */
    void discard(Segment unused) {
        unused.close();
        disk.delete(Segment.name(environment.directory(), unused.number));
    }

    private void discard(DiskFile file, List<String> names, StorageIoException cause) {
        try {
            file.close();
            for (String name : names) {
                if (disk.exists(name)) {
                    disk.delete(name);
                }
            }
        } catch (StorageIoException e) {
            cause.addSuppressed(e); // the next attempt, or the next opening, cleans up
        }
    }

    long zeroBytes() {
        return zeroBytes.sum();
    }

    long createdCount() {
        return createdCount.sum();
    }

    long recycledCount() {
        return recycledCount.sum();
    }
}
