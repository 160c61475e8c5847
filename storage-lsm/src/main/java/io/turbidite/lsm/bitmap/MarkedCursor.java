package io.turbidite.lsm.bitmap;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.EntryCursor;

/**
 * All entries of a component with a live bitmap, each with its successor's timestamp: for merges.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads, not the bitmap. A successor that comes after
 * the entry was read is not seen: that is what the side-file is for.
 */
public final class MarkedCursor implements EntryCursor {
    private final TreeCursor entries;
    private final LiveBitmap bitmap;

    public MarkedCursor(TreeCursor entries, LiveBitmap bitmap) {
        this.entries = entries;
        this.bitmap = bitmap;
    }

    @Override
    public long successorTimestamp() {
        return bitmap.killTimestamp(entries.ordinal());
    }

    @Override
    public void seek(Slice key) {
        entries.seek(key);
    }

    @Override
    public void seekEnd() {
        entries.seekEnd();
    }

    @Override
    public boolean next() {
        return entries.next();
    }

    @Override
    public boolean previous() {
        return entries.previous();
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
