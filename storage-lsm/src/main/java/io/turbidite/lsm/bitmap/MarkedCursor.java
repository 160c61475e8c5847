package io.turbidite.lsm.bitmap;

import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.ForwardingCursor;

/**
 * All entries of a component with a live bitmap, each with its successor's timestamp: for merges.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads, not the bitmap. A successor that comes after
 * the entry was read is not seen: that is what the side-file is for.
 */
public final class MarkedCursor implements ForwardingCursor {
    private final TreeCursor entries;
    private final LiveBitmap bitmap;

    public MarkedCursor(TreeCursor entries, LiveBitmap bitmap) {
        this.entries = entries;
        this.bitmap = bitmap;
    }

    @Override
    public TreeCursor entries() {
        return entries;
    }

    @Override
    public long successorTimestamp() {
        return bitmap.killTimestamp(entries.ordinal());
    }
}
