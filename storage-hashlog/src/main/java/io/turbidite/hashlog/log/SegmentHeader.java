package io.turbidite.hashlog.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileHeader;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The first block of a segment file: the envelope and the shape of the pages behind it.
 *
 * <p><em>Immutable.</em> Format {@code hashlog-segment}, version 2 (1 had key pointers of 16
 * bytes). Layout (little-endian):
 *
 * <pre>
 * offset bytes field
 *      0    64 envelope          {@link FileHeader}: storeId = the log's id, fileId = segment number
 *     64     8 firstPage         number of the first page
 *     72     4 pageBytes
 *     76     4 pageCount         pages that the file has room for
 *     80     4 blockBytes        4096
 *     84     4 checksum          masked CRC32C of bytes 64 to 83
 *     88       zeros up to 4096
 *   4096       pages, in order
 * </pre>
 *
 * <p>The padding keeps every page at a multiple of 4 KiB, as direct I/O wants it. A segment has no
 * footer: its pages vouch for themselves, and it may end early.
 */
record SegmentHeader(long logId, long firstPage, int pageBytes, int pageCount) {
    static final String FORMAT = "hashlog-segment";
    static final int VERSION = 2;

    /** Where the first page begins. */
    static final int BYTES = LogShape.BLOCK_BYTES;

    static final int FIRST_PAGE_OFFSET = FileHeader.BYTES;
    static final int PAGE_BYTES_OFFSET = FIRST_PAGE_OFFSET + 8;
    static final int PAGE_COUNT_OFFSET = PAGE_BYTES_OFFSET + 4;
    static final int BLOCK_BYTES_OFFSET = PAGE_COUNT_OFFSET + 4;
    static final int CHECKSUM_OFFSET = BLOCK_BYTES_OFFSET + 4;

    static SegmentHeader of(long logId, LogShape shape, long segment) {
        return new SegmentHeader(
                logId,
                segment * shape.segmentPageCount(),
                shape.pageBytes(),
                shape.segmentPageCount());
    }

    long segment() {
        return firstPage / pageCount;
    }

    void writeTo(DiskFile file) {
        // where direct I/O wants it, and once for each segment
        MemorySegment bytes = Arena.ofAuto().allocate(BYTES, BYTES);
        new FileHeader(FORMAT, VERSION, 0, logId, segment()).write(bytes, 0);
        bytes.set(Bytes.I64, FIRST_PAGE_OFFSET, firstPage);
        bytes.set(Bytes.I32, PAGE_BYTES_OFFSET, pageBytes);
        bytes.set(Bytes.I32, PAGE_COUNT_OFFSET, pageCount);
        bytes.set(Bytes.I32, BLOCK_BYTES_OFFSET, LogShape.BLOCK_BYTES);
        bytes.set(Bytes.I32, CHECKSUM_OFFSET, checksum(bytes));
        file.write(0, bytes, 0, BYTES);
    }

    /**
     * Requires that {@code file} is that segment of that log.
     *
     * @throws CorruptionException if it is damaged, or another log's, or another segment
     * @throws io.turbidite.core.FormatVersionException if a newer release wrote it
     */
    void check(DiskFile file) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        int byteCount = file.read(0, bytes, 0, BYTES);
        String name = file.name();
        if (byteCount < BYTES) {
            throw PageHeader.damaged(name, 0, "segment bytes", BYTES, byteCount);
        }
        FileHeader.read(name, bytes, 0)
                .check(name, FORMAT, VERSION)
                .checkOwner(name, logId, segment());
        int stored = bytes.get(Bytes.I32, CHECKSUM_OFFSET);
        int computed = checksum(bytes);
        if (stored != computed) {
            throw PageHeader.damaged(
                    name, CHECKSUM_OFFSET, "segment header checksum", computed, stored);
        }
        require(name, bytes.get(Bytes.I64, FIRST_PAGE_OFFSET), firstPage, "first page");
        require(name, bytes.get(Bytes.I32, PAGE_BYTES_OFFSET), pageBytes, "page bytes");
        require(name, bytes.get(Bytes.I32, PAGE_COUNT_OFFSET), pageCount, "page count");
        require(name, bytes.get(Bytes.I32, BLOCK_BYTES_OFFSET), LogShape.BLOCK_BYTES, "block");
        for (int i = CHECKSUM_OFFSET + 4; i < BYTES; i++) {
            if (bytes.get(Bytes.U8, i) != 0) {
                throw PageHeader.damaged(name, i, "padding", 0, bytes.get(Bytes.U8, i));
            }
        }
    }

    private static void require(String file, long found, long expected, String what) {
        if (found != expected) {
            throw PageHeader.damaged(file, FIRST_PAGE_OFFSET, what, expected, found);
        }
    }

    private static int checksum(MemorySegment bytes) {
        return new Crc32c().compute(bytes, FIRST_PAGE_OFFSET, CHECKSUM_OFFSET - FIRST_PAGE_OFFSET);
    }
}
