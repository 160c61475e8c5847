package io.turbidite.core.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Varints;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.log.FrameFormat.FrameHead;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Opens the log: finds where it begins, replays it, tells a torn end from damage, and hardens what was
 * found.
 *
 * <ol>
 *   <li>{@link #openSegments List} the segment files, in the order of their first sequences; those that have
 *       none come last.
 *   <li>{@link #findBegin Begin} at the last one whose first record is at or below the start position;
 *       what lies before is not needed.
 *   <li>{@link #walk Walk} the frames: sequences are dense, sessions never go back. Where a segment ends,
 *       the walk goes on in the one that it names, or else in the next one if that begins with the very
 *       sequence that is due. Frames that the next segment holds too are those of a write that a full disk
 *       refused: the next segment's count.
 *   <li>{@link #survey Survey} everything behind the last good frame. A frame there that was written
 *       when more had been synced than the walk has found proves damage: that is a {@link
 *       CorruptionException}. Otherwise what is there never counted as durable, and the end is torn.
 *   <li>{@link #harden Harden}: write the frames that nothing proves durable once more, and sync. After a
 *       failed sync the page cache may show bytes that the disk does not have, and the next sync of
 *       clean pages succeeds without writing them. Behind a clean close only the seal is not proven, and is
 *       left to the session that writes something: opening alone writes nothing then.
 *   <li>{@link #tidy Tidy up}: files that are not needed are deleted, before anything new is written.
 * </ol>
 *
 * <p>Recovery changes no record, so a crash inside it leads to the same result. A session's mark, written
 * before its first record, is what makes the cut of a torn end final.
 *
 * <p><em>Confined to one thread.</em>
 */
final class LogRecovery {
    private final Disk disk;
    private final LogSite site;
    private final LogOptions options;
    private final long startPosition;
    private final ReplayVisitor visitor;
    private final List<FoundSegment> found = new ArrayList<>();
    private final Slice payload = new Slice();
    private final Slice record = new Slice();

    /** Index in {@link #found} of the segment where replay begins, then of where the walk is. */
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

    private LogRecovery(
            LogSite site, LogOptions options, long startPosition, ReplayVisitor visitor) {
        this.disk = site.disk();
        this.site = site;
        this.options = options;
        this.startPosition = startPosition;
        this.visitor = visitor;
        this.durable = startPosition; // the manifest that names it was written after a flush
    }

    /** Replays from {@code startPosition} on and returns where to go on; opened files are the result's. */
    static RecoveredLog recover(
            LogSite site, LogOptions options, long startPosition, ReplayVisitor visitor) {
        LogRecovery recovery = new LogRecovery(site, options, startPosition, visitor);
        try (Undo undo = Undo.of(recovery::closeFiles)) {
            return undo.keep(recovery.run());
        }
    }

    /**
     * As {@link #recover}, and changes no byte: nothing is hardened or tidied, so that what it returns is
     * good for nothing but closing its files.
     */
    static RecoveredLog look(
            LogSite site, LogOptions options, long startPosition, ReplayVisitor visitor) {
        LogRecovery recovery = new LogRecovery(site, options, startPosition, visitor);
        try (Undo undo = Undo.of(recovery::closeFiles)) {
            recovery.replay();
            return undo.keep(recovery.found());
        }
    }

    private RecoveredLog run() {
        disk.createDirectories(site.directory());
        replay();
        if (!sealed) {
            harden();
        }
        return tidy();
    }

    private void replay() {
        openSegments();
        findBegin();
        walk();
        survey();
    }

    /** All segments, in use or not: they are open. */
    private RecoveredLog found() {
        List<Segment> segments = found.stream().map(FoundSegment::inUse).toList();
        return new RecoveredLog(segments, null, next, next, sessionMax + 1, 1);
    }

    private void openSegments() {
        List<Long> numbers = new ArrayList<>();
        // who only looks makes no directory: without one there are no segments, and that is checked
        // below
        List<String> names =
                disk.exists(site.directory()) ? disk.list(site.directory()) : List.of();
        for (String name : names) {
            long number = Segment.numberOf(name);
            if (number >= 0) {
                numbers.add(number);
            }
        }
        numbers.sort(Long::compare);
        for (long number : numbers) {
            DiskFile file = disk.open(Segment.name(site.directory(), number));
            FoundSegment segment = new FoundSegment(number, file);
            found.add(segment);
            Segment.lock(disk, file);
            checkHeader(segment);
            try (SegmentReader reader = reader(segment)) {
                if (reader.read(Segment.FIRST_FRAME_OFFSET)
                        && reader.head.kind == FrameFormat.KIND_SEGMENT) {
                    segment.firstSequence = reader.head.sequence;
                    segment.firstSession = reader.head.session;
                }
            }
        }
        found.sort(Comparator.comparingLong(FoundSegment::order)); // stable: else by number
    }

    /** Sets what is wrong with the header, if anything. */
    private void checkHeader(FoundSegment segment) {
        String name = segment.file.name();
        FileHeader header;
        try {
            header = FileHeader.readFrom(segment.file);
        } catch (CorruptionException e) {
            segment.damage = e;
            return;
        }
        header.check(name, Segment.FORMAT, Segment.FORMAT_VERSION);
        header.checkOwner(name, site.storeId(), header.fileId());
        try {
            header.checkOwner(name, site.storeId(), segment.number);
            long expected = Segment.capacityBytes(header);
            if (segment.file.size() != expected) {
                throw new CorruptionException(
                        name,
                        segment.file.size(),
                        "segment",
                        expected + " bytes long",
                        segment.file.size() + " bytes long");
            }
        } catch (CorruptionException e) {
            segment.damage = e;
            segment.hasHeader = true;
        }
        segment.spaceBytes = Segment.spaceBytes(header);
    }

    private void findBegin() {
        int last = -1;
        for (int i = 0; i < found.size(); i++) {
            FoundSegment segment = found.get(i);
            boolean mayBegin = segment.firstSequence >= 0 && segment.firstSequence <= startPosition;
            // Of two that begin alike one holds nothing, and may be on its way to be deleted.
            boolean alike = last >= 0 && found.get(last).firstSequence == segment.firstSequence;
            if (mayBegin && (!alike || segment.damage == null)) {
                last = i;
            }
        }
        last = withAlikeInFront(last);
        for (int i = Math.max(0, last); i < found.size(); i++) {
            found.get(i).requireWhole();
        }
        if (last >= 0) {
            begin = last;
            next = found.get(last).firstSequence;
            session = found.get(last).firstSession;
            found.get(last).requireHeader();
        } else if (startPosition > 0) {
            throw new CorruptionException(
                    nameOfUnreadable(),
                    0,
                    "record %d of the log".formatted(startPosition),
                    "in a segment, since the manifest names it,",
                    describeSegments());
        }
        at = begin;
    }

    /** Moves what begins as the segment where replay begins in front of it; returns where that is then. */
    private int withAlikeInFront(int index) {
        int first = index;
        while (first >= 0
                && first + 1 < found.size()
                && found.get(first + 1).firstSequence == found.get(first).firstSequence) {
            found.add(first, found.remove(first + 1));
            first++;
        }
        return first;
    }

    /** The first segment that can't be read; the directory if they all can, as one is not there then. */
    private String nameOfUnreadable() {
        return found.stream()
                .filter(segment -> segment.damage != null)
                .map(segment -> segment.file.name())
                .findFirst()
                .orElse(site.directory());
    }

    private String describeSegments() {
        StringBuilder text = new StringBuilder("in none of %d segments".formatted(found.size()));
        for (FoundSegment segment : found) {
            text.append(", ").append(segment.file.name());
            if (segment.damage != null) {
                text.append(" is unreadable (%d bytes)".formatted(segment.file.size()));
            } else if (segment.firstSequence < 0) {
                text.append(" has no first record");
            } else {
                text.append(" begins with ").append(segment.firstSequence);
            }
        }
        return text.toString();
    }

    private void walk() {
        boolean more = !found.isEmpty();
        while (more) {
            walkSegment(found.get(at));
            boolean full = continuedIn != 0;
            if (full) {
                bringNext(found.get(at));
            }
            more = at + 1 < found.size() && continues(found.get(at + 1), full);
            if (more || full) {
                at++;
                found.get(at).requireHeader();
                found.get(at).firstSequence = next;
            }
        }
    }

    private void walkSegment(FoundSegment segment) {
        try (SegmentReader reader = reader(segment)) {
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

    /** Whether the log goes on in a segment; one that begins as this one does must be named by it. */
    private boolean continues(FoundSegment segment, boolean named) {
        return segment.firstSequence == next
                && segment.firstSession >= session
                && (named || segment.firstSequence > found.get(at).firstSequence);
    }

    /** Whether the next segment begins with this frame's records, in the same session or later. */
    private boolean isBegunAnew(FoundSegment segment, FrameHead head) {
        if (at + 1 == found.size() || !head.takesSequence()) {
            return false;
        }
        FoundSegment following = found.get(at + 1);
        return following.firstSequence == head.sequence
                && following.firstSequence > segment.firstSequence
                && following.firstSession >= head.session;
    }

    /**
     * Brings the segment that a full one names behind it: one whose first frame was torn away is among
     * the last, and one may share its first sequence with the full one. A full segment names the next when
     * that has been prepared, and only then goes the log on there.
     */
    private void bringNext(FoundSegment full) {
        int named = 0;
        while (named < found.size() && found.get(named).number != continuedIn) {
            named++;
        }
        if (named == found.size() || (begin <= named && named <= at)) {
            throw new CorruptionException(
                    full.file.name(),
                    full.usedBytes,
                    "the log",
                    "going on in segment " + continuedIn,
                    named == found.size() ? "without it" : "having been there");
        }
        FoundSegment following = found.remove(named);
        if (named < begin) {
            begin--;
            at--;
        }
        found.add(at + 1, following);
    }

    private void survey() {
        for (int i = at; i < found.size(); i++) {
            FoundSegment segment = found.get(i);
            long from = i == at ? segment.usedBytes : Segment.FIRST_FRAME_OFFSET;
            try (SegmentReader reader = reader(segment)) {
                long offset = reader.search(from);
                while (offset >= 0) {
                    segment.hasFrames = true;
                    checkTorn(segment, reader.head);
                    offset = reader.search(offset + FrameFormat.frameBytes(reader.head.length));
                }
            }
            if (segment.hasFrames) {
                segment.requireHeader(); // it was synced before any frame was written
            }
        }
        if (next < startPosition) {
            throw new CorruptionException(
                    found.isEmpty() ? site.directory() : found.get(at).file.name(),
                    found.isEmpty() ? 0 : found.get(at).usedBytes,
                    "the log",
                    "reaching position " + startPosition + ", which the manifest names",
                    "ending at " + next);
        }
    }

    private void checkTorn(FoundSegment segment, FrameHead head) {
        sessionMax = Math.max(sessionMax, head.session);
        if (head.durable > next) {
            FoundSegment damaged = found.get(at);
            throw new CorruptionException(
                    damaged.file.name(),
                    damaged.usedBytes,
                    "log record " + next,
                    "whole, since record %d in segment %d was written after it had been synced"
                            .formatted(head.sequence, segment.number),
                    "damaged or missing");
        }
    }

    private void harden() {
        for (int i = begin; i <= at && i < found.size(); i++) {
            FoundSegment segment = found.get(i);
            boolean rewritten = false;
            try (SegmentReader reader = reader(segment)) {
                long offset = Segment.FIRST_FRAME_OFFSET;
                Slice frame = new Slice();
                while (offset < segment.usedBytes && reader.read(offset)) {
                    if (reader.head.sequence >= durable) {
                        reader.frame(offset, frame);
                        segment.file.write(offset, frame.segment(), frame.offset(), frame.length());
                        rewritten = true;
                    }
                    offset += FrameFormat.frameBytes(reader.head.length);
                }
            }
            if (rewritten) {
                segment.file.sync();
            }
        }
    }

    private RecoveredLog tidy() {
        List<Segment> segments = new ArrayList<>();
        Segment spare = null;
        boolean deleted = false;
        for (int i = 0; i < found.size(); i++) {
            FoundSegment segment = found.get(i);
            // The segment behind a full one is in use, even if its first frame has been torn away.
            boolean inUse = i >= begin && i <= at && segment.firstSequence >= 0;
            if (inUse) {
                segments.add(segment.inUse());
            } else if (spare == null && i >= begin && segment.isSpare(options)) {
                spare = segment.spare();
            } else {
                if (i < begin || !segment.hasFrames) {
                    wipeHeader(segment); // what the survey asks of others stays
                }
                segment.file.close();
                disk.delete(segment.file.name());
                deleted = true;
            }
        }
        if (deleted) {
            disk.syncDirectory(site.directory());
        }
        long nextNumber =
                1 + found.stream().mapToLong(segment -> segment.number).max().orElse(0);
        long proven = sealed ? durable : next;
        return new RecoveredLog(segments, spare, next, proven, sessionMax + 1, nextNumber);
    }

    /**
     * A full disk may refuse to write the header of a file whose making was cut short. Then no block has ever
     * been there, or the file system writes each one to a new place: in neither case can a file made later
     * show the header, so the opening need not fail for it.
     */
    private static void wipeHeader(FoundSegment segment) {
        try {
            Segment.wipeHeader(segment.file);
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.NO_SPACE) {
                throw e;
            }
        }
    }

    private SegmentReader reader(FoundSegment segment) {
        return new SegmentReader(segment.file, site.storeId(), segment.number);
    }

    private void closeFiles() {
        for (FoundSegment segment : found) {
            segment.file.close();
        }
    }
}
