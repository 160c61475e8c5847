package io.turbidite.lsm.btree;

import io.turbidite.lsm.entry.EntriesAhead;

/**
 * Neighbouring entries of one group of a page, taken out of its columns all at once for a cursor
 * that goes through them. A column is read in one loop then, whose checks the compiler makes once;
 * entry by entry, each part of each entry would be a read of the page with checks of its own.
 *
 * <p><em>Confined to one thread.</em> Owned by a {@link TreeCursor}, filled by
 * {@link Group#decode}.
 */
final class Stretch {
    /** A page of records has about as many. */
    static final int ENTRIES_MAX = 64;

    /** All columns, as they are shown to others. */
    final EntriesAhead.Columns columns = new EntriesAhead.Columns(ENTRIES_MAX);

    final long[] versions = columns.versions;

    /** The first eight bytes of each key, padded with zeros, as a number. */
    final long[] prefixes = columns.prefixes;

    /** The eight bytes behind these, likewise; only if {@link #keyBytes} is known. */
    final long[] seconds = columns.seconds;

    /** Where each value lies on the page. */
    final int[] valueOffsets = columns.valueOffsets;

    final int[] valueBytes = columns.valueBytes;

    /** Length of each key if these are all the same and two words hold one; else -1. */
    int keyBytes = -1;

    /** The entry of the page that stands at place 0, and how many there are. */
    private int first;

    private int count;

    /** Holds nothing from now on. */
    void clear() {
        count = 0;
    }

    /** Will hold {@code newCount} entries of the page from {@code newFirst} on. */
    void begin(int newFirst, int newCount) {
        assert newCount > 0 && newCount <= ENTRIES_MAX : newCount;
        first = newFirst;
        count = newCount;
    }

    int count() {
        return count;
    }

    /** The place of an entry of the page; to be asked of {@link #holds} first. */
    int place(int entry) {
        return entry - first;
    }

    boolean holds(int place) {
        return Integer.compareUnsigned(place, count) < 0;
    }
}
