package io.turbidite.pm.validate;

import io.turbidite.core.Limits;

/**
 * What the table of versions knows of a primary key, in one word: the newest timestamp (bits 0 to
 * 46), whether that operation has an entry (47), how many entries are there physically (48 to 55,
 * saturated at 255), and a check (56 to 63) that finds any damage to one byte.
 *
 * <p><em>Stateless.</em>
 */
final class VersionWord {
    /** A count that is not known any more: it stays. */
    static final int COUNT_MAX = 255;

    private static final int ENTRY_SHIFT = 47;
    private static final int COUNT_SHIFT = 48;
    private static final int CHECK_SHIFT = 56;

    private VersionWord() {}

    static long of(long timestamp, boolean hasEntry, int count, int keySum) {
        assert timestamp >= 0 && timestamp <= Limits.TIMESTAMP_MAX : timestamp;
        long word = timestamp
                | (hasEntry ? 1L << ENTRY_SHIFT : 0)
                | (long) Math.min(count, COUNT_MAX) << COUNT_SHIFT;
        return word | (long) check(word, keySum) << CHECK_SHIFT;
    }

    static boolean isSound(long word, int keySum) {
        return word >>> CHECK_SHIFT == check(word, keySum);
    }

    /** The exclusive or of the seven bytes, of the key's, and of a constant. */
    private static int check(long word, int keySum) {
        long x = word & ((1L << CHECK_SHIFT) - 1);
        x ^= x >>> 32;
        x ^= x >>> 16;
        x ^= x >>> 8;
        return (int) (x ^ keySum ^ 0xA5) & 0xFF;
    }

    static long timestamp(long word) {
        return word & Limits.TIMESTAMP_MAX;
    }

    static boolean hasEntry(long word) {
        return (word >>> ENTRY_SHIFT & 1) == 1;
    }

    static int count(long word) {
        return (int) (word >>> COUNT_SHIFT) & 0xFF;
    }

    /** How many of the entries are not the newest operation's. */
    static int staleCount(long word) {
        int count = count(word);
        return count == COUNT_MAX ? COUNT_MAX : Math.max(0, count - (hasEntry(word) ? 1 : 0));
    }

    /** Whether a key may leave the table: nothing is there, and nothing is newest. */
    static boolean isForgotten(long word) {
        return count(word) == 0 && !hasEntry(word);
    }

    static int plus(int count, int more) {
        return count == COUNT_MAX ? COUNT_MAX : Math.min(count + more, COUNT_MAX);
    }
}
