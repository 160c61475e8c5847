package io.turbidite.pm.region;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.index.RegionSessions;

/**
 * Whose a region is, and what it may become. <em>Immutable.</em>
 *
 * @param storeId the store's random number
 * @param indexId the index's number in its store; each partition has one of its own
 * @param pageBytes of a page of postings: a multiple of 256, from 256 to 32 KiB
 * @param bytesMax beyond which it does not grow: from 256 KiB to 256 GiB
 * @param sessions of the store: what it must be of when it is opened, and is of from then on
 */
public record RegionSpec(
        long storeId, long indexId, int pageBytes, long bytesMax, RegionSessions sessions) {
    /** What a page of postings has unless told. */
    public static final int PAGE_BYTES_DEFAULT = 1_024;

    static final int PAGE_BYTES_MAX = 1 << 15;

    /** Blocks are numbered by ints, in a set of those in use that would take 128 MiB then. */
    static final long BYTES_MAX = 1L << 38;

    /** Heads of a page, of a group, of an entry. */
    private static final int PAGE_OVERHEAD_BYTES = 32;

    public RegionSpec {
        if (pageBytes < RegionMemory.BLOCK_BYTES
                || pageBytes > PAGE_BYTES_MAX
                || pageBytes % RegionMemory.BLOCK_BYTES != 0) {
            throw new InvalidRequestException(
                    "pageBytes must be a multiple of %d from %d to %d, not %d"
                            .formatted(
                                    RegionMemory.BLOCK_BYTES,
                                    RegionMemory.BLOCK_BYTES,
                                    PAGE_BYTES_MAX,
                                    pageBytes));
        }
        if (bytesMax < Region.BYTES_MIN || bytesMax > BYTES_MAX) {
            throw new InvalidRequestException("bytes of a region must be from %d to %d, not %d"
                    .formatted(Region.BYTES_MIN, BYTES_MAX, bytesMax));
        }
    }

    /** Of nobody's store. */
    public RegionSpec(long storeId, long indexId, int pageBytes, long bytesMax) {
        this(storeId, indexId, pageBytes, bytesMax, RegionSessions.NONE);
    }

    /** The same of a region that this session has made. */
    public RegionSpec ofThisSession() {
        long now = sessions.now();
        return new RegionSpec(storeId, indexId, pageBytes, bytesMax, new RegionSessions(now, now));
    }

    /** Longest primary key that a page of postings can hold. */
    public int primaryKeyBytesMax() {
        return Math.min(Limits.KEY_BYTES_MAX, pageBytes - PAGE_OVERHEAD_BYTES);
    }
}
