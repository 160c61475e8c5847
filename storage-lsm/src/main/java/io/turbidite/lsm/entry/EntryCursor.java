package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.Slice;

/**
 * Entries of one layer, or of several merged, read in both directions from wherever it is sought.
 *
 * <p>A cursor stands on an entry, or in a gap: before the first entry (where it starts, and where a
 * {@link #previous()} that found nothing leaves it), behind the last one (where a {@link #next()}
 * that found nothing leaves it), or before the place of a key that was sought. From an entry both
 * directions lead to its neighbours; from a gap, to the entries on its two sides. So a cursor may
 * turn anywhere, and a move that finds nothing may be repeated. After one that throws, the cursor
 * must be sought.
 *
 * <p><em>Confined to one thread.</em>
 */
public interface EntryCursor extends EntryStream {
    /** Stands before the first entry whose key is at or above {@code key}. */
    void seek(Slice key);

    /** Stands behind the last entry. */
    void seekEnd();

    /** Moves to the entry before: a newer version of the same key first; false at the start. */
    boolean previous();

    /**
     * Moves forward over entries and puts them into an empty batch: at least one, and then as many
     * as are at hand. False at the end.
     *
     * <p>Only for trees without values. Afterwards the cursor stands somewhere at the last of them:
     * it may be filled from again, or be sought.
     *
     * @param countMax most entries to put, at least 1
     */
    default boolean fill(EntryBatch batch, int countMax) {
        while (batch.count() < countMax && !batch.isFull() && next()) {
            batch.add(this);
        }
        return batch.count() > 0;
    }

    /**
     * Shows entries that come behind the one that it stands on, after a move forward: as many as
     * are at hand in the same page, and no other one between; none where that is not known.
     */
    default void showAhead(EntriesAhead ahead) {
        ahead.clear();
    }

    /**
     * Moves forward to the last of so many entries that {@link #showAhead} has just shown.
     *
     * @param count at least 1
     */
    default void skip(int count) {
        throw new IllegalStateException("no entries were shown");
    }

    /**
     * Up to which timestamp the entry of a secondary index is known to have no successor: its layer
     * has been checked that far against the primary key index. 0 if nothing is known;
     * {@link Long#MAX_VALUE} in the current memory layer, whose entries get anti-matter at once.
     */
    default long checkedUntil() {
        return 0;
    }

    /** Pages of components that it went to; also after it is closed. */
    default long pageCount() {
        return 0;
    }

    /** Whether the entry lies in a memory component, whose bytes are gone when the layer is. */
    default boolean isInMemory() {
        return false;
    }
}
