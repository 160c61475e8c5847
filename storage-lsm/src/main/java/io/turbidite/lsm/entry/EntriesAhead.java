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
    }

    /** How many there are. */
    public int count() {
        return count;
    }

    /**
     * Leaves those whose keys' first bytes are all below others.
     *
     * @param rank the first eight bytes of another key, turned so that signed numbers are in their
     *     order
     */
    public void cutFrom(long rank) {
        int end = first + count;
        int at = first;
        // mostly all or none of them are below
        if (count > 0 && (prefixes[end - 1] ^ Long.MIN_VALUE) < rank) {
            return;
        }
        while (at < end && (prefixes[at] ^ Long.MIN_VALUE) < rank) {
            at++;
        }
        count = at - first;
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
        count = at - first;
    }

    /** Adds the values of the first of them to a run in whose memory they lie. */
    public void addTo(RecordRun run, int entries) {
        run.add(valueOffsets, valueBytes, first, entries);
    }
}
