package io.turbidite.core.log;

import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileHeader;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One file of the log: the file header, then frames without gaps, then unused preallocated bytes.
 *
 * <p>Named by its number, {@code 0000000012.log}; numbers grow and gaps mean nothing. Written by the
 * writer, synced by one party at a time, read by recovery only.
 *
 * <p><em>Thread-safe</em> by volatile counters, each with one writing thread at a time.
 */
final class Segment {
    static final String FORMAT = "log-segment";
    static final int FORMAT_VERSION = 1;

    /** Where the first frame begins. */
    static final long FIRST_FRAME_OFFSET = FileHeader.BYTES;

    /** A frame without payload. */
    static final long MARK_BYTES = FrameFormat.frameBytes(0);

    /** What a segment holds besides records: header, its own mark, a session's mark, the seal. */
    static final long OVERHEAD_BYTES = FIRST_FRAME_OFFSET + 3 * MARK_BYTES;

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

    Segment(long number, DiskFile file, long capacityBytes) {
        this.number = number;
        this.file = file;
        this.capacityBytes = capacityBytes;
    }

    static String name(String directory, long number) {
        return (directory.isEmpty() ? "" : directory + "/") + "%010d.log".formatted(number);
    }

    /** The number in a plain file name, or −1 if it is not a segment's name. */
    static long numberOf(String plainName) {
        Matcher matcher = NAME.matcher(plainName);
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : -1;
    }

    static FileHeader header(long storeId, long number) {
        return new FileHeader(FORMAT, FORMAT_VERSION, 0, storeId, number);
    }

    /** Bytes that frames of records can still take; the mark of a clean close always has room. */
    long remainingBytes() {
        return capacityBytes - MARK_BYTES - usedBytes;
    }

    /** Makes what was written before the call durable; the callers take turns. */
    void sync() {
        long covered = usedBytes;
        file.sync();
        syncedBytes = Math.max(syncedBytes, covered);
    }

    boolean needsSync() {
        return usedBytes > syncedBytes;
    }

    @Override
    public String toString() {
        return "segment %d: from %d, %d of %d bytes, %d synced"
                .formatted(number, firstSequence, usedBytes, capacityBytes, syncedBytes);
    }
}
