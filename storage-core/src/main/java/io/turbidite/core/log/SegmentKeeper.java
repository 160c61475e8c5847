package io.turbidite.core.log;

import io.turbidite.core.Cleanup;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.MappedFile;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps the segment files: prepares the next one ahead, syncs where the writer does not, drops what
 * is not needed any more.
 *
 * <p><em>Admission.</em> A record is admitted only when space for it exists. Claims that are not
 * yet written need at most {@link LogOptions#inFlightBytesMax} bytes, and what the writer has
 * framed already {@link LogOptions#batchBytesMax} more. Claims are admitted while the current
 * segment has room for that or a spare segment (which holds it) is ready, <em>and</em> there is a
 * reserve: a segment whose space has been written, in which the writer goes on if a full disk
 * refuses what it appends. The writer ends admission before it frees slots; a claim asks for it
 * after it has its slot. Hence all claims that were admitted were in flight together with the room
 * that was there then.
 *
 * <p><em>The reserve.</em> Where the log {@link LogOptions#writesAhead writes ahead}, each segment
 * is written with zeros before it is used; the spare is the reserve then. Otherwise segments grow,
 * and a segment of its own is written with zeros, as large as what may be in flight. It is used
 * when an append meets a full disk, and only then.
 *
 * <p><em>Thread-safe.</em> The monitor guards the list and the spare, for list work only.
 * {@code turn} is held for work on files of the list: one sync at a time, so that a failed one
 * can't be followed by another that succeeds on the pages it dropped, and none of a file that is
 * being deleted.
 */
final class SegmentKeeper implements AutoCloseable {
    /**
     * What a flush of 128 MiB of write memory frees at once, and the log grows by until the next.
     */
    private static final int RECYCLABLE_COUNT_MAX = 4;

    /** Time before a failed preparation is tried again. */
    private static final long RETRY_NANOS = 100_000_000;

    /** From so much on it is cheaper to map a segment anew than to sync it while it is mapped. */
    static final long RENEWED_BYTES_MIN = 256 << 10;

    private final LogEnvironment environment;
    private final LogOptions options;
    private final long inFlightBytesMax;
    private final LogProgress progress;
    private final Disk disk;
    private final Clock clock;
    private final SegmentMaker maker;
    private final boolean isSync;
    private final boolean isMapped;
    private final boolean writesAhead;
    private final ReentrantLock turn = new ReentrantLock();

    /** Held by the writer as long as it writes; never taken under {@link #turn}. */
    private final ReentrantLock writing;

    /** In use, oldest first; guarded by the monitor. */
    private final ArrayDeque<Segment> kept = new ArrayDeque<>();

    /** Truncated and not yet recycled; guarded by the monitor. */
    private final ArrayDeque<Segment> recyclable = new ArrayDeque<>();

    private volatile @Nullable Segment spare;

    /** Not where the log writes ahead. */
    private volatile @Nullable Segment ownReserve;

    private volatile @Nullable Segment current;
    private volatile boolean retrying;
    private volatile long retryAtNanos;
    private volatile long syncRequested;

    /** Whether a claim or a mark waits, or has waited, for room. */
    private volatile boolean isAwaited;

    /** Records below are not needed any more; guarded by {@link #turn}. */
    private long truncatedBefore;

    private final LongAdder syncCount = new LongAdder();
    private final LongAdder reserveUseCount = new LongAdder();
    private long lastSyncNanos;

    SegmentKeeper(
            LogEnvironment environment,
            LogOptions options,
            LogProgress progress,
            RecoveredLog recovered,
            ReentrantLock writing) {
        this.environment = environment;
        this.writing = writing;
        this.options = options;
        this.maker = new SegmentMaker(environment, recovered.nextNumber());
        this.isSync = options.durability() == Durability.SYNC;
        this.inFlightBytesMax = options.inFlightBytesMax();
        this.progress = progress;
        this.disk = environment.disk();
        this.isMapped = options.isMapped(disk);
        this.writesAhead = options.writesAhead(disk);
        this.clock = environment.clock();
        this.kept.addAll(recovered.segments());
        this.spare = recovered.spare();
        this.lastSyncNanos = clock.monotonicNanos();
        this.current = kept.peekLast();
        progress.setRoomy(isRoomy());
    }

    /** The worker's step: prepare, sync. */
    boolean step() {
        if (progress.failed()) {
            return false;
        }
        if (wantsReserve()) {
            prepare(() -> ownReserve = make(options.reserveBytes()));
        }
        if (wantsSpare()) {
            prepare(() ->
                    spare = isMapped ? makeMapped() : make(isSync ? options.segmentBytes() : 0));
        }
        if (!isSync && syncIsDue()) {
            renewMapping();
            syncAll();
        }
        return false;
    }

    /** Whether there is something to do now. */
    boolean wantsWork() {
        return wantsSpare() || wantsReserve() || (!isSync && progress.wantsMarkSynced());
    }

    /** Whether nothing is left to do that nobody wakes the worker for. */
    boolean isAtRest() {
        return !retrying
                && (options.durability() != Durability.INTERVAL
                        || progress.durable() >= progress.written());
    }

    boolean hasSpare() {
        return spare != null;
    }

    /** Not before somebody claims, unless the log is new: most sessions only read. */
    private boolean wantsReserve() {
        return !writesAhead && ownReserve == null && (current == null || isAwaited) && mayTry();
    }

    /**
     * Whether the next segment should be prepared now: a quarter is used of what the current one
     * can take before admission ends. Behind the small one of a clean close not before somebody
     * claims.
     */
    private boolean wantsSpare() {
        if (spare != null || !mayTry()) {
            return false;
        }
        Segment last = current;
        if (last == null || (isAwaited && !progress.isRoomy())) {
            return true;
        }
        return last.capacityBytes != Segment.CLOSING_BYTES
                && last.remainingBytes() - inFlightBytesMax
                        < (last.capacityBytes - inFlightBytesMax) / 4 * 3;
    }

    private boolean mayTry() {
        return !retrying || clock.monotonicNanos() >= retryAtNanos;
    }

    /** A claim is about to wait for room, or a mark that somebody wants. */
    void roomIsAwaited() {
        isAwaited = true;
    }

    /** The writer is short of room: without a spare, nothing more may be admitted. */
    void endAdmissionWithoutSpare() {
        if (spare == null) {
            synchronized (this) {
                if (spare == null) {
                    progress.setRoomy(false);
                }
            }
        }
    }

    /**
     * The segment that the writer is about to move to; admission has seen to it that there is one.
     */
    Segment spare(long firstSequence) {
        Segment segment = spare;
        if (segment == null) {
            throw new IllegalStateException("no log segment is ready for record " + firstSequence);
        }
        return segment;
    }

    /** The writer moves on to the spare. */
    synchronized void takeSpare(Segment segment, long firstSequence) {
        spare = null;
        take(segment, firstSequence);
    }

    /**
     * The writer has met a full disk and moves on to space that is there already.
     *
     * @return null if there is none: then what it writes to has been counted upon itself
     */
    @Nullable
    Segment reserve() {
        return writesAhead ? spare : ownReserve;
    }

    /**
     * The writer moves on to the {@link #reserve}; from here on nothing is admitted until there is
     * another.
     */
    synchronized void takeReserve(Segment segment, long firstSequence) {
        if (segment == spare) {
            spare = null;
        } else {
            ownReserve = null;
        }
        take(segment, firstSequence);
        reserveUseCount.increment();
        progress.setRoomy(isRoomy());
    }

    private void take(Segment segment, long firstSequence) {
        segment.firstSequence = firstSequence;
        kept.addLast(segment);
        current = segment;
    }

    /**
     * Whether everything that may be in flight has a segment to go to, and space wherever that is
     * full.
     */
    private boolean isRoomy() {
        Segment last = current;
        long wanted = inFlightBytesMax + options.batchBytesMax();
        if (writesAhead) {
            return spare != null || (last != null && last.remainingSpaceBytes() >= wanted);
        }
        return ownReserve != null
                && (spare != null || (last != null && last.remainingBytes() >= wanted));
    }

    private void prepare(Runnable work) {
        try {
            work.run();
            synchronized (this) {
                retrying = false;
                if (isRoomy()) {
                    progress.setRoomy(true);
                }
            }
        } catch (StorageIoException e) {
            // Not a failure of the log: nothing was in that file. Claims are refused with the
            // reason once the room is used up, and this is tried again with a new file.
            retryAtNanos = clock.monotonicNanos() + RETRY_NANOS;
            retrying = true;
            progress.refuse(e);
        } catch (RuntimeException | Error e) {
            progress.fail(e);
        }
    }

    private Segment make(long spaceBytes) {
        environment.beforeSegment().run();
        Segment old;
        synchronized (this) {
            old = recyclable.pollFirst();
        }
        return old == null
                ? maker.create(options.segmentBytes(), spaceBytes)
                : maker.recycle(old, spaceBytes);
    }

    /**
     * The zeros are not synced: file systems that are mapped set their space aside when they are
     * written, and they would be written to the disk once for themselves and once with the records.
     */
    private Segment makeMapped() {
        Segment made = maker.fill(make(0));
        try (Undo undo = Undo.of(() -> maker.discard(made))) {
            if (!made.map()) {
                made.file.sync(); // nobody has said what zeros are worth there
            }
            return undo.keep(made);
        }
    }

    /** Asks for a sync of everything below {@code sequence}, which has been written. */
    void requestSync(long sequence) {
        synchronized (this) {
            syncRequested = Math.max(syncRequested, sequence);
        }
    }

    private boolean syncIsDue() {
        if (progress.wantsMarkSynced()) {
            return true;
        }
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

    /**
     * How long it is until an interval has passed since the last sync.
     *
     * @param most no longer than this; also where it has passed and nothing is left to be synced
     */
    long untilSyncMicros(long most) {
        long sinceMicros = (clock.monotonicNanos() - lastSyncNanos) / 1_000;
        long left = options.intervalMicros() - sinceMicros;
        return left <= 0 ? most : Math.min(left, most);
    }

    /**
     * Puts a new mapping, whose pages were not stored to yet, in place of the one that the writer
     * stores to: for the reason that {@link Segment#unmap} has.
     */
    private void renewMapping() {
        Segment segment = current;
        if (segment == null || segment.unsyncedBytes() < RENEWED_BYTES_MIN) {
            return;
        }
        MappedFile fresh;
        try {
            fresh = segment.mapAgain();
        } catch (StorageIoException e) {
            return; // too many open files, say: the sync costs more then
        }
        if (fresh == null) {
            return;
        }
        MappedFile old;
        writing.lock();
        try {
            old = segment.replaceMapping(fresh);
        } finally {
            writing.unlock();
        }
        progress.signal(); // who has found the lock taken waits to be told
        Objects.requireNonNullElse(old, fresh).close();
    }

    /** Syncs everything written so far; a failure fails the log. */
    void syncAll() {
        turn.lock();
        try {
            if (progress.failed()) {
                return;
            }
            long covered = progress.written();
            long vouched = progress.vouched();
            List<Segment> all = snapshot();
            for (Segment segment : all) {
                if (segment.needsSync()) {
                    if (segment != all.getLast()) {
                        segment.unmap();
                    }
                    segment.sync();
                    syncCount.increment();
                }
            }
            progress.advanceDurable(covered);
            progress.advanceVouchedDurable(vouched);
            lastSyncNanos = clock.monotonicNanos();
        } catch (RuntimeException | Error e) {
            progress.fail(e);
        } finally {
            turn.unlock();
        }
        progress.signalSynced();
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
                    disk.delete(Segment.name(environment.directory(), doomed.number));
                    deleted = true;
                    forget(doomed);
                    doomed.close();
                }
                doomed = oldestBelow(position);
            }
            if (deleted) {
                disk.syncDirectory(environment.directory());
            }
        } finally {
            retryAtNanos = clock.monotonicNanos(); // there may be space now
            turn.unlock();
        }
    }

    /**
     * Prepares a small segment as the spare, if no record below {@code next} is needed and there is
     * a large one to get rid of. Called by who holds {@link #writing}, when nothing is admitted.
     *
     * @return whether the log should be sealed in it; false too if it can't be made: the seal then
     *     goes where the records are
     */
    boolean prepareClosing(long next) {
        Segment last = current;
        if (truncatedBefore < next || last == null || last.capacityBytes == Segment.CLOSING_BYTES) {
            return false;
        }
        try {
            deleteSpareAndRecyclable();
            Segment closing = maker.create(Segment.CLOSING_BYTES, Segment.CLOSING_BYTES);
            synchronized (this) {
                spare = closing;
            }
            return true;
        } catch (StorageIoException noRoom) {
            return false;
        }
    }

    /** Whether no record is needed any more and there is a large segment to get rid of. */
    boolean mayLetGo() {
        Segment last = current;
        if (last == null || last.capacityBytes == Segment.CLOSING_BYTES || !progress.isRoomy()) {
            return false;
        }
        turn.lock();
        try {
            return truncatedBefore >= progress.written();
        } finally {
            turn.unlock();
        }
    }

    /** Ends admission, so that space may go; who claims from here on asks for it. */
    void endAdmission() {
        isAwaited = false; // before: whoever finds the door shut says so afterwards
        progress.setRoomy(false);
    }

    /** Nothing has gone, or not all. */
    void resumeAdmission() {
        synchronized (this) {
            progress.setRoomy(isRoomy());
        }
    }

    /** Where the small segment was not moved to, because the disk is full. */
    void discardClosing() {
        synchronized (this) {
            Segment prepared = spare;
            if (prepared == null || prepared.capacityBytes != Segment.CLOSING_BYTES) {
                return;
            }
            recyclable.addLast(prepared);
            spare = null;
        }
        deleteSpareAndRecyclable();
    }

    /**
     * Deletes the files that hold nothing: an idle store should not take the room of a busy one. To
     * be called when the seal is durable. What fails to be deleted is left to the next opening.
     */
    void deleteUnused() {
        truncateBefore(truncatedBefore);
        synchronized (this) {
            Segment unneeded = ownReserve;
            if (unneeded != null) {
                recyclable.addLast(unneeded);
                ownReserve = null;
            }
        }
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
        new Cleanup()
                .add(() -> unused.forEach(this::wipeAndDelete))
                .addAll(unused, Segment::close)
                .run();
        if (!unused.isEmpty()) {
            disk.syncDirectory(environment.directory());
        }
    }

    private void wipeAndDelete(Segment segment) {
        Segment.wipeHeader(segment.file);
        disk.delete(Segment.name(environment.directory(), segment.number));
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

    long createdCount() {
        return maker.createdCount();
    }

    long recycledCount() {
        return maker.recycledCount();
    }

    long zeroBytes() {
        return maker.zeroBytes();
    }

    /** How often a full disk has sent the writer into its reserve. */
    long reserveUseCount() {
        return reserveUseCount.sum();
    }

    @Override
    public synchronized void close() {
        Cleanup all = new Cleanup().addAll(kept, Segment::close);
        if (spare != null) {
            all.add(spare::close);
        }
        if (ownReserve != null) {
            all.add(ownReserve::close);
        }
        all.addAll(recyclable, Segment::close);
        kept.clear();
        recyclable.clear();
        all.run();
    }
}
