package io.turbidite.lsm.entry;

import io.turbidite.core.scan.RecordRun;

/**
 * Entries behind the one that a cursor stands on, taken out of the same page already: a window on
 * arrays that are the cursor's. Who merges and who reconciles cut it where an entry of another
 * stream, or another version, comes first. <em>Confined to one thread.</em> Valid until the cursor
 * moves.
 */
public final class EntriesAhead {
    private static final long[] NO_NUMBERS = {};
    private static final int[] NO_PLACES = {};

    private long[] versions = NO_NUMBERS;
    private long[] prefixes = NO_NUMBERS;
    private long[] seconds = NO_NUMBERS;
    private int[] valueOffsets = NO_PLACES;
    private int[] valueBytes = NO_PLACES;
    private boolean hasSeconds;
    private int first;
    private int count;
    private boolean isCut;

    /** The columns of entries, which the cursor fills. <em>Confined to one thread.</em> */
    public static final class Columns {
        /** Timestamps times two, plus one for anti-matter. */
        public final long[] versions;

        /** The first eight bytes of each key, padded with zeros, as a number. */
        public final long[] prefixes;

        /** The eight bytes behind these, likewise, where all keys have one length. */
        public final long[] seconds;

        /** Where each value lies on the page. */
        public final int[] valueOffsets;

        public final int[] valueBytes;

        /** With room for so many entries. */
        public Columns(int entriesMax) {
            versions = new long[entriesMax];
            prefixes = new long[entriesMax];
            seconds = new long[entriesMax];
            valueOffsets = new int[entriesMax];
            valueBytes = new int[entriesMax];
        }
    }

    /** Shows nothing. */
    public void clear() {
        count = 0;
        isCut = true;
    }

    /**
     * Shows entries.
     *
     * @param areWhole whether prefixes and seconds are all of the keys, which have one length
     * @param from their place in the columns
     */
    public void show(Columns columns, boolean areWhole, int from, int entries) {
        versions = columns.versions;
        prefixes = columns.prefixes;
        seconds = columns.seconds;
        valueOffsets = columns.valueOffsets;
        valueBytes = columns.valueBytes;
        hasSeconds = areWhole;
        first = from;
        count = entries;
        isCut = false;
    }

    /** How many there are. */
    public int count() {
        return count;
    }

    /** Whether none of those that were shown is cut off: there may be more behind them. */
    public boolean isWhole() {
        return !isCut;
    }

    /** Leaves the first of them, so many at most. */
    public void cutTo(long entriesMax) {
        if (count > entriesMax) {
            count = (int) entriesMax;
            isCut = true;
        }
    }

    /**
     * Leaves those whose keys' first bytes are all below those of another key.
     *
     * @param prefix the first eight bytes of that key, padded with zeros
     * @param second the eight bytes behind these, likewise
     */
    public void cutFrom(long prefix, long second) {
        int low = first;
        int high = first + count;
        // mostly all of them are below
        if (count == 0 || isBelow(high - 1, prefix, second)) {
            return;
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (isBelow(middle, prefix, second)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        cutTo(low - first);
    }

    private boolean isBelow(int at, long prefix, long second) {
        long own = prefixes[at];
        return own != prefix
                ? Long.compareUnsigned(own, prefix) < 0
                : hasSeconds && Long.compareUnsigned(seconds[at], second) < 0;
    }

    /** Leaves those in front of the first one whose timestamp is outside of a range. */
    public void cutToTimestamps(long low, long end) {
        int last = first + count;
        int at = first;
        while (at < last && versions[at] >>> 1 >= low && versions[at] >>> 1 < end) {
            at++;
        }
        cutTo(at - first);
    }

    /** Leaves those in front of the first one that is above the snapshot, or anti-matter. */
    public void cutToMatter(long snapshot) {
        long seenMax = snapshot << 1;
        int last = first + count;
        int at = first;
        while (at < last && versions[at] <= seenMax && (versions[at] & 1) == 0) {
            at++;
        }
        cutTo(at - first);
    }

    /**
     * Leaves those in front of the first one that a reader does not see as it is: one above the
     * snapshot, one of anti-matter, one that may have the key of the entry before it.
     *
     * @param prefix the first bytes of the key of the entry that the cursor stands on
     * @param second the bytes behind these, where keys have one length
     */
    public void cutToSeen(long snapshot, long prefix, long second) {
        long seenMax = snapshot << 1;
        long before = prefix;
        long secondBefore = second;
        int end = first + count;
        int at = first;
        for (; at < end; at++) {
            long version = versions[at];
            long next = prefixes[at];
            boolean isNewKey = next != before || (hasSeconds && seconds[at] != secondBefore);
            // of anti-matter the lowest bit is set
            if (!isNewKey || version > seenMax || (version & 1) != 0) {
                break;
            }
            before = next;
            secondBefore = seconds[at];
        }
        cutTo(at - first);
    }

    /** Adds the values of the first of them to a run in whose memory they lie. */
    public void addTo(RecordRun run, int entries) {
        run.add(valueOffsets, valueBytes, first, entries);
    }
}
