package io.turbidite.ops.intersect;

import io.turbidite.core.bytes.Slice;

/**
 * The candidates of one index in the order of primary keys. Once begun it stands on an entry, or at
 * the end. <em>Confined to one thread.</em>
 */
sealed interface Side extends AutoCloseable permits SearchedSide, SortedSide {
    /** Moves to the first entry; false if there is none. First of all, and once. */
    boolean begin();

    /** Whether it stands on an entry. */
    boolean isOnEntry();

    /** The primary key of the entry that it stands on; valid until it moves. */
    Slice key();

    /**
     * Moves to the first entry whose primary key is at or above one.
     *
     * @param key of another side
     * @return how its key compares; negative if there is none
     */
    int advance(Slice key);

    /** Reads all entries of the key that it stands on, and stands behind them then. */
    void gather(EntriesOfKey entries);

    @Override
    void close();
}
