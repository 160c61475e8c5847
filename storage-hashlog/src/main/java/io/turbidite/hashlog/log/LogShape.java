package io.turbidite.hashlog.log;

import io.turbidite.core.InvalidRequestException;

/**
 * How a log's addresses map to pages, frames and segments. <em>Immutable.</em>
 *
 * <p>An address is a byte offset from the birth of the log:
 * {@code page number * pageBytes + offset in the page}. Each page starts with its
 * {@link PageHeader}, so no record has an address below {@link #firstAddress()}, and 0 can mean
 * "none" in chains. Addresses have 48 bits.
 *
 * @param pageBytes a power of two, 16 KiB to 32 MiB: records never span pages, so every offset and
 *     length within a record fits 25 bits. Lower it for small logs; raise it for records of
 *     megabytes
 * @param ringPageCount pages kept in memory, a power of two, 4 to 1,048,576. Raise it when recent
 *     records are read often, or ingestion waits for the disk
 * @param segmentPageCount pages of a segment file, 1 to 65,536. Lower it when retention must drop
 *     finer pieces
 */
public record LogShape(int pageBytes, int ringPageCount, int segmentPageCount) {
    /** What one checksum covers on disk, and so the least that a reader has to fetch. */
    public static final int BLOCK_BYTES = 4_096;

    /** Addresses fit the 48 bits that chains and table entries have for them. */
    public static final int ADDRESS_BITS = 48;

    private static final int PAGE_BYTES_MIN = 16 << 10;
    private static final int PAGE_BYTES_MAX = 32 << 20;

    /** Page numbers have to fit the packed tail. */
    private static final long PAGE_COUNT_MAX = 1L << 23;

    public LogShape {
        check("pageBytes", pageBytes, PAGE_BYTES_MIN, PAGE_BYTES_MAX);
        check("ringPageCount", ringPageCount, 4, 1 << 20);
        check("segmentPageCount", segmentPageCount, 1, 1 << 16);
        if (Integer.bitCount(pageBytes) != 1 || Integer.bitCount(ringPageCount) != 1) {
            throw new InvalidRequestException(
                    "pageBytes %d and ringPageCount %d must be powers of two"
                            .formatted(pageBytes, ringPageCount));
        }
    }

    /** 4 MiB pages, 64 of them in memory, 256 MiB segments. */
    public static LogShape defaults() {
        return new LogShape(4 << 20, 64, 64);
    }

    /** Memory of all pages that are kept, in bytes. */
    public long ringBytes() {
        return (long) pageBytes * ringPageCount;
    }

    /** How many bits of an address are the offset within its page. */
    public int pageBits() {
        return Integer.numberOfTrailingZeros(pageBytes);
    }

    /** The number of the page that holds an address. */
    public long pageOf(long address) {
        return address >>> pageBits();
    }

    /** The offset of an address within its page, in bytes. */
    public int offsetOf(long address) {
        return (int) (address & (pageBytes - 1));
    }

    /** The address of the page's first byte, which belongs to its header. */
    public long startOf(long page) {
        return page << pageBits();
    }

    /** The address of the page's first record. */
    public long firstRecordOf(long page) {
        return startOf(page) + pageHeaderBytes();
    }

    /** The smallest address that a record can have. */
    public long firstAddress() {
        return firstRecordOf(0);
    }

    /** How many blocks a page has. */
    public int blockCount() {
        return pageBytes / BLOCK_BYTES;
    }

    /** Header and block checksums at the start of each page; a multiple of 8. */
    public int pageHeaderBytes() {
        return PageHeader.bytes(blockCount());
    }

    /** The largest record that a page can hold, header and key pointers included. */
    public int recordBytesMax() {
        return pageBytes - pageHeaderBytes();
    }

    /** The number of the segment that holds a page. */
    public long segmentOf(long page) {
        return page / segmentPageCount;
    }

    /** How many pages a log may have in its life. */
    public long pageCountMax() {
        return Math.min(PAGE_COUNT_MAX, 1L << (ADDRESS_BITS - pageBits()));
    }

    private static void check(String what, int value, int min, int max) {
        if (value < min || value > max) {
            throw new InvalidRequestException(
                    "log option %s must be %d to %d but is %d".formatted(what, min, max, value));
        }
    }
}
