package io.turbidite.hashlog.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.format.Crc32c;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * The start of every page on disk: which page it is, when its records came, and a checksum for each
 * block of the page, so that a reader of one record fetches and verifies 4 KiB and not the page.
 *
 * <p><em>Immutable.</em> Layout (little-endian), at offset 0 of the page:
 *
 * <pre>
 * offset bytes field
 *      0     8 magic               "TURBPAGE"
 *      8     8 logId               random, of the log
 *     16     8 page                its number
 *     24     8 firstArrivalMicros  wall clock when the page was opened
 *     32     8 lastArrivalMicros   wall clock when it was closed
 *     40     8 durable             address; all below it was durable when this was written
 *                                  (0: an older release wrote it)
 *     48     4 registryNumber      of the registry's changes, as this was written; that
 *                                  registry was durable (0: none, or an older release)
 *     52     8 zero
 *     60     4 checksum            masked CRC32C of bytes 0 to 59 and of the block checksums
 *     64    4n blockChecksums      masked CRC32C of each 4 KiB of the page; what of a block belongs to
 *                                  this header is left out
 * 64+4n        zeros up to a multiple of 64
 * </pre>
 *
 * <p>Written once, when the page is closed and everything in it is final (sealed). A page that is
 * not sealed has no header on disk; its {@link TailMark} says how much of it is there.
 */
public record PageHeader(
        long logId,
        long page,
        long firstArrivalMicros,
        long lastArrivalMicros,
        long durable,
        int registryNumber) {
    static final long MAGIC = 0x4547_4150_4252_5554L; // "TURBPAGE" read little-endian
    static final int MAGIC_OFFSET = 0;
    static final int LOG_ID_OFFSET = MAGIC_OFFSET + 8;
    static final int PAGE_OFFSET = LOG_ID_OFFSET + 8;
    static final int FIRST_ARRIVAL_OFFSET = PAGE_OFFSET + 8;
    static final int LAST_ARRIVAL_OFFSET = FIRST_ARRIVAL_OFFSET + 8;
    static final int DURABLE_OFFSET = LAST_ARRIVAL_OFFSET + 8;
    static final int REGISTRY_OFFSET = DURABLE_OFFSET + 8;
    static final int ZERO_OFFSET = REGISTRY_OFFSET + 4;
    static final int CHECKSUM_OFFSET = ZERO_OFFSET + 8;
    static final int BLOCKS_OFFSET = CHECKSUM_OFFSET + 4;
    private static final int ALIGNMENT = 64;

    /** Bytes of the header of a page of {@code blockCount} blocks. */
    static int bytes(int blockCount) {
        return (BLOCKS_OFFSET + 4 * blockCount + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /** Seals {@code page}: computes the block checksums and writes the header before them. */
    void seal(MemorySegment page, Crc32c crc) {
        int blockCount = (int) (page.byteSize() / LogShape.BLOCK_BYTES);
        int headerBytes = bytes(blockCount);
        page.asSlice(0, headerBytes).fill((byte) 0);
        page.set(Bytes.I64, MAGIC_OFFSET, MAGIC);
        page.set(Bytes.I64, LOG_ID_OFFSET, logId);
        page.set(Bytes.I64, PAGE_OFFSET, this.page);
        page.set(Bytes.I64, FIRST_ARRIVAL_OFFSET, firstArrivalMicros);
        page.set(Bytes.I64, LAST_ARRIVAL_OFFSET, lastArrivalMicros);
        page.set(Bytes.I64, DURABLE_OFFSET, durable);
        page.set(Bytes.I32, REGISTRY_OFFSET, registryNumber);
        for (int i = 0; i < blockCount; i++) {
            page.set(Bytes.I32, BLOCKS_OFFSET + 4L * i, blockChecksum(page, i, headerBytes, crc));
        }
        page.set(Bytes.I32, CHECKSUM_OFFSET, checksum(page, 0, headerBytes, crc));
        crc.forget();
    }

    /**
     * Decodes and verifies the header at {@code offset} of {@code source}, which holds all its
     * bytes.
     *
     * @param file for messages
     * @param fileOffset where the page begins in it
     * @throws CorruptionException if it is not the sealed header of that page of that log
     */
    static PageHeader read(
            String file, long fileOffset, MemorySegment source, LogShape shape, long wantedPage) {
        long magic = source.get(Bytes.I64, MAGIC_OFFSET);
        if (magic != MAGIC) {
            throw damaged(file, fileOffset + MAGIC_OFFSET, "page magic", MAGIC, magic);
        }
        int stored = source.get(Bytes.I32, CHECKSUM_OFFSET);
        int computed = checksum(source, 0, shape.pageHeaderBytes(), new Crc32c());
        if (stored != computed) {
            throw damaged(
                    file, fileOffset + CHECKSUM_OFFSET, "page header checksum", computed, stored);
        }
        long page = source.get(Bytes.I64, PAGE_OFFSET);
        if (page != wantedPage) {
            throw damaged(file, fileOffset + PAGE_OFFSET, "page number", wantedPage, page);
        }
        return new PageHeader(
                source.get(Bytes.I64, LOG_ID_OFFSET),
                page,
                source.get(Bytes.I64, FIRST_ARRIVAL_OFFSET),
                source.get(Bytes.I64, LAST_ARRIVAL_OFFSET),
                source.get(Bytes.I64, DURABLE_OFFSET),
                source.get(Bytes.I32, REGISTRY_OFFSET));
    }

    /** The header if it is the sealed one of that page, of whatever log, else null. */
    static @Nullable PageHeader readIfSound(MemorySegment source, LogShape shape, long page) {
        try {
            return read("", 0, source, shape, page);
        } catch (CorruptionException unsound) {
            return null;
        }
    }

    /** Requires that the page is of the log that is meant. */
    PageHeader checkOwner(String file, long fileOffset, long wantedLogId) {
        if (logId != wantedLogId) {
            throw damaged(file, fileOffset + LOG_ID_OFFSET, "log id", wantedLogId, logId);
        }
        return this;
    }

    /**
     * Requires that a block is what was sealed.
     *
     * @param header holds the page's header, verified before
     * @param blocks holds the block at {@code offset}
     * @throws CorruptionException otherwise
     */
    static void checkBlock(
            String file,
            long fileOffset,
            MemorySegment header,
            int block,
            MemorySegment blocks,
            long offset,
            int headerBytes,
            Crc32c crc) {
        int skipped = headerBytesIn(block, headerBytes);
        int computed = crc.compute(blocks, offset + skipped, LogShape.BLOCK_BYTES - skipped);
        int stored = header.get(Bytes.I32, BLOCKS_OFFSET + 4L * block);
        if (stored != computed) {
            throw damaged(
                    file,
                    fileOffset + (long) block * LogShape.BLOCK_BYTES,
                    "block checksum",
                    stored,
                    computed);
        }
    }

    private static int blockChecksum(MemorySegment page, int block, int headerBytes, Crc32c crc) {
        int skipped = headerBytesIn(block, headerBytes);
        return crc.compute(
                page,
                (long) block * LogShape.BLOCK_BYTES + skipped,
                LogShape.BLOCK_BYTES - skipped);
    }

    private static int headerBytesIn(int block, int headerBytes) {
        return Math.clamp(
                headerBytes - (long) block * LogShape.BLOCK_BYTES, 0, LogShape.BLOCK_BYTES);
    }

    private static int checksum(MemorySegment source, long offset, int headerBytes, Crc32c crc) {
        return crc.begin()
                .update(source, offset, CHECKSUM_OFFSET)
                .update(source, offset + BLOCKS_OFFSET, headerBytes - BLOCKS_OFFSET)
                .value();
    }

    /** Of checksums, which have no sign. */
    static CorruptionException damaged(String file, long at, String what, int expected, int found) {
        return damaged(
                file, at, what, Integer.toUnsignedLong(expected), Integer.toUnsignedLong(found));
    }

    static CorruptionException damaged(
            String file, long at, String what, long expected, long found) {
        return new CorruptionException(
                file, at, what, "0x" + Long.toHexString(expected), "0x" + Long.toHexString(found));
    }
}
