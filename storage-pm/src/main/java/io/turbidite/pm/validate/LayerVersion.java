package io.turbidite.pm.validate;

import io.turbidite.core.Limits;

/**
 * What a layer knows of a primary key, in one word: the newest timestamp (bits 0 to 46), whether
 * that operation has an entry (47), and how many entries the layer has for the key (48 to 63).
 *
 * <p><em>Stateless.</em>
 */
final class LayerVersion {
    private static final int ENTRY_SHIFT = 47;
    private static final int COUNT_SHIFT = 48;

    /** No count of a table goes as far. */
    private static final int COUNT_MAX = 0xFFFF;

    private LayerVersion() {}

    static long of(long timestamp, boolean hasEntry, int entryCount) {
        assert timestamp >= 0 && timestamp <= Limits.TIMESTAMP_MAX : timestamp;
        return timestamp
                | (hasEntry ? 1L << ENTRY_SHIFT : 0)
                | (long) Math.min(entryCount, COUNT_MAX) << COUNT_SHIFT;
    }

    static long timestamp(long word) {
        return word & Limits.TIMESTAMP_MAX;
    }

    static boolean hasEntry(long word) {
        return (word >>> ENTRY_SHIFT & 1) == 1;
    }

    static int entryCount(long word) {
        return (int) (word >>> COUNT_SHIFT);
    }

    /**
     * The word of the table of versions with the layer's operation.
     *
     * @param before a {@link VersionWord}; 0 for a key that it did not know
     */
    static long merged(long before, long layer, int keySum) {
        boolean isNewer = timestamp(layer) >= VersionWord.timestamp(before);
        return VersionWord.of(
                isNewer ? timestamp(layer) : VersionWord.timestamp(before),
                isNewer ? hasEntry(layer) : VersionWord.hasEntry(before),
                VersionWord.plus(VersionWord.count(before), entryCount(layer)),
                keySum);
    }
}
