package io.turbidite.hashlog.log;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.format.Crc32c;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * How much of the newest, not yet sealed page is durable, with a checksum of it.
 *
 * <p><em>Immutable.</em> Two slots of 4 KiB in the file {@code TAIL}, behind one block with its
 * envelope (format {@code hashlog-tail}, version 2), written in turn: a torn write destroys the
 * older one at most. A slot has the mark twice, at 0 and at 2048: damage to one copy of the newest
 * mark would look like a torn write otherwise, and cut what was durable. Layout of a copy
 * (little-endian):
 *
 * <pre>
 * offset bytes field
 *      0     8 logId
 *      8     8 number              of the mark; the greater of two sound ones counts
 *     16     8 page
 *     24     8 firstArrivalMicros  of the page
 *     32     4 usedBytes           from the start of the page
 *     36     4 pageChecksum        masked CRC32C of the page from behind its header to usedBytes
 *     40    20 zero
 *     60     4 checksum            masked CRC32C of bytes 0 to 59
 * </pre>
 *
 * <p>The page's bytes are durable before the mark is written. They never change afterwards, so the
 * page may grow and be sealed in place: until its header is whole the mark still holds. A mark that
 * ends at the page's header says that all pages below are durable; it is not synced, since they
 * speak for themselves.
 */
record TailMark(
        long logId,
        long number,
        long page,
        long firstArrivalMicros,
        int usedBytes,
        int pageChecksum) {
    static final String FORMAT = "hashlog-tail";
    static final int VERSION = 2;
    static final int BYTES = 64;
    static final int LOG_ID_OFFSET = 0;
    static final int NUMBER_OFFSET = LOG_ID_OFFSET + 8;
    static final int PAGE_OFFSET = NUMBER_OFFSET + 8;
    static final int FIRST_ARRIVAL_OFFSET = PAGE_OFFSET + 8;
    static final int USED_OFFSET = FIRST_ARRIVAL_OFFSET + 8;
    static final int PAGE_CHECKSUM_OFFSET = USED_OFFSET + 4;
    static final int ZERO_OFFSET = PAGE_CHECKSUM_OFFSET + 4;
    static final int CHECKSUM_OFFSET = ZERO_OFFSET + 20;

    /** Of a page without records. */
    static final int NOTHING_CHECKSUM = new Crc32c().begin().value();

    /** Where the second copy lies in a slot. */
    static final int COPY_OFFSET = 2_048;

    /** Where the mark of this number belongs in the file. */
    static long slotOffset(long number) {
        return LogShape.BLOCK_BYTES * (1 + (number & 1));
    }

    /** Up to where the log was durable. */
    long address(LogShape shape) {
        return shape.startOf(page) + usedBytes;
    }

    /** The same with another number. */
    TailMark numbered(long other) {
        return new TailMark(logId, other, page, firstArrivalMicros, usedBytes, pageChecksum);
    }

    /** Whether both say the same, whatever their numbers are. */
    boolean saysAs(TailMark other) {
        return numbered(other.number).equals(other);
    }

    void writeTwice(MemorySegment slot) {
        write(slot);
        MemorySegment.copy(slot, 0, slot, COPY_OFFSET, BYTES);
    }

    /** The mark of a slot, from the copy that is sound, or null. */
    static @Nullable TailMark readEither(MemorySegment slot, long logId, LogShape shape) {
        TailMark mark = read(slot, logId, shape);
        return mark != null ? mark : read(slot.asSlice(COPY_OFFSET), logId, shape);
    }

    private void write(MemorySegment target) {
        target.asSlice(0, BYTES).fill((byte) 0);
        target.set(Bytes.I64, LOG_ID_OFFSET, logId);
        target.set(Bytes.I64, NUMBER_OFFSET, number);
        target.set(Bytes.I64, PAGE_OFFSET, page);
        target.set(Bytes.I64, FIRST_ARRIVAL_OFFSET, firstArrivalMicros);
        target.set(Bytes.I32, USED_OFFSET, usedBytes);
        target.set(Bytes.I32, PAGE_CHECKSUM_OFFSET, pageChecksum);
        target.set(Bytes.I32, CHECKSUM_OFFSET, new Crc32c().compute(target, 0, CHECKSUM_OFFSET));
    }

    /**
     * The mark in {@code source}, or null: a torn or never written slot is no mark, and no damage.
     */
    private static @Nullable TailMark read(MemorySegment source, long logId, LogShape shape) {
        int computed = new Crc32c().compute(source, 0, CHECKSUM_OFFSET);
        if (source.get(Bytes.I32, CHECKSUM_OFFSET) != computed
                || source.get(Bytes.I64, LOG_ID_OFFSET) != logId) {
            return null;
        }
        int usedBytes = source.get(Bytes.I32, USED_OFFSET);
        long page = source.get(Bytes.I64, PAGE_OFFSET);
        if (usedBytes < shape.pageHeaderBytes()
                || usedBytes > shape.pageBytes()
                || page < 0
                || page >= shape.pageCountMax()) {
            return null;
        }
        return new TailMark(
                logId,
                source.get(Bytes.I64, NUMBER_OFFSET),
                page,
                source.get(Bytes.I64, FIRST_ARRIVAL_OFFSET),
                usedBytes,
                source.get(Bytes.I32, PAGE_CHECKSUM_OFFSET));
    }
}
