package io.turbidite.lsm.bitmap;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.EntryCursor;

/**
 * The entries of a component without the dead ones.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor it reads, not the bitmap. It asks the bitmap once for
 * each run of living entries, so that a component with few dead ones costs two comparisons an entry.
 */
public final class DeadSkippingCursor implements EntryCursor {
    private final TreeCursor entries;
    private final DeadEntries dead;

    /** Ordinals from here to {@link #livingTo}, which is dead or none, are known to be alive. */
    private long livingFrom;

    private long livingTo;

    public DeadSkippingCursor(TreeCursor entries, DeadEntries dead) {
        this.entries = entries;
        this.dead = dead;
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
            if (isAlive(entries.ordinal())) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean previous() {
        while (entries.previous()) {
            if (isAlive(entries.ordinal())) {
                return true;
            }
        }
        return false;
    }

    private boolean isAlive(long ordinal) {
        if (ordinal >= livingFrom && ordinal < livingTo) {
            return true;
        }
        livingTo = dead.next(ordinal);
        livingFrom = dead.previous(ordinal) + 1;
        return ordinal < livingTo;
    }

    /** The entry's place among all entries of the component, the dead ones included. */
    public long ordinal() {
        return entries.ordinal();
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
