package io.turbidite.lsm.strategy.advice;

import io.turbidite.lsm.schema.RepairPlacement;

/**
 * What is known of an index under auto and of what was done with it, all partitions together.
 * <em>Immutable.</em>
 *
 * @param now where its repair is placed now
 * @param debt what queries have paid since the last repair, and what the next one costs
 * @param isQuiet whether nobody writes, and neither flushes nor merges wait
 */
public record RepairEvidence(
        RepairPlacement now, Garbage garbage, Recent recent, Debt debt, boolean isQuiet) {
    /**
     * What lies on disk.
     *
     * @param entries of the index that are not known to be invalid
     * @param obsolete of these, about
     */
    public record Garbage(long entries, long obsolete) {
        double share() {
            return entries <= 0 ? 0 : Math.clamp((double) obsolete / entries, 0, 1);
        }
    }

    /**
     * What was done lately: older work counts for less.
     *
     * @param writes that were flushed
     * @param updates of these, took the place of something
     * @param paidPages that queries read for entries which were obsolete, one for each
     * @param mergePages that merges read, or would read, to check the entries of those writes
     */
    public record Recent(double writes, double updates, double paidPages, double mergePages) {
        double updateShare() {
            return writes < 1 ? 0 : Math.clamp(updates / writes, 0, 1);
        }
    }

    /**
     * Whether to rent or to buy.
     *
     * @param paidPages that queries read for obsolete entries since the last repair
     * @param repairPages that a repair of all that can be checked further would read; 0 if there is
     *     none
     * @param passedOverMax obsolete entries that one query passed over since, if they were more
     *     than a query should; else 0
     */
    public record Debt(double paidPages, double repairPages, long passedOverMax) {}
}
