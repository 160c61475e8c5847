package io.turbidite.lsm.bitmap;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.EntryCursor;

/**
 * What a reader at a snapshot sees of one component with a live bitmap: of each key at most one entry, the
 * one that is alive then. No other component needs to be asked (LUO19 §5, §6.4.2): whatever supersedes an
 * entry, wherever it lies, has marked it.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads, not the bitmap.
 */
public final class VisibleCursor implements EntryCursor {
    private final TreeCursor entries;
    private final LiveBitmap bitmap;
    private final long snapshot;

    public VisibleCursor(TreeCursor entries, LiveBitmap bitmap, long snapshot) {
        this.entries = entries;
        this.bitmap = bitmap;
        this.snapshot = snapshot;
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
        while (entries.next()) {
            if (isVisible()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean previous() {
        while (entries.previous()) {
            if (isVisible()) {
                return true;
            }
        }
        return false;
    }

    private boolean isVisible() {
        return entries.timestamp() <= snapshot
                && !bitmap.isDead(entries.ordinal(), snapshot)
                && !entries.isAntimatter();
    }

    @Override
    public Slice key() {
        return entries.key();
    }

    @Override
    public long timestamp() {
        return entries.timestamp();
    }

    /** Never: deleted keys are not shown. */
    @Override
    public boolean isAntimatter() {
        return false;
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
