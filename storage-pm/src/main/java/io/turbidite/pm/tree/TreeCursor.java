package io.turbidite.pm.tree;

import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.region.RegionMemory;

import org.jspecify.annotations.Nullable;

/**
 * Walks the secondary keys of a range, up or down; each has a list.
 *
 * <p><em>Confined to one thread</em>, which is inside an epoch from the opening on; reused. It sees
 * the leaves that were there when it was opened, and what was published to these since.
 */
public final class TreeCursor {
    private final PsTree tree;
    private final RegionMemory memory;
    private final NodeImage image = new NodeImage();
    private final int[] sorted = new int[Node.SLOT_COUNT];
    private final Slice key = new Slice();
    private @Nullable Slice from;
    private @Nullable Slice to;
    private boolean isDescending;
    private LeafRoutes routes;
    private long place;
    private int count;
    private int index;
    private long leavesRead;

    TreeCursor(PsTree tree, RegionMemory memory) {
        this.tree = tree;
        this.memory = memory;
        this.routes = tree.routes();
    }

    /**
     * Goes before the first key of a range.
     *
     * @param newFrom the smallest key, null for the smallest of all; it must not change meanwhile
     * @param newTo what keys must be below, null for nothing
     */
    public void open(@Nullable Slice newFrom, @Nullable Slice newTo, boolean descending) {
        from = newFrom;
        to = newTo;
        isDescending = descending;
        routes = tree.routes();
        Slice start = descending ? newTo : newFrom;
        place = start != null ? routes.find(start) : descending ? routes.last() : routes.first();
        load();
    }

    private void load() {
        if (place < 0) {
            count = 0;
            index = 0;
            return;
        }
        image.load(memory, routes.leaf(place));
        leavesRead++;
        count = image.sorted(sorted);
        index = isDescending ? count : -1;
    }

    /**
     * Goes to the next key of the range that has a list.
     *
     * @return whether there is one
     */
    public boolean next() {
        while (place >= 0) {
            index += isDescending ? -1 : 1;
            if (index < 0 || index >= count) {
                place = isDescending ? routes.previous(place) : routes.next(place);
                load();
                continue;
            }
            int slot = sorted[index];
            if (from != null && image.compare(slot, from) < 0) {
                if (isDescending) {
                    place = -1;
                }
                continue;
            }
            if (to != null && image.compare(slot, to) >= 0) {
                if (!isDescending) {
                    place = -1;
                }
                continue;
            }
            if (pointer() != 0) {
                return true;
            }
        }
        return false;
    }

    /** The secondary key; valid until the next call. */
    public Slice key() {
        return image.key(sorted[index], key);
    }

    /** The pointer to the key's list. */
    public long pointer() {
        int slot = sorted[index];
        return KeyWord.pointer(memory, image.cell(slot), image.word(slot));
    }

    /** Blocks of the medium read so far: all of each leaf. */
    public long blocksRead() {
        return leavesRead * (Node.BYTES / RegionMemory.BLOCK_BYTES);
    }
}
