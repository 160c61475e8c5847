package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.ForwardingCursor;

/**
 * All entries of a component with a live bitmap, each with its successor's timestamp and its
 * position: for merges.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads, not the bitmap. A successor that
 * comes after the entry was read is not seen: that is what {@link BuildConcurrency} is for.
 */
public final class MarkedCursor implements ForwardingCursor {
    private final TreeCursor entries;
    private final MutableValidityBitmap bitmap;
    private final long firstPosition;

    /**
     * @param firstPosition of the entry of ordinal 0
     */
    public MarkedCursor(TreeCursor entries, MutableValidityBitmap bitmap, long firstPosition) {
        this.entries = entries;
        this.bitmap = bitmap;
        this.firstPosition = firstPosition;
    }

    @Override
    public long position() {
        return firstPosition + entries.ordinal();
    }

    @Override
    public TreeCursor entries() {
        return entries;
    }

    @Override
    public long successorTimestamp() {
        return bitmap.invalidatedAt(entries.ordinal());
    }
}
