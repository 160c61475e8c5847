package io.turbidite.hashlog.table;

import io.turbidite.core.InvalidRequestException;

/**
 * How many buckets a table has. <em>Immutable.</em>
 *
 * <p>Two hashes share an entry exactly if their {@code baseBits} lower bits and their tags are
 * equal, however often the table has doubled. So chains that were linked through a table stay
 * complete in every table of the same or more base bits, and not in one of fewer.
 *
 * @param baseBits the lower bits of a hash that the table began with, 6 to 26
 * @param doublings how often it has grown since, 0 to 8
 */
public record TableShape(int baseBits, int doublings) {
    /** More would be 4 GiB of buckets to begin with. */
    public static final int BASE_BITS_MAX = 26;

    public TableShape {
        if (baseBits < 6 || baseBits > BASE_BITS_MAX) {
            throw new InvalidRequestException(
                    "a hash table must have 2^6 to 2^26 buckets, not 2^" + baseBits);
        }
        if (doublings < 0 || doublings > Buckets.DOUBLING_COUNT_MAX || baseBits + doublings > 30) {
            throw new InvalidRequestException(
                    "a table of 2^%d buckets can't double %d times".formatted(baseBits, doublings));
        }
    }

    public int bucketCount() {
        return 1 << (baseBits + doublings);
    }
}
