package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.SelectingCursor;

/**
 * The entries of a component without the dead ones.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads, not the bitmap. It asks the bitmap once for
 * each run of living entries, so that a component with few dead ones costs two comparisons an entry.
 */
public final class ValidEntryCursor implements SelectingCursor {
    private final TreeCursor entries;
    private final ImmutableValidityBitmap dead;

    /** Ordinals from here to {@link #livingTo}, which is dead or none, are known to be alive. */
    private long livingFrom;

    private long livingTo;

    public ValidEntryCursor(TreeCursor entries, ImmutableValidityBitmap dead) {
        this.entries = entries;
        this.dead = dead;
    }

    @Override
    public TreeCursor entries() {
        return entries;
    }

    @Override
    public boolean isShown() {
        long ordinal = entries.ordinal();
        if (ordinal >= livingFrom && ordinal < livingTo) {
            return true;
        }
        livingTo = dead.next(ordinal);
        livingFrom = dead.previous(ordinal) + 1;
        return ordinal < livingTo;
    }
}
