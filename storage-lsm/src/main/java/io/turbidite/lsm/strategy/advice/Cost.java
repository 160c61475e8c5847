package io.turbidite.lsm.strategy.advice;

/**
 * What a strategy costs one index, in leaf pages, for all that was measured. Cached or not: pages
 * of memory are processor time, others a device's.
 *
 * @param written by flushes and merges
 * @param merging read and written besides, to find out what is obsolete while merging
 * @param querying read by queries beyond what they would read if nothing were obsolete and all
 *     entries known to be valid
 */
public record Cost(double written, double merging, double querying) {
    /** All of it, in leaf pages. */
    public double total() {
        return written + merging + querying;
    }
}
