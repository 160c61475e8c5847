package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.EntriesAhead;
import io.turbidite.lsm.entry.SelectingCursor;

/**
 * What a reader at a snapshot sees of one component with a live bitmap: of each key at most one
 * entry, the one that is valid then. No other component needs to be asked (LUO19 §5, §6.4.2):
 * whatever supersedes an entry, wherever it lies, has marked it.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads, not the bitmap.
 */
public final class VisibleCursor implements SelectingCursor {
    private final TreeCursor entries;
    private final MutableValidityBitmap bitmap;
    private final long snapshot;

    public VisibleCursor(TreeCursor entries, MutableValidityBitmap bitmap, long snapshot) {
        this.entries = entries;
        this.bitmap = bitmap;
        this.snapshot = snapshot;
    }

    @Override
    public TreeCursor entries() {
        return entries;
    }

    @Override
    public boolean isShown() {
        return entries.timestamp() <= snapshot
                && !bitmap.isInvalid(entries.ordinal(), snapshot)
                && !entries.isAntimatter();
    }

    @Override
    public void cutToShown(EntriesAhead ahead) {
        ahead.cutToMatter(snapshot);
        long next = entries.ordinal() + 1;
        ahead.cutTo(bitmap.nextInvalid(next, next + ahead.count(), snapshot) - next);
    }
}
