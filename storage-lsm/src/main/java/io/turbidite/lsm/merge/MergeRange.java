package io.turbidite.lsm.merge;

/**
 * Neighbouring components of a list that is ordered newest first; both ends are included. Policies
 * choose two at least; one by itself is rewritten. Immutable.
 *
 * @param firstIndex of the newest component to merge
 * @param lastIndex of the oldest component to merge
 */
public record MergeRange(int firstIndex, int lastIndex) {
    public MergeRange {
        if (firstIndex < 0 || lastIndex < firstIndex) {
            throw new IllegalArgumentException(
                    "merge range %d to %d".formatted(firstIndex, lastIndex));
        }
    }

    /** How many components are merged. */
    public int count() {
        return lastIndex - firstIndex + 1;
    }
}
