package io.turbidite.lsm.merge;

/**
 * What a merge policy knows about a disk component. Immutable.
 *
 * @param bytes of its file
 * @param minTimestamp with {@code maxTimestamp} the component's ID: the timestamps it covers
 * @param generation 0 for what a flush or a load wrote; one more than the highest of its inputs for
 *     what a merge wrote
 * @param isMerging whether it is an input of a merge that is running or waiting to run: it will be
 *     replaced, and must not be chosen
 */
public record ComponentSize(
        long bytes, long minTimestamp, long maxTimestamp, int generation, boolean isMerging) {
    public ComponentSize {
        if (bytes < 0 || minTimestamp > maxTimestamp || generation < 0) {
            throw new IllegalArgumentException("component [%d, %d] of %d bytes, generation %d"
                    .formatted(minTimestamp, maxTimestamp, bytes, generation));
        }
    }

    /** The same, marked as an input of a merge. */
    public ComponentSize merging() {
        return new ComponentSize(bytes, minTimestamp, maxTimestamp, generation, true);
    }
}
