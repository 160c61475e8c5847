package io.turbidite.lsm.component;

import io.turbidite.core.InvalidRequestException;

/**
 * The layout and storage of an index's leaf pages. <em>Immutable.</em>
 *
 * @param pageBytes most bytes of a leaf page, 4 KiB to 128 KiB; only a page of one entry may be
 *     longer. Lower it for single records from a small cache; raise it for scans and compression
 * @param compression of leaf pages: {@code none}, {@code lz4}, {@code zstd}; the last two need
 *     their library. Set it when the disk is small or slow, or the data does not fit the cache
 */
public record PageOptions(int pageBytes, Compression compression) {
    /** The least size of a page, in bytes. */
    public static final int PAGE_BYTES_MIN = 4 << 10;

    /** The greatest size of a page, in bytes. */
    public static final int PAGE_BYTES_MAX = 128 << 10;

    /**
     * 16 KiB holds about 32 records of 500 bytes; the interior is a three-hundredth. With twice the
     * size, reading one record out of a small cache costs half as much again, and a scan saves next
     * to nothing.
     */
    public static final int PAGE_BYTES_DEFAULT = 16 << 10;

    public PageOptions {
        if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) {
            throw new InvalidRequestException("page of %d bytes; %d to %d are possible"
                    .formatted(pageBytes, PAGE_BYTES_MIN, PAGE_BYTES_MAX));
        }
    }

    /** 16 KiB, not compressed. */
    public static PageOptions standard() {
        return new PageOptions(PAGE_BYTES_DEFAULT, Compression.NONE);
    }

    /** The same with another {@link #pageBytes}. */
    public PageOptions withPageBytes(int value) {
        return new PageOptions(value, compression);
    }

    /** The same with another {@link #compression}. */
    public PageOptions withCompression(Compression value) {
        return new PageOptions(pageBytes, value);
    }

    @Override
    public String toString() {
        return "%d bytes, %s".formatted(pageBytes, compression.label());
    }
}
