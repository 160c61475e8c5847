package io.turbidite.lsm.merge;

/**
 * What a merge policy knows about a disk component. Immutable.
 *
 * @param bytes of its file
 * @param minTimestamp with {@code maxTimestamp} the component's ID: the timestamps it covers
 */
public record ComponentSize(long bytes, long minTimestamp, long maxTimestamp) {
    public ComponentSize {
        if (bytes < 0 || minTimestamp > maxTimestamp) {
            throw new IllegalArgumentException(
                    "component [%d, %d] of %d bytes".formatted(minTimestamp, maxTimestamp, bytes));
        }
    }
}
