package io.turbidite.lsm.strategy;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.memory.Place;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
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
    private final TreeId tree;

    /** What goes along with it, if anything does. */
    final TreeId companion;

    /** The layer that the write goes to. */
    @Nullable
    MemoryLayer layer;

    long timestamp;

    /** The encoded primary key. */
    Slice primaryKey = NOTHING;

    /** Secondary key, then primary key of the new record; not for a delete. */
    final Slice newEntry = new Slice();

    private final ByteSink newBytes = new ByteSink(64, 2 * Limits.KEY_BYTES_MAX);
    private final Place newPlace = new Place();

    /** The same of the old record, if {@link #knowsOld}. */
    final Slice oldEntry = new Slice();

    private final ByteSink oldBytes = new ByteSink(64, 2 * Limits.KEY_BYTES_MAX);
    private final Place oldPlace = new Place();
    private final Place otherPlace = new Place();

    /** Whether there is an old record, it was read, and it has an entry. */
    boolean knowsOld;

    private final Found found = new Found(0);

    /** Whether the old record is known and has the same filter fields. */
    boolean sameFilters;

    IndexWrite(IndexSchema index) {
        tree = index.tree();
        companion = tree.companion();
    }

    /** Whether old and new record have the same entry. */
    boolean sameEntry() {
        return knowsOld && newEntry.contentEquals(oldEntry);
    }

    /** Begins the write of an operation in a layer. */
    void begin(MemoryLayer newLayer, long newTimestamp, Slice newPrimaryKey) {
        layer = newLayer;
        timestamp = newTimestamp;
        primaryKey = newPrimaryKey;
        newPlace.clear();
        oldPlace.clear();
    }

    /** Encodes the new record's entry. */
    void encodeNew(IndexSchema index, RecordView record) {
        newBytes.clear();
        index.key().append(record, newBytes);
        newBytes.putBytes(primaryKey).asSlice(newEntry);
    }

    /**
     * Encodes the old record's entry; false if it has none, because it is older than the index and
     * too long.
     */
    boolean encodeOld(IndexSchema index, RecordView record) {
        oldBytes.clear();
        if (!index.appendIfFits(record, oldBytes)) {
            return false;
        }
        oldBytes.putBytes(primaryKey).asSlice(oldEntry);
        return oldEntry.length() <= Limits.KEY_BYTES_MAX;
    }

    /**
     * Seeks where the entries go, ahead of all puts of the operation; nothing if there will hardly
     * be any.
     */
    void seek() {
        MemoryLayer in = layer;
        if (in != null && in.hasTree(tree) && !sameEntry()) {
            MemoryComponent component = in.tree(tree);
            component.seek(newEntry, newPlace);
            if (knowsOld) {
                component.seek(oldEntry, oldPlace);
            }
        }
    }

    void putNew() {
        put(tree, newEntry, false, newPlace);
    }

    void removeOld() {
        put(tree, oldEntry, true, oldPlace);
    }

    /** Whether a tree of the layer has some version of a key, or there is no such tree. */
    boolean has(TreeId target, Slice key) {
        MemoryLayer in = layer;
        return in == null
                || !in.hasTree(target)
                || in.tree(target).find(key, Limits.TIMESTAMP_MAX, found, false) != Found.ABSENT;
    }

    void put(TreeId target, Slice key, boolean antimatter) {
        otherPlace.clear();
        put(target, key, antimatter, otherPlace);
    }

    /** A layer that came while this write was under way may lack an index: then it was dropped. */
    private void put(TreeId target, Slice key, boolean antimatter, Place place) {
        MemoryLayer to = layer;
        if (to != null && to.hasTree(target)) {
            to.tree(target).put(key, timestamp, antimatter, NOTHING, place);
        }
    }
}
