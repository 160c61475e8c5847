package io.turbidite.lsm.maintain;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.version.MemoryLayer;

import org.jspecify.annotations.Nullable;

/**
 * What one write means to one index; reused.
 *
 * <p><em>Confined to one thread.</em>
 */
final class IndexWrite {
    private static final Slice NOTHING = new Slice();

    /** The index's tree. */
    int tree;

    /** The layer that the write goes to. */
    @Nullable
    MemoryLayer layer;

    long timestamp;

    /** The encoded primary key. */
    Slice primaryKey = NOTHING;

    /** Secondary key, then primary key of the new record; not for a delete. */
    final Slice newEntry = new Slice();

    /** The same of the old record, if {@link #knowsOld}. */
    final Slice oldEntry = new Slice();

    /** Whether there is an old record, it was read, and it has an entry. */
    boolean knowsOld;

    private final Found found = new Found(0);

    /** Whether the old record is known and has the same filter fields. */
    boolean sameFilters;

    /** Whether old and new record have the same entry. */
    boolean sameEntry() {
        return knowsOld && newEntry.contentEquals(oldEntry);
    }

    void putNew() {
        put(tree, newEntry, false);
    }

    void removeOld() {
        put(tree, oldEntry, true);
    }

    /** Whether a tree of the layer has some version of a key, or there is no such tree. */
    boolean has(int target, Slice key) {
        MemoryLayer in = layer;
        return in == null
                || !in.hasTree(target)
                || in.tree(target).find(key, Limits.TIMESTAMP_MAX, found, false) != Found.ABSENT;
    }

    /** A layer that came while this write was under way may lack an index: then it was dropped. */
    void put(int target, Slice key, boolean antimatter) {
        MemoryLayer to = layer;
        if (to != null && to.hasTree(target)) {
            to.tree(target).put(key, timestamp, antimatter, NOTHING);
        }
    }
}
