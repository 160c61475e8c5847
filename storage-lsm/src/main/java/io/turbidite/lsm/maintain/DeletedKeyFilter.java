package io.turbidite.lsm.maintain;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryStream;

/**
 * The entries of a deleted-key index that a merge keeps: without those whose primary key was written over,
 * as the companions of the merged components say. Only what was written over at or below the horizon goes:
 * nobody reads the entry any more.
 *
 * <p>Each entry costs a search in the companions, which are in the order of primary keys while entries come in
 * that of secondary keys. That is what LUO19 §4.1 holds against the strategy, and why repair by the key trees
 * sorts first.
 *
 * <p><em>Confined to one thread.</em> Owns the stream, not the companions.
 */
public final class DeletedKeyFilter implements EntryStream {
    private final EntryStream entries;
    private final DeletedKeys deleted;
    private final long horizon;
    private long removedCount;

    /**
     * @param deleted the companions of the components that are merged
     */
    public DeletedKeyFilter(EntryStream entries, DeletedKeys deleted, long horizon) {
        this.entries = entries;
        this.deleted = deleted;
        this.horizon = horizon;
    }

    @Override
    public boolean next() {
        while (entries.next()) {
            if (entries.isAntimatter()
                    || !deleted.hides(entries.key(), entries.timestamp(), horizon)) {
                return true;
            }
            removedCount++;
        }
        return false;
    }

    /** Entries left out so far. */
    public long removedCount() {
        return removedCount;
    }

    @Override
    public Slice key() {
        return entries.key();
    }

    @Override
    public long timestamp() {
        return entries.timestamp();
    }

    @Override
    public boolean isAntimatter() {
        return entries.isAntimatter();
    }

    @Override
    public Slice value() {
        return entries.value();
    }

    @Override
    public void close() {
        entries.close();
    }
}
