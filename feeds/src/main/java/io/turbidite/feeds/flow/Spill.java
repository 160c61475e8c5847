package io.turbidite.feeds.flow;

import io.turbidite.core.Cleanup;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StorageIoException.Kind;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;

/**
 * Batches on disk, in the order in which they came ({@link SpillFormat}): appended to one segment,
 * read back once from the first on. A segment goes when all of its batches are delivered.
 *
 * <ol>
 *   <li>What is read back is exactly what was appended, in that order, or an error that names file
 *       and offset.
 *   <li>Its files never hold more than the bound. A disk without space, or with less than is to be
 *       left, counts as a full spill.
 *   <li>Where batches are acknowledged, segments have consecutive numbers on disk whatever is
 *       killed: an older one is gone for good before the next goes.
 * </ol>
 *
 * <em>Confined to one thread</em>, but for {@link #waitingBytes}, {@link #waitingCount} and {@link
 * #usedBytes}.
 */
final class Spill implements AutoCloseable {
    private static final String SUFFIX = ".spill";

    /** What somebody has called a damaged segment to go on without it. */
    private static final String SKIP_SUFFIX = ".skip";

    private static final int INITIAL_BYTES = 256 << 10;

    /** A batch of the largest record, thrice: as it is stored, as it was read, as a letter. */
    private static final int FRAME_BYTES_MAX = 64 << 20;

    private final SpillPlace place;
    private final Disk disk;
    private final SpillMark mark;
    private final Lost lost;
    private final Crc32c crc = new Crc32c();
    private final FrameReader reader = new FrameReader();
    private ByteSink frame = new ByteSink(INITIAL_BYTES, FRAME_BYTES_MAX);

    /** Of which batches are to be read back, or may be appended to the last; the oldest first. */
    private final ArrayDeque<Segment> unread = new ArrayDeque<>();

    /** Read, and not known to be delivered. */
    private final ArrayDeque<Segment> read = new ArrayDeque<>();

    /** The last of the unread ones, if it is this run's. */
    private @Nullable Segment writing;

    private long readOffset = SpillFormat.FRAMES_OFFSET;
    private long segmentNumber = 1;
    private long frameNumber;

    /** Of the next frame to be read; -1: whatever it has. */
    private long wantedNumber;

    private boolean hasLeftovers;

    /** Of a segment that is full: up to there a mark is to be written. */
    private @Nullable Segment unmarked;

    /**
     * Whether a sync has begun and did not end well. A second one says nothing of what the first
     * one was for: the system may have dropped it.
     */
    private boolean isInDoubt;

    /** Something can't be read back: nothing goes, until somebody has said what to do. */
    private boolean isDamaged;

    private volatile long usedBytes;
    private volatile long waitingBytes;
    private final AtomicLong waitingCount = new AtomicLong();

    private static final class Segment {
        private final long number;
        private final String name;
        private final boolean isSkipped;
        private @Nullable DiskFile file;
        private long bytes;

        /** Of the ring, of the last of its batches that was read. */
        private long sequence = -1;

        Segment(long number, String name, boolean isSkipped, long bytes) {
            this.number = number;
            this.name = name;
            this.isSkipped = isSkipped;
            this.bytes = bytes;
        }

        void close() {
            DiskFile open = file;
            file = null;
            if (open != null) {
                open.close();
            }
        }
    }

    /** Hears of what was acknowledged and can't be delivered, where somebody has said to go on. */
    @FunctionalInterface
    interface Lost {
        void lost(String file, String how);
    }

    private Spill(SpillPlace place, Lost lost) {
        this.place = place;
        this.lost = lost;
        this.disk = place.disk();
        this.mark = new SpillMark(place);
    }

    /**
     * Opens a spill: with what an earlier run has left where that was acknowledged, else empty.
     *
     * @throws CorruptionException if a file is missing that the others, or the mark, tell of
     */
    static Spill open(SpillPlace place, Lost lost) {
        Spill spill = new Spill(place, lost);
        if (place.isAcknowledged() && spill.mark.takeDeleted()) {
            lost.lost(place.directory(), "was deleted");
        }
        if (place.disk().exists(place.directory())) {
            spill.find();
        }
        return spill;
    }

    private void find() {
        if (place.isAcknowledged()) {
            mark.read();
        }
        for (String name : disk.list(place.directory())) { // sorted, so by number
            long number = number(name);
            if (number < 0) {
                continue;
            }
            String path = place.directory() + "/" + name;
            if (!place.isAcknowledged()) {
                disk.delete(path);
                continue;
            }
            Segment last = unread.peekLast();
            if (last != null && number != last.number + 1) {
                if (last.number < mark.segment()) {
                    throw missing(last.number + 1);
                }
                disk.delete(path); // behind what a power cut took, and never acknowledged
                continue;
            }
            long bytes = disk.status(path).byteCount();
            unread.add(new Segment(number, path, name.endsWith(SKIP_SUFFIX), bytes));
        }
        if (place.isAcknowledged()) {
            Segment last = unread.peekLast();
            if (last == null ? mark.wantsSegment() : last.number < mark.segment()) {
                throw missing(last == null ? mark.first() : last.number + 1);
            }
            if (mark.wantsSegment() && unread.element().number > mark.first()) {
                throw missing(mark.first());
            }
            segmentNumber = Math.max(mark.segment(), last == null ? 0 : last.number) + 1;
            hasLeftovers = last != null;
            wantedNumber = -1;
            count();
        }
    }

    private long number(String name) {
        if (!name.startsWith(place.prefix())) {
            return -1;
        }
        String rest = name.substring(place.prefix().length());
        return rest.matches("[0-9a-f]{12}\\.(spill|skip)")
                ? Long.parseLong(rest.substring(0, rest.indexOf('.')), 16)
                : -1;
    }

    private CorruptionException missing(long number) {
        String name = place.fileName(number, SUFFIX);
        return CorruptionException.missing(
                name,
                "records in it were acknowledged and are not delivered. Put it back, or put an empty file %s there to go on without it"
                        .formatted(place.fileName(number, SKIP_SUFFIX)));
    }

    private void count() {
        long used = 0;
        for (Segment segment : read) {
            used += segment.bytes;
        }
        long waiting = 0;
        for (Segment segment : unread) {
            used += segment.bytes;
            waiting += segment.bytes;
        }
        usedBytes = used;
        waitingBytes = isEmpty() ? 0 : Math.max(0, waiting - readOffset);
    }

    // ---- writing

    /** Whether the next batch may fit. */
    boolean hasRoom() {
        return usedBytes < place.bytesMax();
    }

    /**
     * Appends a batch.
     *
     * @param isForced beyond the bound too, of this spill though not of the disk
     * @return whether there was room; else nothing has happened
     * @throws StorageIoException if the disk fails, other than by being full
     */
    boolean append(Batch batch, boolean isForced) {
        checkNotInDoubt();
        frame = frame.segment().byteSize() > 16L * INITIAL_BYTES
                ? new ByteSink(INITIAL_BYTES, FRAME_BYTES_MAX)
                : frame.clear();
        frame.reserve(SpillFormat.FRAME_HEADER_BYTES);
        batch.write(frame);
        int bytes = frame.length();
        if (!isForced && usedBytes + bytes > place.bytesMax()) {
            return false;
        }
        try {
            Segment segment = segment();
            if (segment == null) {
                return false;
            }
            MemorySegment memory = frame.segment();
            memory.set(
                    Bytes.I32,
                    SpillFormat.PAYLOAD_BYTES_OFFSET,
                    bytes - SpillFormat.FRAME_HEADER_BYTES);
            memory.set(Bytes.I64, SpillFormat.SEGMENT_OFFSET, segment.number);
            memory.set(Bytes.I64, SpillFormat.NUMBER_OFFSET, frameNumber);
            memory.set(Bytes.I32, SpillFormat.CHECKSUM_OFFSET, checksum(bytes));
            file(segment).write(segment.bytes, memory, 0, bytes);
            segment.bytes += bytes;
            frameNumber++;
            waitingCount.addAndGet(batch.recordCount());
            count();
            return true;
        } catch (StorageIoException e) {
            if (e.kind() != Kind.NO_SPACE || isInDoubt) {
                throw e;
            }
            return false; // what was written of it is written over, or never read
        }
    }

    private int checksum(int frameBytes) {
        return crc.compute(
                frame.segment(),
                SpillFormat.PAYLOAD_BYTES_OFFSET,
                (long) frameBytes - SpillFormat.PAYLOAD_BYTES_OFFSET);
    }

    /** The one to append to; null if there is no space for another. */
    private @Nullable Segment segment() {
        Segment last = writing;
        if (last != null && last.bytes < place.segmentBytes()) {
            return last;
        }
        if (disk.usableBytes() - place.segmentBytes() < place.reserveBytes()) {
            return null;
        }
        if (last != null) {
            if (place.isAcknowledged()) {
                DiskFile full = file(last);
                if (full.size() > last.bytes) {
                    full.truncate(last.bytes); // half a batch, of when there was no space for it
                }
                isInDoubt = true;
                full.sync();
                isInDoubt = false;
                unmarked = last;
            }
            if (!last.equals(unread.peekFirst())) {
                last.close();
            }
            writing = null;
        }
        disk.createDirectories(place.directory());
        long number = segmentNumber;
        Segment next = new Segment(number, place.fileName(number, SUFFIX), false, FileHeader.BYTES);
        DiskFile file = disk.create(next.name);
        next.file = file;
        try {
            new FileHeader(SpillFormat.FORMAT, SpillFormat.VERSION, 0, place.owner(), number)
                    .writeTo(file);
        } catch (StorageException e) {
            next.close();
            disk.delete(next.name);
            throw e;
        }
        segmentNumber++;
        unread.add(next);
        writing = next;
        mark.needsNames();
        return next;
    }

    /** Makes all that was appended durable, and notes that it is. */
    void acknowledge() {
        checkNotInDoubt();
        Segment last = writing == null ? unmarked : writing;
        if (last == null) {
            return; // all of it is delivered
        }
        isInDoubt = true;
        if (last.equals(writing)) {
            file(last).sync();
        }
        Segment oldest = read.isEmpty() ? unread.peekFirst() : read.peekFirst();
        mark.write(oldest == null ? last.number : oldest.number, last.number, last.bytes);
        isInDoubt = false;
        unmarked = null;
    }

    private void checkNotInDoubt() {
        if (isInDoubt) {
            throw new StorageIoException(
                    Kind.IO,
                    "write",
                    place.directory(),
                    "a sync of it has failed before, and another one can't be believed",
                    null);
        }
    }

    // ---- reading

    /** Whether all was read back. */
    boolean isEmpty() {
        Segment first = unread.peekFirst();
        return first == null || (first.equals(writing) && readOffset == first.bytes);
    }

    /** Whether something that an earlier run has left is not delivered. */
    boolean hasLeftovers() {
        return hasLeftovers;
    }

    /**
     * Reads the next batch back.
     *
     * @return whether there was one: what an earlier run has left may end sooner than its files
     * @throws CorruptionException naming file and offset
     */
    boolean next(Batch target) {
        while (true) {
            Segment segment = unread.peekFirst();
            if (segment == null || isEmpty()) {
                return false;
            }
            try {
                if (segment.isSkipped || !hasFrame(segment)) {
                    pass();
                    continue;
                }
                int bytes = readFrame(segment);
                reader.of(
                        segment.name,
                        readOffset + SpillFormat.FRAME_HEADER_BYTES,
                        frame.segment(),
                        SpillFormat.FRAME_HEADER_BYTES,
                        (long) bytes - SpillFormat.FRAME_HEADER_BYTES);
                target.read(reader);
                target.leftBy(leftover(segment));
                readOffset += bytes;
                if (!hasLeftovers) {
                    waitingCount.addAndGet(-target.recordCount());
                }
                count();
                return true;
            } catch (CorruptionException e) {
                if (hasLeftovers && !mark.covers(segment.number, readOffset)) {
                    cut();
                    continue;
                }
                isDamaged = true;
                throw place.isAcknowledged()
                        ? e.in(
                                "records that were acknowledged can't be read back; to go on without what is left of them in this file, call it %s"
                                        .formatted(e.file().replace(SUFFIX, SKIP_SUFFIX)))
                        : e;
            }
        }
    }

    private Batch.Leftover leftover(Segment segment) {
        if (!hasLeftovers) {
            return Batch.Leftover.NONE;
        }
        return mark.covers(segment.number, readOffset)
                ? Batch.Leftover.ACKNOWLEDGED
                : Batch.Leftover.UNTOLD;
    }

    /** Whether there is more in a segment; of one that is acknowledged further there must be. */
    private boolean hasFrame(Segment segment) {
        if (hasLeftovers && readOffset == SpillFormat.FRAMES_OFFSET) {
            FileHeader header = FileHeader.readFrom(file(segment))
                    .check(segment.name, SpillFormat.FORMAT, SpillFormat.VERSION);
            if (header.storeId() != place.owner()) {
                throw new InvalidRequestException(
                        "%s is the spill of another feed of this name, into another dataset, of other fields, or with another mode (delete, or not): run that one until it is delivered, delete %s if its records are not wanted, or give this feed another name"
                                .formatted(segment.name, place.directory()));
            }
            header.checkOwner(segment.name, place.owner(), segment.number);
        }
        if (readOffset < segment.bytes) {
            return true;
        }
        boolean isShort = mark.endsIn(segment.number) || readOffset == SpillFormat.FRAMES_OFFSET;
        if (hasLeftovers && isShort && mark.covers(segment.number, readOffset)) {
            throw damaged(segment, "file", "longer", "%d bytes".formatted(segment.bytes));
        }
        return false;
    }

    /** Reads a frame into the buffer, and checks it; returns its length. */
    private int readFrame(Segment segment) {
        DiskFile file = file(segment);
        frame.clear();
        frame.reserve(SpillFormat.FRAME_HEADER_BYTES);
        int got = file.read(readOffset, frame.segment(), 0, SpillFormat.FRAME_HEADER_BYTES);
        if (got < SpillFormat.FRAME_HEADER_BYTES) {
            throw damaged(segment, "header of a frame", "24 bytes", "%d bytes".formatted(got));
        }
        int payload = frame.segment().get(Bytes.I32, SpillFormat.PAYLOAD_BYTES_OFFSET);
        long most = Math.min(FRAME_BYTES_MAX, segment.bytes - readOffset)
                - SpillFormat.FRAME_HEADER_BYTES;
        if (payload < 0 || payload > most) {
            throw damaged(
                    segment,
                    "length of a frame",
                    "0 to %d".formatted(most),
                    "%d".formatted(payload));
        }
        frame.reserve(payload);
        got = file.read(
                readOffset + SpillFormat.FRAME_HEADER_BYTES,
                frame.segment(),
                SpillFormat.FRAME_HEADER_BYTES,
                payload);
        if (got < payload) {
            throw damaged(
                    segment, "frame", "%d bytes".formatted(payload), "%d bytes".formatted(got));
        }
        int bytes = frame.length();
        int stored = frame.segment().get(Bytes.I32, SpillFormat.CHECKSUM_OFFSET);
        int computed = checksum(bytes);
        if (stored != computed) {
            throw damaged(segment, "checksum of a frame", hex(computed), hex(stored));
        }
        long of = frame.segment().get(Bytes.I64, SpillFormat.SEGMENT_OFFSET);
        long number = frame.segment().get(Bytes.I64, SpillFormat.NUMBER_OFFSET);
        Segment before = read.peekLast();
        if (readOffset == SpillFormat.FRAMES_OFFSET
                && before != null
                && wantedNumber >= 0
                && number != wantedNumber) {
            throw new CorruptionException(
                    before.name,
                    before.bytes,
                    "file",
                    "longer, by frames %d to %d".formatted(wantedNumber, number - 1),
                    "%d bytes".formatted(before.bytes));
        }
        if (of != segment.number || (wantedNumber >= 0 && number != wantedNumber)) {
            throw damaged(
                    segment,
                    "frame",
                    "%d of segment %d".formatted(wantedNumber, segment.number),
                    "%d of segment %d".formatted(number, of));
        }
        wantedNumber = number + 1;
        return bytes;
    }

    /** The first segment is read. */
    private void pass() {
        Segment segment = unread.remove();
        segment.close();
        if (segment.isSkipped) {
            wantedNumber = -1;
            if (mark.covers(segment.number, SpillFormat.FRAMES_OFFSET)) {
                lost.lost(segment.name, "is passed over, as its name says");
            }
        }
        read.add(segment);
        readOffset = SpillFormat.FRAMES_OFFSET;
        count();
    }

    /** What was never acknowledged ends here: behind it nothing was, either. */
    private void cut() {
        while (!unread.isEmpty()) {
            pass();
        }
    }

    /** The batch that was read last was published as that one of the ring. */
    void moved(long sequence) {
        Segment first = unread.peekFirst();
        if (first != null) {
            first.sequence = sequence;
        }
    }

    /** Whether {@link #release} would free something. */
    boolean canRelease(LongPredicate isTaken) {
        Segment first = read.peekFirst();
        if (first == null && isEmpty()) {
            first = unread.peekFirst();
        }
        return first == null ? hasLeftovers && unread.isEmpty() : isTaken.test(first.sequence);
    }

    /** Deletes the segments of which all batches are delivered. */
    void release(LongPredicate isTaken) {
        if (isDamaged) {
            return;
        }
        Segment last = writing;
        if (isEmpty() && last != null && isTaken.test(last.sequence)) {
            writing = null;
            pass();
        }
        while (!read.isEmpty() && isTaken.test(read.element().sequence)) {
            Segment gone = read.remove();
            if (gone.equals(unmarked)) {
                unmarked = null; // a mark in it would be missed
            }
            if (mark.endsIn(gone.number) && mark.wantsSegment()) {
                mark.write(gone.number, gone.number, 0); // or the next opening would miss it
            } else if (place.isAcknowledged()) {
                mark.forget(gone.number);
            }
            disk.delete(gone.name);
            if (place.isAcknowledged()) {
                disk.syncDirectory(place.directory());
            }
        }
        if (hasLeftovers && read.isEmpty() && unread.isEmpty()) {
            hasLeftovers = false;
            frameNumber = Math.max(0, wantedNumber);
            wantedNumber = frameNumber;
        }
        count();
    }

    // ---- what may be asked by any thread

    /** Of batches that wait to be read back. */
    long waitingBytes() {
        return waitingBytes;
    }

    /** Records of those, but for what an earlier run has left. */
    long waitingCount() {
        return waitingCount.get();
    }

    /** Of all its files. */
    long usedBytes() {
        return usedBytes;
    }

    // ----

    private DiskFile file(Segment segment) {
        DiskFile open = segment.file;
        if (open == null) {
            open = disk.openReadOnly(segment.name);
            segment.file = open;
        }
        return open;
    }

    private CorruptionException damaged(
            Segment segment, String what, String expected, String found) {
        return new CorruptionException(segment.name, readOffset, what, expected, found);
    }

    private static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }

    /** Closes the files; deletes them, unless the next run is to read them. */
    @Override
    public void close() {
        Cleanup cleanup = new Cleanup();
        for (ArrayDeque<Segment> some : List.of(read, unread)) {
            for (Segment segment : some) {
                cleanup.add(segment::close);
                if (!place.isAcknowledged()) {
                    cleanup.add(() -> disk.delete(segment.name));
                }
            }
        }
        boolean isDone = read.isEmpty() && unread.isEmpty();
        read.clear();
        unread.clear();
        if (!place.isAcknowledged()) {
            waitingBytes = 0;
        }
        cleanup.add(() -> mark.close(isDone)).run();
    }
}
