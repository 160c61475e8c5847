package io.turbidite.core.log;

import io.turbidite.core.StoreInUseException;
import io.turbidite.core.StoreInUseException.Holder;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.MappedFile;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One file of the log: the file header, then frames without gaps, then unused bytes.
 *
 * <p>A file with a sound header has its whole length and its name on disk: the header is written
 * last. The length is there from the begin, so that a file that was cut is known by it; the space
 * behind what was written may be a hole. The first frame names the segment's first sequence; the
 * last one of a full segment says which segment is next.
 *
 * <p>Named by its number, {@code 0000000012.log}; no number is used twice and gaps mean nothing.
 * Segments follow each other by their first sequences: a reserve has its number long before it is
 * gone on in. Written by the writer, synced by one party at a time, read by recovery only.
 *
 * <p><em>Thread-safe</em> by volatile counters, each with one writing thread at a time.
 */
final class Segment {
    static final String FORMAT = "log-segment";
    static final int FORMAT_VERSION = 3;

    /** Where the first frame begins. */
    static final long FIRST_FRAME_OFFSET = FileHeader.BYTES;

    /** A frame without payload. */
    static final long MARK_BYTES = FrameFormat.frameBytes(0);

    /**
     * Kept free of records: a clean close puts a mark, and the session that then finds no room for
     * its own puts the one that the next segment goes on.
     */
    static final long RESERVED_BYTES =
            MARK_BYTES + FrameFormat.frameBytes(FrameFormat.CONTINUED_PAYLOAD_BYTES);

    /**
     * What a segment holds besides records: header, its own mark, a session's mark, the reserve.
     */
    static final long OVERHEAD_BYTES = FIRST_FRAME_OFFSET + 2 * MARK_BYTES + RESERVED_BYTES;

    /** Of a header's flags: all of the file has been written, if with zeros. */
    private static final int WRITTEN_FLAG = 1 << 6;

    /**
     * Length of the segment that a clean close goes on in when no record is needed any more: the
     * smallest power of two that holds the overhead. No record fits, so the next session makes a
     * segment first.
     */
    static final long CLOSING_BYTES = Long.highestOneBit(OVERHEAD_BYTES) << 1;

    private static final Pattern NAME = Pattern.compile("([0-9]{10,18})\\.log");

    final long number;
    final DiskFile file;
    final long capacityBytes;

    /** Sequence that its first record has or will have; −1 while it is a spare. */
    volatile long firstSequence = -1;

    /** Where the next frame goes. */
    volatile long usedBytes = FIRST_FRAME_OFFSET;

    /** How far it is known to be synced. */
    volatile long syncedBytes = FIRST_FRAME_OFFSET;

    /**
     * How far the file has been written, in an earlier use or with zeros: no full disk refuses that
     * again.
     */
    final long spaceBytes;

    /** Of the whole file, if it is written without calls of the system. */
    private volatile @Nullable MappedFile mapping;

    Segment(long number, DiskFile file, long capacityBytes, long spaceBytes) {
        this.number = number;
        this.file = file;
        this.capacityBytes = capacityBytes;
        this.spaceBytes = spaceBytes;
    }

    static String name(String directory, long number) {
        // some locales have digits of their own
        String plainName = String.format(Locale.ROOT, "%010d.log", number);
        return (directory.isEmpty() ? "" : directory + "/") + plainName;
    }

    /** The number in a plain file name, or −1 if it is not a segment's name. */
    static long numberOf(String plainName) {
        Matcher matcher = NAME.matcher(plainName);
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : -1;
    }

    /**
     * Takes the header away, durably, from a file that is about to be deleted or to become another
     * segment: a file made later may show what lay in its blocks if the power goes before its own
     * bytes are there, and must not be taken for this segment under another's name. Frames need no
     * such care; they are valid only in their place.
     */
    static void wipeHeader(DiskFile file) {
        file.write(0, MemorySegment.ofArray(new byte[FileHeader.BYTES]), 0, FileHeader.BYTES);
        file.sync();
    }

    /**
     * Locks a segment's file, as long as it is open: whoever comes into the directory past a
     * deleted lock file is refused here.
     *
     * @throws StoreInUseException if another process has it
     */
    static void lock(Disk disk, DiskFile file) {
        if (!file.tryLock()) {
            throw new StoreInUseException(disk.description(), Holder.ANOTHER_PROCESS);
        }
    }

    /**
     * Its flags are the binary logarithm of the segment's length, and whether all of it has been
     * written.
     */
    FileHeader header(long storeId) {
        int flags = Long.numberOfTrailingZeros(capacityBytes);
        return new FileHeader(
                FORMAT,
                FORMAT_VERSION,
                spaceBytes == capacityBytes ? flags | WRITTEN_FLAG : flags,
                storeId,
                number);
    }

    /** The length that a sound file with this header has. */
    static long capacityBytes(FileHeader header) {
        return 1L << Math.min(header.flags() & ~WRITTEN_FLAG, Long.SIZE - 2);
    }

    /** How far a sound file with this header has been written. */
    static long spaceBytes(FileHeader header) {
        return (header.flags() & WRITTEN_FLAG) == 0 ? 0 : capacityBytes(header);
    }

    /**
     * Bytes that frames of records can still take; negative when the last ones kept free are in
     * use.
     */
    long remainingBytes() {
        return capacityBytes - RESERVED_BYTES - usedBytes;
    }

    /** As {@link #remainingBytes}, of those that no full disk can refuse. */
    long remainingSpaceBytes() {
        return spaceBytes - RESERVED_BYTES - usedBytes;
    }

    /** What will not be refused to the segment's next use. */
    long spaceForNextUse() {
        return Math.max(spaceBytes, usedBytes);
    }

    /**
     * From here on the file is written without calls of the system. Only one whose space is all
     * there: a full disk answers a store with a signal.
     *
     * @return whether it could be mapped
     */
    boolean map() {
        if (spaceBytes != capacityBytes) {
            throw new IllegalStateException(this + " has a hole");
        }
        mapping = file.map(capacityBytes);
        return mapping != null;
    }

    /** Writes to the file, or to its mapping. */
    void write(long offset, MemorySegment source, long sourceOffset, int byteCount) {
        MappedFile mapped = mapping;
        if (mapped == null) {
            file.write(offset, source, sourceOffset, byteCount);
        } else {
            mapped.write(offset, source, sourceOffset, byteCount);
        }
    }

    /**
     * The writer has left it. A sync of a mapped file makes each page that was stored to read-only
     * first, and tells all processors each time; a sync of one that is not mapped need not.
     */
    void unmap() {
        MappedFile mapped = mapping;
        mapping = null;
        if (mapped != null) {
            mapped.close();
        }
    }

    /**
     * Another mapping of the same bytes, or null: it is not mapped, or that is refused. Whoever
     * holds the writer back puts it in place of the present one.
     */
    @Nullable
    MappedFile mapAgain() {
        return mapping == null ? null : file.map(capacityBytes);
    }

    /** The mapping it had, which the caller closes; null, and {@code fresh} is not taken. */
    @Nullable
    MappedFile replaceMapping(MappedFile fresh) {
        MappedFile old = mapping;
        if (old != null) {
            mapping = fresh;
        }
        return old;
    }

    /** Nobody writes it any more. */
    void close() {
        try {
            unmap();
        } finally {
            file.close();
        }
    }

    /** Makes what was written before the call durable; the callers take turns. */
    void sync() {
        long covered = usedBytes;
        file.sync();
        syncedBytes = Math.max(syncedBytes, covered);
    }

    boolean needsSync() {
        return unsyncedBytes() > 0;
    }

    long unsyncedBytes() {
        return usedBytes - syncedBytes;
    }

    @Override
    public String toString() {
        return "segment %d: from %d, %d of %d bytes, %d synced"
                .formatted(number, firstSequence, usedBytes, capacityBytes, syncedBytes);
    }
}
