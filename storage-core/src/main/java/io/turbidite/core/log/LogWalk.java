package io.turbidite.core.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Varints;
import io.turbidite.core.log.FrameFormat.FrameHead;

import java.lang.foreign.MemorySegment;

/**
 * Walks the frames of a log from where replay begins, and replays its records: sequences are dense,
 * sessions never go back. Where a segment ends, the walk goes on in the one that it names, or else
 * in the next one if that begins with the very sequence that is due. Frames that the next segment
 * holds too are those of a write that a full disk refused: the next segment's count.
 *
 * <p><em>Confined to one thread.</em>
 */
final class LogWalk {
    private final LogSegments found;
    private final long startPosition;
    private final ReplayVisitor visitor;
    private final Slice payload = new Slice();
    private final Slice record = new Slice();

    /** Index of the segment where replay begins, then of where the walk is. */
    private int begin;

    private int at;
    private long next;
    private int session;
    private int sessionMax;
    private boolean sealed;

    /** The segment that the last frame of the walk says comes next; 0 if it says nothing. */
    private long continuedIn;

    /** Below this, everything is known to have been synced. */
    private long durable;

    /**
     * @param begin index of the segment where replay begins; -1 if there are no records
     * @param startPosition records before it are not replayed
     */
    LogWalk(LogSegments found, int begin, long startPosition, ReplayVisitor visitor) {
        this.found = found;
        this.startPosition = startPosition;
        this.visitor = visitor;
        this.durable = startPosition; // the manifest that names it was written after a flush
        this.begin = Math.max(0, begin);
        this.at = this.begin;
        if (begin >= 0) {
            this.next = found.get(begin).firstSequence;
            this.session = found.get(begin).firstSession;
        }
    }

    /** Walks and replays. */
    void run() {
        boolean more = found.count() > 0;
        while (more) {
            walkSegment(found.get(at));
            boolean full = continuedIn != 0;
            if (full) {
                bringNext(found.get(at));
            }
            more = at + 1 < found.count() && continues(found.get(at + 1), full);
            if (more || full) {
                at++;
                found.get(at).requireHeader();
                found.get(at).firstSequence = next;
            }
        }
    }

    private void walkSegment(FoundSegment segment) {
        try (SegmentReader reader = found.reader(segment)) {
            long offset = Segment.FIRST_FRAME_OFFSET;
            continuedIn = 0;
            while (continuedIn == 0
                    && reader.read(offset)
                    && follows(reader.head, offset)
                    && !isBegunAnew(segment, reader.head)) {
                FrameHead head = reader.head;
                session = head.session;
                sealed = head.kind == FrameFormat.KIND_SEAL;
                if (head.kind == FrameFormat.KIND_CONTINUED) {
                    reader.payload(offset, payload);
                    continuedIn = payload.segment().get(Bytes.I64, payload.offset());
                }
                durable = Math.max(durable, head.durable);
                if (head.kind == FrameFormat.KIND_GROUP) {
                    replayGroup(segment, reader.payload(offset, payload), offset);
                } else if (head.takesSequence()) {
                    if (head.kind == FrameFormat.KIND_RECORD && head.sequence >= startPosition) {
                        visitor.record(head.sequence, reader.payload(offset, payload));
                    }
                    next = head.sequence + 1;
                }
                offset += FrameFormat.frameBytes(head.length);
            }
            segment.usedBytes = offset;
        }
        sessionMax = Math.max(sessionMax, session);
    }

    private void replayGroup(FoundSegment segment, Slice group, long offset) {
        MemorySegment source = group.segment();
        long at = group.offset();
        long end = at + group.length();
        while (at < end) {
            int number = Varints.get(source, at, end);
            at += Varints.bytes(number);
            int length = Math.max(0, number - 1);
            if (number == Varints.NONE || length > end - at) {
                throw new CorruptionException(
                        segment.file.name(),
                        offset,
                        "group of log records",
                        "record " + next + " within its end",
                        "%d bytes where %d are left".formatted(length, Math.max(0, end - at)));
            }
            if (number > 0 && next >= startPosition) {
                visitor.record(next, record.set(source, at, length));
            }
            at += length;
            next++;
        }
    }

    /** Whether a whole frame is the one that is due: only marks begin a session. */
    private boolean follows(FrameHead head, long offset) {
        boolean first = offset == Segment.FIRST_FRAME_OFFSET;
        boolean mark =
                head.kind == FrameFormat.KIND_SEGMENT || head.kind == FrameFormat.KIND_SESSION;
        return head.sequence == next
                && first == (head.kind == FrameFormat.KIND_SEGMENT)
                && (head.kind != FrameFormat.KIND_CONTINUED
                        || head.length == FrameFormat.CONTINUED_PAYLOAD_BYTES)
                && (head.session == session || (mark && head.session > session));
    }

    /**
     * Whether the log goes on in a segment; one that begins as this one does must be named by it.
     */
    private boolean continues(FoundSegment segment, boolean named) {
        return segment.firstSequence == next
                && segment.firstSession >= session
                && (named || segment.firstSequence > found.get(at).firstSequence);
    }

    /** Whether the next segment begins with this frame's records, in the same session or later. */
    private boolean isBegunAnew(FoundSegment segment, FrameHead head) {
        if (at + 1 == found.count() || !head.takesSequence()) {
            return false;
        }
        FoundSegment following = found.get(at + 1);
        return following.firstSequence == head.sequence
                && following.firstSequence > segment.firstSequence
                && following.firstSession >= head.session;
    }

    /**
     * Brings the segment that a full one names behind it: one whose first frame was torn away is
     * among the last, and one may share its first sequence with the full one. A full segment names
     * the next when that has been prepared, and only then goes the log on there.
     */
    private void bringNext(FoundSegment full) {
        int named = found.indexOf(continuedIn);
        if (named == found.count() || (begin <= named && named <= at)) {
            throw new CorruptionException(
                    full.file.name(),
                    full.usedBytes,
                    "the log",
                    "going on in segment " + continuedIn,
                    named == found.count() ? "without it" : "having been there");
        }
        FoundSegment following = found.all().remove(named);
        if (named < begin) {
            begin--;
            at--;
        }
        found.all().add(at + 1, following);
    }

    /** Notes a session that was found behind the end. */
    void noteSession(int other) {
        sessionMax = Math.max(sessionMax, other);
    }

    /** Index of the segment where replay began. */
    int begin() {
        return begin;
    }

    /** Index of the segment where the log ends. */
    int end() {
        return at;
    }

    /** The sequence behind the last record. */
    long next() {
        return next;
    }

    /** The newest session that was met. */
    int sessionMax() {
        return sessionMax;
    }

    /** Whether the last frame says that the log was closed cleanly. */
    boolean isSealed() {
        return sealed;
    }

    /** Below this, everything is known to have been synced. */
    long durable() {
        return durable;
    }
}
