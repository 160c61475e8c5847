package io.turbidite.lsm.repair;

/**
 * How entries are checked. <em>Immutable.</em>
 *
 * @param sortBytesMax memory to sort primary keys in; what is more goes through runs on disk
 * @param bloomShortcut whether Bloom filters may spare entries the sort, where that helps
 * @param scanRatio the key trees are read from front to back if they have at most this many entries for each
 *     one to be checked, otherwise searched; 0 never scans. A step of a merged scan costs about a third of a
 *     search
 */
public record RepairOptions(long sortBytesMax, boolean bloomShortcut, double scanRatio) {
    /** What is good for most. */
    public static RepairOptions within(long sortBytesMax) {
        return new RepairOptions(sortBytesMax, true, 3);
    }

    /** The same, and every entry is sorted. */
    public RepairOptions withoutBloomShortcut() {
        return new RepairOptions(sortBytesMax, false, scanRatio);
    }
}
