package io.turbidite.hashlog.log;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.format.Crc32c;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Where the log begins after a truncation, to the record: segments are dropped whole, so that their
 * names say it only roughly, and a power cut may bring some of them back.
 *
 * <p><em>Immutable.</em> Two slots of 4 KiB in the file {@code TAIL}, behind those of the
 * {@link TailMark}s, written in turn and synced each time: a torn write destroys the older one at
 * most. The mark is durable before {@link HybridLog#begin()} says so and before a segment is
 * deleted. Layout (little-endian):
 *
 * <pre>
 * offset bytes field
 *      0     8 logId
 *      8     8 number     of the mark; the greater of two sound ones counts
 *     16     8 begin      address of the first record that may be read
 *     24    36 zero
 *     60     4 checksum   masked CRC32C of bytes 0 to 59
 * </pre>
 */
record BeginMark(long logId, long number, long begin) {
    static final int BYTES = 64;
    static final int LOG_ID_OFFSET = 0;
    static final int NUMBER_OFFSET = LOG_ID_OFFSET + 8;
    static final int BEGIN_OFFSET = NUMBER_OFFSET + 8;
    static final int ZERO_OFFSET = BEGIN_OFFSET + 8;
    static final int CHECKSUM_OFFSET = ZERO_OFFSET + 36;

    /**
     * Where the mark of this number belongs in the file: behind the envelope and two tail marks.
     */
    static long slotOffset(long number) {
        return LogShape.BLOCK_BYTES * (3 + (number & 1));
    }

    void write(MemorySegment target) {
        target.asSlice(0, BYTES).fill((byte) 0);
        target.set(Bytes.I64, LOG_ID_OFFSET, logId);
        target.set(Bytes.I64, NUMBER_OFFSET, number);
        target.set(Bytes.I64, BEGIN_OFFSET, begin);
        target.set(Bytes.I32, CHECKSUM_OFFSET, new Crc32c().compute(target, 0, CHECKSUM_OFFSET));
    }

    /**
     * The mark in {@code source}, or null: a torn or never written slot is no mark, and no damage.
     */
    static @Nullable BeginMark read(MemorySegment source, long logId) {
        int computed = new Crc32c().compute(source, 0, CHECKSUM_OFFSET);
        long begin = source.get(Bytes.I64, BEGIN_OFFSET);
        if (source.get(Bytes.I32, CHECKSUM_OFFSET) != computed
                || source.get(Bytes.I64, LOG_ID_OFFSET) != logId
                || begin < 0
                || begin >= 1L << LogShape.ADDRESS_BITS) {
            return null;
        }
        return new BeginMark(logId, source.get(Bytes.I64, NUMBER_OFFSET), begin);
    }
}
