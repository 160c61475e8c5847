package io.turbidite.lsm.strategy.deletedkey;

import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.ForwardingStream;

/**
 * The entries of a deleted-key index that a merge keeps: without those whose primary key was
 * written over, as the deleted-key trees of the merged components say. Only what was written over
 * at or below the horizon goes: nobody reads the entry any more.
 *
 * <p>Each entry costs a search in the deleted-key trees, which are in the order of primary keys
 * while entries come in that of secondary keys. That is what LUO19 §4.1 holds against the strategy,
 * and why repair by the key trees sorts first.
 *
 * <p><em>Confined to one thread.</em> Owns the stream, not the deleted-key trees.
 */
public final class DeletedKeyFilter implements ForwardingStream {
    private final EntryStream entries;
    private final DeletedKeys deleted;
    private final long horizon;
    private long removedCount;

    /**
     * @param deleted the deleted-key trees of the components that are merged
     */
    public DeletedKeyFilter(EntryStream entries, DeletedKeys deleted, long horizon) {
        this.entries = entries;
        this.deleted = deleted;
        this.horizon = horizon;
    }

    @Override
    public EntryStream entries() {
        return entries;
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
}
