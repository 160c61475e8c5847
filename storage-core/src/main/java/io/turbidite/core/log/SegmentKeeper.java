package io.turbidite.core.log;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps the segment files: prepares the next one ahead, syncs where the writer does not, drops what is
 * not needed any more.
 *
 * <p><em>Admission.</em> A record is admitted only when preallocated space for it exists. Claims that are
 * not yet written need at most {@link LogOptions#inFlightBytesMax} bytes, so the gate is open while the
 * current segment has that much left or a spare segment (which holds that much) is ready. The writer
 * shuts the gate before it frees slots; a claim looks at the gate after it has its slot. Hence all claims
 * that saw it open were in flight together with the room that was there then.
 *
 * <p><em>Thread-safe.</em> The monitor guards the list and the spare, for list work only. {@code turn} is
 * held for work on files of the list: one sync at a time, so that a failed one can't be followed by
 * another that succeeds on the pages it dropped, and none of a file that is being deleted.
 */
final class SegmentKeeper implements AutoCloseable {
    private static final int ZERO_BYTES = 1 << 20;

    /** Zeros are made durable in such pieces: a commit's sync waits behind one of them, not behind all. */
    private static final int ZERO_SYNC_BYTES = 4 << 20;

    /** What a flush of 128 MiB of write memory frees at once, and the log grows by until the next. */
    private static final int RECYCLABLE_COUNT_MAX = 4;

    /** Time before a failed preparation is tried again. */
    private static final long RETRY_NANOS = 100_000_000;

    private final LogSite site;
    private final LogOptions options;
    private final long inFlightBytesMax;
    private final LogProgress progress;
    private final Disk disk;
    private final Clock clock;
    private final ReentrantLock turn = new ReentrantLock();

    /** In use, oldest first; guarded by the monitor. */
    private final ArrayDeque<Segment> kept = new ArrayDeque<>();

    /** Truncated and not yet recycled; guarded by the monitor. */
    private final ArrayDeque<Segment> recyclable = new ArrayDeque<>();

    private volatile @Nullable Segment spare;
    private volatile @Nullable Segment current;
    private volatile boolean retrying;
    private volatile long retryAtNanos;
    private volatile long syncRequested;

    /** Whether a claim waits, or has waited, for room. */
    private volatile boolean isAwaited;

    /** Records below are not needed any more; guarded by {@link #turn}. */
    private long truncatedBefore;

    private final LongAdder syncCount = new LongAdder();
    private final LongAdder preparedCount = new LongAdder();
    private final LongAdder recycledCount = new LongAdder();
    private long nextNumber;
    private long lastSyncNanos;

    SegmentKeeper(LogSite site, LogOptions options, LogProgress progress, RecoveredLog recovered) {
        this.site = site;
        this.options = options;
        this.inFlightBytesMax = options.inFlightBytesMax();
        this.progress = progress;
        this.disk = site.disk();
        this.clock = site.clock();
        this.kept.addAll(recovered.segments());
        this.spare = recovered.spare();
        this.nextNumber = recovered.nextNumber();
        this.lastSyncNanos = clock.monotonicNanos();
        Segment last = kept.peekLast();
        this.current = last;
        progress.setRoomy(
                spare != null || (last != null && last.remainingBytes() >= inFlightBytesMax));
    }

    /** The worker's step: prepare, sync. */
    boolean step() {
        if (progress.failed()) {
            return false;
        }
        if (wantsSpare()) {
            prepareSpare();
        }
        if (options.durability() != Durability.SYNC && syncIsDue()) {
            syncAll();
        }
        return false;
    }

    /**
     * Whether the next segment should be prepared now: a quarter is used of what the current one can take
     * before the gate shuts. Behind the small one of a clean close not before somebody claims: most such
     * sessions only read.
     */
    boolean wantsSpare() {
        if (spare != null || (retrying && clock.monotonicNanos() < retryAtNanos)) {
            return false;
        }
        Segment last = current;
        if (last != null && last.capacityBytes == Segment.CLOSING_BYTES) {
            return isAwaited;
        }
        return last == null
                || last.remainingBytes() - inFlightBytesMax
                        < (last.capacityBytes - inFlightBytesMax) / 4 * 3;
    }

    /** A claim is about to wait for room. */
    void roomIsAwaited() {
        isAwaited = true;
    }

    /** The writer is short of room: without a spare, nothing more may be admitted. */
    void shutGateWithoutSpare() {
        if (spare == null) {
            synchronized (this) {
                if (spare == null) {
                    progress.setRoomy(false);
                }
            }
        }
    }

    /** The segment that the writer is about to move to; admission has seen to it that there is one. */
    Segment spare(long firstSequence) {
        Segment segment = spare;
        if (segment == null) {
            throw new IllegalStateException("no log segment is ready for record " + firstSequence);
        }
        return segment;
    }

    /** The writer moves on to the spare. */
    synchronized void takeSpare(Segment segment, long firstSequence) {
        segment.firstSequence = firstSequence;
        kept.addLast(segment);
        current = segment;
        spare = null;
    }

    private void prepareSpare() {
        try {
            Segment segment = makeSpare();
            synchronized (this) {
                spare = segment;
                retrying = false;
                progress.setRoomy(true);
            }
        } catch (StorageIoException e) {
            // Not a failure of the log: nothing was in that file. Claims are refused with the
            // reason
            // once the room is used up, and this is tried again with a new file.
            retryAtNanos = clock.monotonicNanos() + RETRY_NANOS;
            retrying = true;
            progress.refuse(e);
        } catch (RuntimeException | Error e) {
            progress.fail(e);
        }
    }

    private Segment makeSpare() {
        Segment old;
        synchronized (this) {
            old = recyclable.pollFirst();
        }
        // A new number each time: a name whose directory sync has failed is not used again.
        long number = nextNumber++;
        return old == null ? create(number, options.segmentBytes()) : recycle(old, number);
    }

    private Segment create(long number, long bytes) {
        String name = Segment.name(site.directory(), number);
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
        try (Arena arena = NativeMemory.confined("a new log segment")) {
            // By writing, never by sparse growth: only so a later write can't meet a full disk.
            int chunk = (int) Math.min(bytes, ZERO_BYTES);
            MemorySegment zeros = arena.allocate(chunk, 8);
            long synced = 0;
            for (long at = 0; at < bytes; at += chunk) {
                file.write(at, zeros, 0, (int) Math.min(chunk, bytes - at));
                if (at + chunk - synced >= ZERO_SYNC_BYTES && at + chunk < bytes) {
                    file.sync();
                    synced = at + chunk;
                }
            }
            file.sync();
            disk.syncDirectory(site.directory());
            writeHeader(file, number, bytes);
        } catch (StorageIoException e) {
            discard(file, List.of(name), e);
            throw e;
        }
        preparedCount.increment();
        return new Segment(number, file, bytes);
    }

    /**
     * Makes a truncated segment the spare: writing over allocated space costs a third of writing zeros
     * first.
     */
    private Segment recycle(Segment old, long number) {
        String oldName = Segment.name(site.directory(), old.number);
        String newName = Segment.name(site.directory(), number);
        DiskFile opened = old.file;
        try {
            Segment.wipeHeader(old.file);
            old.file.close();
            disk.rename(oldName, newName);
            disk.syncDirectory(site.directory());
            DiskFile file = disk.open(newName);
            opened = file;
            writeHeader(file, number, old.capacityBytes);
            recycledCount.increment();
            return new Segment(number, file, old.capacityBytes);
        } catch (StorageIoException e) {
            discard(opened, List.of(oldName, newName), e);
            throw e;
        }
    }

    /**
     * The last step of a preparation: a file with a sound header has its whole length and its name on
     * disk, and holds no frame that is valid under this number.
     */
    private void writeHeader(DiskFile file, long number, long bytes) {
        Segment.header(site.storeId(), number, bytes).writeTo(file);
        file.sync();
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

    /** Asks for a sync of everything below {@code sequence}, which has been written. */
    void requestSync(long sequence) {
        synchronized (this) {
            syncRequested = Math.max(syncRequested, sequence);
        }
    }

    private boolean syncIsDue() {
        long durable = progress.durable();
        if (progress.written() <= durable) {
            return false;
        }
        if (syncRequested > durable) {
            return true;
        }
        return options.durability() == Durability.INTERVAL
                && clock.monotonicNanos() - lastSyncNanos >= options.intervalMicros() * 1_000;
    }

    /** Syncs everything written so far; a failure fails the log. */
    void syncAll() {
        turn.lock();
        try {
            if (progress.failed()) {
                return;
            }
            long covered = progress.written();
            for (Segment segment : snapshot()) {
                if (segment.needsSync()) {
                    segment.sync();
                    syncCount.increment();
                }
            }
            progress.advanceDurable(covered);
            lastSyncNanos = clock.monotonicNanos();
        } catch (RuntimeException | Error e) {
            progress.fail(e);
        } finally {
            turn.unlock();
        }
    }

    /** Deletes, or keeps for recycling, what lies wholly below {@code position}. */
    void truncateBefore(long position) {
        turn.lock();
        try {
            truncatedBefore = Math.max(truncatedBefore, position);
            boolean deleted = false;
            Segment doomed = oldestBelow(position);
            while (doomed != null) {
                if (!keepForRecycling(doomed)) {
                    Segment.wipeHeader(doomed.file);
                    disk.delete(Segment.name(site.directory(), doomed.number));
                    deleted = true;
                    forget(doomed);
                    doomed.file.close();
                }
                doomed = oldestBelow(position);
            }
            if (deleted) {
                disk.syncDirectory(site.directory());
            }
        } finally {
            retryAtNanos = clock.monotonicNanos(); // there may be space now
            turn.unlock();
        }
    }

    /**
     * Prepares a small segment as the spare, if no record below {@code next} is needed and there is a large
     * one to get rid of. Called when both workers have stopped.
     *
     * @return whether the log should be sealed in it; false too if it can't be made: the seal then goes
     *     where the records are
     */
    boolean prepareClosing(long next) {
        Segment last = current;
        if (truncatedBefore < next || last == null || last.capacityBytes == Segment.CLOSING_BYTES) {
            return false;
        }
        try {
            // the old spare first: the log goes on in the next file that there is
            deleteSpareAndRecyclable();
            Segment closing = create(nextNumber++, Segment.CLOSING_BYTES);
            synchronized (this) {
                spare = closing;
            }
            return true;
        } catch (StorageIoException noRoom) {
            return false;
        }
    }

    /**
     * Deletes the files that hold nothing: an idle store should not take the room of a busy one. To be
     * called when the seal is durable. What fails to be deleted is left to the next opening.
     */
    void deleteUnused() {
        truncateBefore(truncatedBefore);
        deleteSpareAndRecyclable();
    }

    private void deleteSpareAndRecyclable() {
        List<Segment> unused = new ArrayList<>();
        synchronized (this) {
            unused.addAll(recyclable);
            recyclable.clear();
            Segment prepared = spare;
            if (prepared != null) {
                unused.add(prepared);
                spare = null;
            }
        }
        try {
            for (Segment segment : unused) {
                Segment.wipeHeader(segment.file);
                disk.delete(Segment.name(site.directory(), segment.number));
            }
        } finally {
            unused.forEach(segment -> segment.file.close());
        }
        if (!unused.isEmpty()) {
            disk.syncDirectory(site.directory());
        }
    }

    private synchronized @Nullable Segment oldestBelow(long position) {
        if (kept.size() < 2) {
            return null;
        }
        Segment[] inOrder = kept.toArray(Segment[]::new);
        // The next one's first frame must be durable: it is what tells recovery where the log
        // begins.
        boolean nextIsKnown = inOrder[1].syncedBytes > Segment.FIRST_FRAME_OFFSET;
        return nextIsKnown && inOrder[1].firstSequence <= position ? inOrder[0] : null;
    }

    private synchronized boolean keepForRecycling(Segment segment) {
        if (recyclable.size() == RECYCLABLE_COUNT_MAX
                || segment.capacityBytes != options.segmentBytes()) {
            return false;
        }
        kept.remove(segment);
        recyclable.addLast(segment);
        return true;
    }

    private synchronized void forget(Segment segment) {
        kept.remove(segment);
    }

    private synchronized List<Segment> snapshot() {
        return new ArrayList<>(kept);
    }

    /** Bytes of frames that are kept. */
    long bytes() {
        long bytes = 0;
        for (Segment segment : snapshot()) {
            bytes += segment.usedBytes - Segment.FIRST_FRAME_OFFSET;
        }
        return bytes;
    }

    long syncCount() {
        return syncCount.sum();
    }

    long preparedCount() {
        return preparedCount.sum();
    }

    long recycledCount() {
        return recycledCount.sum();
    }

    @Override
    public synchronized void close() {
        for (Segment segment : kept) {
            segment.file.close();
        }
        kept.clear();
        if (spare != null) {
            spare.file.close();
        }
        for (Segment segment : recyclable) {
            segment.file.close();
        }
        recyclable.clear();
    }
}
