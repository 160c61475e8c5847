package io.turbidite.lsm.strategy.deletedkey;

import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.SelectingCursor;

/**
 * What a reader sees of a deleted-key index: the live entries, without those that the deleted-key
 * trees of the same version hide. So the entries shown are valid, and need no look at the primary.
 *
 * <p>They must be looked up in the version that the entries come from. A merge takes an entry away
 * together with the key that hid it: in a newer version the key may be gone, and the entry would
 * seem valid.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads.
 */
public final class UndeletedCursor implements SelectingCursor {
    private final EntryCursor entries;
    private final DeletedKeys deleted;
    private final long snapshot;

    /**
     * @param entries what the snapshot shows of the index's own tree
     * @param deleted of all layers that the entries may come from
     */
    public UndeletedCursor(EntryCursor entries, DeletedKeys deleted, long snapshot) {
        this.entries = entries;
        this.deleted = deleted;
        this.snapshot = snapshot;
    }

    @Override
    public EntryCursor entries() {
        return entries;
    }

    @Override
    public boolean isShown() {
        return !deleted.hides(entries.key(), entries.timestamp(), snapshot);
    }

    /** Until any time: nothing is left to check. */
    @Override
    public long checkedUntil() {
        return Long.MAX_VALUE;
    }
}
