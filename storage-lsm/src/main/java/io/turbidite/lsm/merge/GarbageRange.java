package io.turbidite.lsm.merge;

import io.turbidite.lsm.partition.GarbageEstimate;

import org.jspecify.annotations.Nullable;

/**
 * Chooses what to merge for the garbage that it takes away: the fewest bytes after which no more
 * than so much is left. Stateless and pure.
 */
public final class GarbageRange {
    private GarbageRange() {}

    /**
     * The cheapest row of neighbours whose merge leaves little enough; all, if even that leaves
     * more.
     *
     * @param pairs of versions that have not met, as {@link GarbageEstimate#pairs} gives them
     * @param bytes of each component, newest first
     * @param leftMax garbage that may stay
     * @return null if there are not two components, or there is no more garbage than may stay
     */
    public static @Nullable MergeRange cheapest(double[][] pairs, long[] bytes, double leftMax) {
        double total = 0;
        for (double[] row : pairs) {
            for (double count : row) {
                total += count;
            }
        }
        if (bytes.length < 2 || total <= leftMax) {
            return null;
        }
        MergeRange best = new MergeRange(0, bytes.length - 1);
        long bestBytes = Long.MAX_VALUE;
        for (int first = 0; first < bytes.length; first++) {
            double left = total;
            long cost = bytes[first];
            for (int last = first + 1; last < bytes.length && cost < bestBytes; last++) {
                cost += bytes[last];
                for (int newer = first; newer < last; newer++) {
                    left -= pairs[newer][last];
                }
                if (left <= leftMax && cost < bestBytes) {
                    best = new MergeRange(first, last);
                    bestBytes = cost;
                }
            }
        }
        return best;
    }
}
