package io.turbidite.lsm.schema;

/**
 * How entries are checked. <em>Immutable.</em>
 *
 * @param sortBytesMax memory to sort primary keys in; what is more goes through runs on disk
 * @param shortcuts whether entries may be told valid or invalid without being sorted, where that
 *     helps: by Bloom filters, and by the timestamps that are live
 * @param scanRatio the key trees are read from front to back if they have at most this many entries
 *     for each one to be checked, otherwise searched; 0 never scans. A step of a merged scan costs
 *     about a third of a search
 * @param liveRatio all key trees are scanned once, for all indexes, to learn which timestamps are
 *     live, if the entries that may have been superseded are this many times their keys
 */
public record RepairOptions(
        long sortBytesMax, boolean shortcuts, double scanRatio, double liveRatio) {
    /** What is good for most. */
    public static RepairOptions within(long sortBytesMax) {
        return new RepairOptions(sortBytesMax, true, 3, 1.5);
    }

    /** The same, and every entry is sorted. */
    public RepairOptions withoutShortcuts() {
        return new RepairOptions(sortBytesMax, false, scanRatio, liveRatio);
    }

    /** The same with other ratios. */
    public RepairOptions withRatios(double scan, double live) {
        return new RepairOptions(sortBytesMax, shortcuts, scan, live);
    }
}
