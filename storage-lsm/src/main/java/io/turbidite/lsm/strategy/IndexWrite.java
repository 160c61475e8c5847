package io.turbidite.lsm.strategy;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeyList;
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
    final TreeId deletedKeyTree;

    /** The layer that the write goes to. */
    @Nullable
    MemoryLayer layer;

    long timestamp;

    /** The encoded primary key. */
    Slice primaryKey = NOTHING;

    /** The entry keys of the new record; none for a delete. */
    final EntryKeyList newKeys = new EntryKeyList();

    /** Those of the old record; none if there is no old record, or it was not read. */
    final EntryKeyList oldKeys = new EntryKeyList();

    private final Slice newKey = new Slice();
    private final Slice oldKey = new Slice();
    private final Place newPlace = new Place();
    private final Place oldPlace = new Place();
    private final Place otherPlace = new Place();

    private final Found found = new Found(0);

    /** Whether the old record is known and has the same filter fields. */
    boolean sameFilters;

    IndexWrite(IndexSchema index) {
        tree = index.tree();
        deletedKeyTree = tree.deletedKeyTree();
    }

    /** Begins the write of an operation in a layer. */
    void begin(MemoryLayer newLayer, long newTimestamp, Slice newPrimaryKey) {
        layer = newLayer;
        timestamp = newTimestamp;
        primaryKey = newPrimaryKey;
        newKeys.clear();
        oldKeys.clear();
        newPlace.clear();
        oldPlace.clear();
    }

    /**
     * Seeks where the entries go, ahead of all puts of the operation; nothing if there will hardly
     * be any, or if they are many: then they warm one another's way.
     */
    void seek() {
        MemoryLayer in = layer;
        if (in == null
                || newKeys.count() > 1
                || oldKeys.count() > 1
                || !in.hasTree(tree)
                || haveSameOne()) {
            return;
        }
        MemoryComponent component = in.tree(tree);
        if (newKeys.count() > 0) {
            component.seek(newKeys.key(0, newKey), newPlace);
        }
        if (oldKeys.count() > 0) {
            component.seek(oldKeys.key(0, oldKey), oldPlace);
        }
    }

    private boolean haveSameOne() {
        return newKeys.count() == 1
                && oldKeys.count() == 1
                && newKeys.key(0, newKey).contentEquals(oldKeys.key(0, oldKey));
    }

    /**
     * Puts the new record's entries, and anti-matter for those of the old one that are not among
     * them. Both lists are in order.
     *
     * @param alsoKept whether to put an entry that both have
     */
    void putDifference(boolean alsoKept) {
        int olds = oldKeys.count();
        int news = newKeys.count();
        int o = 0;
        int n = 0;
        while (o < olds && n < news) {
            int order = oldKeys.key(o, oldKey).compareBytes(newKeys.key(n, newKey));
            if (order < 0) {
                put(tree, oldKey, true, oldPlace);
                o++;
            } else {
                if (order > 0 || alsoKept) {
                    put(tree, newKey, false, newPlace);
                }
                n++;
                o += order == 0 ? 1 : 0;
            }
        }
        for (; o < olds; o++) {
            put(tree, oldKeys.key(o, oldKey), true, oldPlace);
        }
        for (; n < news; n++) {
            put(tree, newKeys.key(n, newKey), false, newPlace);
        }
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
            place.clear(); // it was for this key
        }
    }
}
