package io.turbidite.lsm.schema;

/**
 * What a repair did.
 *
 * @param components that were checked
 * @param checked entries that were looked at
 * @param spared of these, told valid or invalid by Bloom filters or timestamps alone
 * @param searched of these, looked up in key trees
 * @param marked of these, found invalid
 * @param keyPages pages of key trees that were read
 * @param nanos of work, all workers together
 */
public record RepairCounts(
        long components,
        long checked,
        long spared,
        long searched,
        long marked,
        long keyPages,
        long nanos) {
    /** Nothing was done. */
    public static final RepairCounts NONE = new RepairCounts(0, 0, 0, 0, 0, 0, 0);

    /** The same of so many components, in so much time. */
    public RepairCounts ofComponents(long count, long nanosTaken) {
        return new RepairCounts(count, checked, spared, searched, marked, keyPages, nanosTaken);
    }

    /** The sum of both, count by count. */
    public RepairCounts plus(RepairCounts other) {
        return new RepairCounts(
                components + other.components,
                checked + other.checked,
                spared + other.spared,
                searched + other.searched,
                marked + other.marked,
                keyPages + other.keyPages,
                nanos + other.nanos);
    }
}
