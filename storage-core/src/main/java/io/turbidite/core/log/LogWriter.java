package io.turbidite.core.log;

import com.lmax.disruptor.EventPoller;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Varints;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.log.FrameFormat.FrameHead;
import io.turbidite.core.log.OverflowBuffers.Buffer;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The one consumer of the ring: frames published payloads, writes them in order, syncs under {@link
 * Durability#SYNC}.
 *
 * <p>One step:
 *
 * <ol>
 *   <li>Before a session's first record: its mark, written and synced, so that the session's number
 *       is known to every later recovery and no older frame behind the end can be mistaken for a
 *       new one. Before that the seal of the session before, if there is one ({@link #hardenSeal}).
 *   <li>Each published slot in order: copy it into the batch, many to a frame, or write a large one
 *       from where it lies. A frame that does not fit the segment goes to the next; the first frame
 *       of a segment names it.
 *   <li>One write for the batch. Under SYNC one sync; then, and only then, the records are durable.
 *   <li>Where no record comes after a sync that would say what it has covered, a mark that says it.
 * </ol>
 *
 * <p><em>A full disk</em> fails nothing, as long as it refuses an append to a segment that still
 * grows: what was to be written goes to the keeper's reserve, sealed again for its new place
 * ({@link #moveToReserve}).
 *
 * <p>Any other failure fails the log with its first cause (D6); nothing is written or synced after
 * it.
 *
 * <p><em>Confined to one thread at a time</em>: its worker, or a caller that waits for a record to
 * be written ({@link WriteAheadLog} locks). The counters may be read by any thread.
 */
final class LogWriter implements EventPoller.Handler<Claim> {
    /** A segment that holds nothing but where the log goes on. */
    private static final long MARKS_BYTES =
            Segment.MARK_BYTES + FrameFormat.frameBytes(FrameFormat.CONTINUED_PAYLOAD_BYTES);

    private final Durability durability;
    private final long inFlightBytesMax;
    private final long storeId;
    private final Clock clock;
    private final LogProgress progress;
    private final SegmentKeeper keeper;
    private final int session;
    private final MemorySegment batch;
    private final MemorySegment marks;
    private final int batchBytesTarget;
    private final Crc32c crc = new Crc32c();
    private final FrameHead head = new FrameHead();

    private @Nullable Segment current;

    /** Where in {@link #current} the batch will be written. */
    private long batchOffset;

    private int batchBytes;

    /**
     * Where in the batch the group begins that still takes records, up to its end; −1 if there is
     * none.
     */
    private int groupStart = -1;

    private long groupFirst;
    private boolean sessionMarked;

    /** Whether the log ends with a seal that nothing proves to be on disk. */
    private boolean sealUnproven;

    /** What the frame that was completed last says to have been synced. */
    private long vouched;

    /** Whether the last step has found nothing to write. */
    private boolean idle;

    /** The sequence after the last one framed. */
    private long next;

    private final LongAdder recordCount = new LongAdder();
    private final LongAdder batchCount = new LongAdder();
    private final LongAdder bytesWritten = new LongAdder();
    private final LongAdder syncCount = new LongAdder();
    private final AtomicLong slowestSyncNanos = new AtomicLong();

    LogWriter(
            LogEnvironment environment,
            LogOptions options,
            LogProgress progress,
            SegmentKeeper keeper,
            RecoveredLog recovered,
            Arena arena) {
        this.durability = options.durability();
        this.inFlightBytesMax = options.inFlightBytesMax();
        this.storeId = environment.storeId();
        this.clock = environment.clock();
        this.progress = progress;
        this.keeper = keeper;
        this.session = recovered.session();
        this.next = recovered.next();
        this.sealUnproven = recovered.proven() < recovered.next();
        if (!recovered.segments().isEmpty()) {
            Segment last = recovered.segments().getLast();
            this.current = last;
            this.batchOffset = last.usedBytes;
        }
        this.batchBytesTarget = options.batchBytesTarget();
        this.batch = NativeMemory.allocate(arena, options.batchBytesMax(), 64);
        this.marks = NativeMemory.allocate(arena, MARKS_BYTES, FrameFormat.ALIGNMENT);
    }

    /**
     * Writes what the ring holds, up to a batch.
     *
     * @param mayMark whether a step that finds nothing may {@link #leaveMark leave a mark}
     * @return whether there was anything
     */
    boolean step(EventPoller<Claim> poller, boolean mayMark) {
        if (progress.failed()) {
            return false;
        }
        long before = next;
        try {
            poller.poll(this);
            if (next == before) {
                if (mayMark) {
                    leaveMark();
                }
                return false;
            }
            idle = false;
            progress.signal(); // slots are free again
            writeBatch();
            progress.advanceWritten(next);
            progress.advanceVouched(vouched);
            if (durability == Durability.SYNC) {
                syncCurrent();
                progress.advanceDurable(next);
                progress.advanceVouchedDurable(vouched);
            }
            recordCount.add(next - before);
            batchCount.increment();
        } catch (Exception | Error e) {
            // Whatever it was, the end of the log is in doubt: fail-stop, with everything that was
            // acknowledged in place.
            progress.fail(e);
            return false;
        }
        progress.signal();
        return true;
    }

    /** Frames one slot; the ring calls it. Slots are only freed when the poll is over. */
    @Override
    public boolean onEvent(Claim claim, long slot, boolean endOfBatch) {
        if (!sessionMarked) {
            markSession();
        }
        if (claim.sequence() != next) {
            throw new IllegalStateException(
                    "log record %d follows %d".formatted(claim.sequence(), next - 1));
        }
        int length = claim.length();
        Buffer large = claim.large();
        if (length == Claim.CANCELLED) {
            var _ = takePlace(0, 0);
        } else if (large == null) {
            long at = takePlace(length + 1, length);
            MemorySegment.copy(claim.segment(), claim.offset(), batch, at, length);
        } else {
            writeLarge(large, length);
        }
        next++;
        claim.releaseLarge();
        if (roomBytes(batchBytes) < inFlightBytesMax) {
            keeper.endAdmissionWithoutSpare();
        }
        return batchBytes < batchBytesTarget;
    }

    /**
     * Says what has been synced, unless the last frame does: damage below is then known from a torn
     * end. At once if somebody waits for it, otherwise when two steps in a row have found nothing
     * to write, so that it costs a busy log nothing. Its own sync is the next one; only who waits
     * for it has it synced now.
     *
     * <p>It is not counted with what is in flight, so it takes no room that may be needed for that,
     * and on a full disk it is left out.
     */
    private void leaveMark() {
        boolean wanted = progress.wantsMark();
        boolean due = sessionMarked
                && progress.durable() > vouched
                && (wanted || (idle && !progress.markRefused()));
        if (due && hasRoomForMark()) {
            writeMark();
        } else if (due && wanted && progress.isRoomy() && keeper.hasSpare()) {
            var _ = nextSegment(); // whose first frame says it
            writeBatch();
            progress.advanceVouched(vouched);
        } else if (due && wanted && progress.isRoomRefused()) {
            progress.refuseMark(); // who waits would wait until somebody claims
        }
        idle = true;
        if (durability == Durability.SYNC && progress.wantsMarkSynced()) {
            syncCurrent();
            progress.advanceVouchedDurable(vouched);
            progress.signal();
        }
    }

    private boolean hasRoomForMark() {
        long left = roomBytes(0) - Segment.MARK_BYTES;
        return progress.isRoomy() && (left >= inFlightBytesMax || (left >= 0 && keeper.hasSpare()));
    }

    private void writeMark() {
        Segment segment = Objects.requireNonNull(current);
        int bytes = putMarkAt(0, FrameFormat.KIND_GROUP, 0, next);
        try {
            segment.write(batchOffset, marks, 0, bytes);
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.NO_SPACE) {
                throw e;
            }
            vouched = progress.vouched();
            progress.refuseMark();
            return;
        }
        wrote(segment, bytes);
        progress.advanceVouched(vouched);
        if (roomBytes(0) < inFlightBytesMax) {
            keeper.endAdmissionWithoutSpare();
        }
    }

    private void markSession() {
        if (sealUnproven) {
            hardenSeal();
        }
        Segment segment = segmentFor(Segment.MARK_BYTES);
        putMark(segment, FrameFormat.KIND_SESSION);
        next++;
        writeBatch();
        // Synced before it counts as written: until then nobody else syncs this file.
        syncCurrent();
        progress.advanceWritten(next);
        progress.advanceDurable(next);
        sessionMarked = true;
    }

    /**
     * Writes the seal once more and syncs it, with the segment's own mark if nothing else is in
     * front of it. Who wrote it may have been killed before its sync, or that has failed: then
     * memory shows it and the disk need not have it, and all that follows would stand behind a gap.
     */
    private void hardenSeal() {
        Segment last = Objects.requireNonNull(current);
        long start = batchOffset - Segment.MARK_BYTES;
        long from = start == Segment.FIRST_FRAME_OFFSET + Segment.MARK_BYTES
                ? Segment.FIRST_FRAME_OFFSET
                : start;
        int byteCount = Math.toIntExact(batchOffset - from);
        if (last.file.read(from, marks, 0, byteCount) != byteCount) {
            throw new IllegalStateException("no seal at the end of " + last);
        }
        last.write(from, marks, 0, byteCount);
        last.sync();
        syncCount.increment();
        sealUnproven = false;
    }

    /**
     * Takes the next place in a group, and writes the number in front of it.
     *
     * @return where in the batch the record's bytes go
     */
    private long takePlace(int number, int length) {
        int bytes = Varints.bytes(number) + length;
        int payload = batchBytes - groupStart - FrameFormat.HEADER_BYTES;
        boolean joins = groupStart >= 0
                && payload < FrameFormat.GROUP_BYTES
                && FrameFormat.frameBytes((long) payload + bytes) <= roomBytes(groupStart);
        if (!joins) {
            endGroup();
            Segment _ = segmentFor(FrameFormat.frameBytes(bytes));
            groupStart = batchBytes;
            groupFirst = next;
            batchBytes += FrameFormat.HEADER_BYTES;
        }
        long at = Varints.put(batch, batchBytes, number);
        batchBytes += bytes;
        return at;
    }

    /** Completes the frame of the group, if there is one. */
    private void endGroup() {
        Segment segment = current;
        if (groupStart >= 0 && segment != null) {
            int length = batchBytes - groupStart - FrameFormat.HEADER_BYTES;
            batchBytes = groupStart;
            groupStart = -1;
            putFrame(segment, FrameFormat.KIND_GROUP, length);
        }
    }

    private void putMark(Segment segment, int kind) {
        endGroup();
        putFrame(segment, kind, 0);
    }

    /** Completes the frame at the end of the batch; its payload is there already. */
    private void putFrame(Segment segment, int kind, int length) {
        fillHead(kind, length);
        if (kind == FrameFormat.KIND_GROUP) {
            head.sequence = groupFirst;
        }
        long place = FrameFormat.place(storeId, segment.number, batchOffset + batchBytes);
        batchBytes += FrameFormat.seal(batch, batchBytes, head, place, crc);
    }

    private void writeLarge(Buffer large, int length) {
        endGroup();
        var _ = segmentFor(FrameFormat.frameBytes(length));
        writeBatch();
        Segment segment = Objects.requireNonNull(current); // wherever the batch has gone
        fillHead(FrameFormat.KIND_RECORD, length);
        long place = FrameFormat.place(storeId, segment.number, batchOffset);
        write(segment, large.segment, FrameFormat.seal(large.segment, 0, head, place, large.crc));
    }

    private void fillHead(int kind, int length) {
        head.kind = kind;
        head.length = length;
        head.sequence = next;
        vouched = progress.durable();
        head.durable = vouched;
        head.session = session;
    }

    /**
     * The segment that the next frame goes to, with the batch so far written if it is a new one.
     */
    private Segment segmentFor(long frameBytes) {
        Segment segment = current;
        if (segment != null) {
            startIfFresh(segment);
            if (roomBytes(batchBytes) >= frameBytes) {
                return segment;
            }
        }
        return nextSegment();
    }

    private Segment nextSegment() {
        Segment segment = keeper.spare(next);
        Segment full = current;
        if (full != null) {
            putContinued(full, segment.number);
            writeBatch();
            if (current != full) {
                return Objects.requireNonNull(current); // there is room, but the disk is full
            }
            if (durability == Durability.SYNC) {
                syncCurrent();
            }
        }
        keeper.takeSpare(segment, next);
        current = segment;
        batchOffset = segment.usedBytes;
        startIfFresh(segment);
        return segment;
    }

    /** Into the reserve, which has room for it. */
    private void putContinued(Segment segment, long nextNumber) {
        endGroup();
        batch.set(Bytes.I64, (long) batchBytes + FrameFormat.HEADER_BYTES, nextNumber);
        putFrame(segment, FrameFormat.KIND_CONTINUED, FrameFormat.CONTINUED_PAYLOAD_BYTES);
    }

    private void startIfFresh(Segment segment) {
        if (batchOffset + batchBytes == Segment.FIRST_FRAME_OFFSET) {
            putMark(segment, FrameFormat.KIND_SEGMENT);
        }
    }

    /** What the segment has room for behind the batch's first {@code bytes}. */
    private long roomBytes(int bytes) {
        Segment segment = current;
        return segment == null
                ? 0
                : segment.capacityBytes - Segment.RESERVED_BYTES - batchOffset - bytes;
    }

    private void writeBatch() {
        endGroup();
        Segment segment = current;
        if (segment != null && batchBytes > 0) {
            int byteCount = batchBytes;
            batchBytes = 0;
            write(segment, batch, byteCount);
        }
    }

    private void write(Segment segment, MemorySegment source, int byteCount) {
        if (batchOffset + byteCount > segment.capacityBytes) {
            throw new IllegalStateException(
                    "%d bytes at %d do not fit %s".formatted(byteCount, batchOffset, segment));
        }
        try {
            segment.write(batchOffset, source, 0, byteCount);
        } catch (StorageIoException e) {
            boolean grows = batchOffset + byteCount > segment.spaceBytes;
            Segment reserve = keeper.reserve();
            if (e.kind() != StorageIoException.Kind.NO_SPACE || !grows || reserve == null) {
                throw e;
            }
            moveToReserve(segment, reserve, source, byteCount);
            return;
        }
        wrote(segment, byteCount);
    }

    private void wrote(Segment segment, int byteCount) {
        batchOffset += byteCount;
        segment.usedBytes = batchOffset;
        bytesWritten.add(byteCount);
    }

    /**
     * A full disk has refused {@code frames}: writes them to the segment that has its space.
     *
     * <ol>
     *   <li>The full disk's segment says where the log goes on, if there is room for so much. It
     *       may show any part of the frames that were refused; recovery goes by the reserve's first
     *       sequence.
     *   <li>One of which nothing was in use says so on the block of its header. That is synced
     *       first: two segments that begin with the same sequence must not both seem to hold it.
     *   <li>The frames are sealed for their new place and written; a mark of the old segment's own
     *       is left out.
     * </ol>
     */
    private void moveToReserve(Segment full, Segment reserve, MemorySegment frames, int byteCount) {
        head.read(frames, 0);
        long first = head.sequence;
        boolean fresh = batchOffset == Segment.FIRST_FRAME_OFFSET;
        leave(full, reserve.number, first, fresh);
        if (fresh || durability == Durability.SYNC) {
            syncCurrent();
        }
        keeper.takeReserve(reserve, first);
        current = reserve;
        batchOffset = reserve.usedBytes;
        int at = putMarkAt(0, FrameFormat.KIND_SEGMENT, 0, first);
        reserve.write(batchOffset, marks, 0, at);
        wrote(reserve, at);
        int from = 0;
        int to = 0;
        while (to < byteCount) {
            head.read(frames, to);
            int frameBytes = Math.toIntExact(FrameFormat.frameBytes(head.length));
            if (!head.takesSequence()) {
                if (to > 0) {
                    break; // the mark of a full segment, at the end
                }
                from = frameBytes;
            } else {
                long place = FrameFormat.place(storeId, reserve.number, batchOffset + to - from);
                var _ = FrameFormat.sealAgain(frames, to, head, place, crc);
            }
            to += frameBytes;
        }
        reserve.write(batchOffset, frames, from, to - from);
        wrote(reserve, to - from);
    }

    private void leave(Segment full, long nextNumber, long first, boolean fresh) {
        int at = fresh ? putMarkAt(0, FrameFormat.KIND_SEGMENT, 0, first) : 0;
        marks.set(Bytes.I64, at + (long) FrameFormat.HEADER_BYTES, nextNumber);
        at = putMarkAt(at, FrameFormat.KIND_CONTINUED, FrameFormat.CONTINUED_PAYLOAD_BYTES, first);
        try {
            full.write(batchOffset, marks, 0, at);
            wrote(full, at);
        } catch (StorageIoException e) {
            if (fresh || e.kind() != StorageIoException.Kind.NO_SPACE) {
                throw e;
            }
        }
    }

    /**
     * Completes a frame in {@link #marks}, for its place behind {@link #batchOffset}; returns where
     * it ends.
     */
    private int putMarkAt(int at, int kind, int length, long sequence) {
        fillHead(kind, length);
        head.sequence = sequence;
        Segment segment = Objects.requireNonNull(current);
        long place = FrameFormat.place(storeId, segment.number, batchOffset + at);
        return at + FrameFormat.seal(marks, at, head, place, crc);
    }

    private void syncCurrent() {
        Segment segment = current;
        if (segment != null && segment.needsSync()) {
            long before = clock.monotonicNanos();
            segment.sync();
            slowestSyncNanos.accumulateAndGet(clock.monotonicNanos() - before, Math::max);
            syncCount.increment();
        }
    }

    /**
     * Marks a clean close; everything before is synced first. In a small segment of its own, if no
     * record is needed any more, so that the large ones can be deleted.
     */
    void seal() {
        Segment segment = current;
        if (!sessionMarked || segment == null) {
            return;
        }
        keeper.syncAll();
        progress.checkFailure();
        if (keeper.prepareClosing(next)) {
            segment = nextSegment();
            writeBatch();
            segment = Objects.requireNonNull(current);
            keeper.syncAll();
            progress.checkFailure();
        }
        putMark(segment, FrameFormat.KIND_SEAL);
        next++;
        writeBatch();
        syncCurrent();
        progress.advanceWritten(next);
        progress.advanceVouched(vouched);
        progress.advanceDurable(next);
        progress.advanceVouchedDurable(vouched);
    }

    /**
     * Moves to a small segment, as for a {@link #seal}, so that the large ones can be deleted; no
     * record is needed any more, and none is in flight. The session goes on.
     *
     * @return whether it is there; if not, the log goes on where it was
     */
    boolean letGo() {
        if (!sessionMarked || current == null) {
            return false;
        }
        keeper.syncAll();
        progress.checkFailure();
        if (!keeper.prepareClosing(next)) {
            return false;
        }
        Segment moved = nextSegment();
        writeBatch();
        progress.advanceVouched(vouched);
        keeper.syncAll();
        progress.checkFailure();
        keeper.discardClosing();
        return moved.capacityBytes == Segment.CLOSING_BYTES;
    }

    long recordCount() {
        return recordCount.sum();
    }

    long batchCount() {
        return batchCount.sum();
    }

    long bytesWritten() {
        return bytesWritten.sum();
    }

    long syncCount() {
        return syncCount.sum();
    }

    /**
     * The longest that a commit's sync has taken since this was last asked; 0 if there was none.
     */
    long takeSlowestSyncNanos() {
        return slowestSyncNanos.getAndSet(0);
    }
}
