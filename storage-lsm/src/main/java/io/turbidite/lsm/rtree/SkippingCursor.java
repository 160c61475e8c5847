package io.turbidite.lsm.rtree;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.WindowSearch;
import io.turbidite.core.geo.WindowSearch.Way;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.ForwardingCursor;

/**
 * The entries of a layer without boxes, a memory component, that are in a window, in the order of
 * their keys. Where it meets entries outside, it seeks the place on the Hilbert curve where the
 * window goes on; so it needs to know neither how densely they lie nor which classes there are.
 *
 * <p><em>Confined to one thread.</em> Owns the cursor that it reads.
 */
public final class SkippingCursor implements ForwardingCursor {
    /** Entries outside, in a row, that are looked at before one is sought: a seek costs as much. */
    private static final int PATIENCE = 6;

    private final EntryCursor entries;
    private final WindowSearch search;
    private final ByteSink target = new ByteSink(16, 16);
    private final Slice targetSlice = new Slice();

    /** Entries outside that may still be looked at; none at the start and behind a seek. */
    private int patience;

    private final WindowWork work;

    /**
     * @param work where it counts
     */
    public SkippingCursor(EntryCursor entries, WindowSearch search, WindowWork work) {
        this.work = work;
        this.entries = entries;
        this.search = search;
    }

    @Override
    public EntryCursor entries() {
        return entries;
    }

    @Override
    public boolean next() {
        while (entries.next()) {
            if (shows()) {
                return true;
            }
            Way way = way(true);
            if (way == Way.END) {
                entries.seekEnd();
                return false;
            }
            if (way == Way.SEEK) {
                entries.seek(target.asSlice(targetSlice));
            }
        }
        return false;
    }

    @Override
    public boolean previous() {
        while (entries.previous()) {
            if (shows()) {
                return true;
            }
            Way way = way(false);
            if (way == Way.END) {
                // no key is below the empty one
                entries.seek(targetSlice.clear());
                return false;
            }
            if (way == Way.SEEK) {
                entries.seek(target.asSlice(targetSlice));
            }
        }
        return false;
    }

    private boolean shows() {
        work.lookedAtEntry();
        int found = search.test(entries.keyPrefix());
        boolean isInside = found == WindowSearch.INSIDE
                || (found == WindowSearch.UNDECIDED && search.holds(entries.key()));
        if (isInside) {
            patience = PATIENCE;
        }
        return isInside;
    }

    private Way way(boolean upwards) {
        if (patience > 0) {
            patience--;
            return Way.STEP;
        }
        Way way = search.beside(entries.key(), upwards, target);
        if (way == Way.STEP) {
            patience = PATIENCE;
        }
        return way;
    }

    @Override
    public void seek(Slice key) {
        patience = 0;
        entries.seek(key);
    }

    @Override
    public void seekEnd() {
        patience = 0;
        entries.seekEnd();
    }
}
