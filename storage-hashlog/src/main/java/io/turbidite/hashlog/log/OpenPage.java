package io.turbidite.hashlog.log;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.format.Crc32c;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * What the newest, not yet sealed page says of itself: how far it was written, with a checksum of
 * each block.
 *
 * <p><em>Immutable.</em> It lies where the {@link PageHeader} will be and has its length. Layout
 * (little-endian):
 *
 * <pre>
 * offset bytes field
 *      0     8 magic               "TURBOPEN"
 *      8     8 logId
 *     16     8 page                its number
 *     24     8 firstArrivalMicros  of the page
 *     32     8 begin               address where the log began, durably
 *     40     4 usedBytes           from the start of the page
 *     44     4 registryNumber      as in {@link PageHeader}
 *     48    12 zero
 *     60     4 checksum            masked CRC32C of bytes 0 to 59 and of the block checksums
 *     64    4n blockChecksums      masked CRC32C of what of each 4 KiB lies behind this header and below
 *                                  usedBytes; 0 where that is nothing
 * </pre>
 *
 * <p>It is written and synced with the page's bytes; the {@link TailMark} that says the same is
 * written behind that sync. So it never says less than the newest durable mark, but where a write
 * of the page was torn, and then its checksums don't agree. Two things follow: an older TAIL that
 * was put in the place of the newer one hides nothing, and damage to the newest page is told by the
 * block. Pages of older releases are without.
 */
record OpenPage(
        long logId,
        long page,
        long firstArrivalMicros,
        long begin,
        int usedBytes,
        int registryNumber) {
    static final long MAGIC = 0x4e45_504f_4252_5554L; // "TURBOPEN" read little-endian
    static final int MAGIC_OFFSET = 0;
    static final int LOG_ID_OFFSET = MAGIC_OFFSET + 8;
    static final int PAGE_OFFSET = LOG_ID_OFFSET + 8;
    static final int FIRST_ARRIVAL_OFFSET = PAGE_OFFSET + 8;
    static final int BEGIN_OFFSET = FIRST_ARRIVAL_OFFSET + 8;
    static final int USED_OFFSET = BEGIN_OFFSET + 8;
    static final int REGISTRY_OFFSET = USED_OFFSET + 4;
    static final int ZERO_OFFSET = REGISTRY_OFFSET + 4;
    static final int CHECKSUM_OFFSET = ZERO_OFFSET + 12;
    static final int BLOCKS_OFFSET = CHECKSUM_OFFSET + 4;

    /** Where its blocks end: all of the header is written with the page. */
    static int blockBytes(int headerBytes) {
        return (headerBytes + LogShape.BLOCK_BYTES - 1) & -LogShape.BLOCK_BYTES;
    }

    /**
     * Writes the header into {@code frame}, which holds the page.
     *
     * @param from checksums of blocks below are there already; 0 if none are
     */
    void write(MemorySegment frame, int headerBytes, int from, Crc32c crc) {
        if (from == 0) {
            frame.asSlice(0, headerBytes).fill((byte) 0);
        }
        frame.set(Bytes.I64, MAGIC_OFFSET, MAGIC);
        frame.set(Bytes.I64, LOG_ID_OFFSET, logId);
        frame.set(Bytes.I64, PAGE_OFFSET, page);
        frame.set(Bytes.I64, FIRST_ARRIVAL_OFFSET, firstArrivalMicros);
        frame.set(Bytes.I64, BEGIN_OFFSET, begin);
        frame.set(Bytes.I32, USED_OFFSET, usedBytes);
        frame.set(Bytes.I32, REGISTRY_OFFSET, registryNumber);
        for (int block = from / LogShape.BLOCK_BYTES;
                block * LogShape.BLOCK_BYTES < usedBytes;
                block++) {
            frame.set(
                    Bytes.I32,
                    BLOCKS_OFFSET + 4L * block,
                    checksum(frame, block, headerBytes, crc));
        }
        frame.set(Bytes.I32, CHECKSUM_OFFSET, checksum(frame, headerBytes, crc));
    }

    /** The header in {@code page} if it is sound, whatever the blocks are, else null. */
    static @Nullable OpenPage read(
            MemorySegment page, LogShape shape, long logId, long wantedPage, Crc32c crc) {
        int headerBytes = shape.pageHeaderBytes();
        int usedBytes = page.get(Bytes.I32, USED_OFFSET);
        long begin = page.get(Bytes.I64, BEGIN_OFFSET);
        if (page.get(Bytes.I64, MAGIC_OFFSET) != MAGIC
                || page.get(Bytes.I32, CHECKSUM_OFFSET) != checksum(page, headerBytes, crc)
                || page.get(Bytes.I64, LOG_ID_OFFSET) != logId
                || page.get(Bytes.I64, PAGE_OFFSET) != wantedPage
                || usedBytes < headerBytes
                || usedBytes > shape.pageBytes()
                || begin < 0
                || begin > shape.startOf(wantedPage) + usedBytes) {
            return null;
        }
        return new OpenPage(
                logId,
                wantedPage,
                page.get(Bytes.I64, FIRST_ARRIVAL_OFFSET),
                begin,
                usedBytes,
                page.get(Bytes.I32, REGISTRY_OFFSET));
    }

    /** Whether what {@code content} has of the block is what was written. */
    boolean isSound(MemorySegment content, int block, int headerBytes, Crc32c crc) {
        return content.get(Bytes.I32, BLOCKS_OFFSET + 4L * block)
                == checksum(content, block, headerBytes, crc);
    }

    /** Whether all of {@code content} up to {@link #usedBytes} is what was written. */
    boolean isWhole(MemorySegment content, int headerBytes, Crc32c crc) {
        for (int block = 0; block * LogShape.BLOCK_BYTES < usedBytes; block++) {
            if (!isSound(content, block, headerBytes, crc)) {
                return false;
            }
        }
        return true;
    }

    private int checksum(MemorySegment content, int block, int headerBytes, Crc32c crc) {
        int from = Math.max(headerBytes, block * LogShape.BLOCK_BYTES);
        int to = Math.min(usedBytes, (block + 1) * LogShape.BLOCK_BYTES);
        return to <= from ? 0 : crc.compute(content, from, to - (long) from);
    }

    private static int checksum(MemorySegment header, int headerBytes, Crc32c crc) {
        return crc.begin()
                .update(header, 0, CHECKSUM_OFFSET)
                .update(header, BLOCKS_OFFSET, headerBytes - (long) BLOCKS_OFFSET)
                .value();
    }
}
