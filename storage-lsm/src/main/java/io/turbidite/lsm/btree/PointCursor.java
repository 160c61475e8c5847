package io.turbidite.lsm.btree;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.Pool;
import io.turbidite.lsm.entry.Found;

/**
 * Point searches that remember the search before (the stateful lookup of LUO19 §3.2): each starts
 * at the last fence, the last page and the last place on it, and moves away from there in doubling
 * steps. Best with ascending keys; right with any.
 *
 * <p><em>Confined to one thread.</em> Keeps the last page pinned until it is closed.
 */
public final class PointCursor implements AutoCloseable {
    /** Of cursors that were closed: a fetch makes one for each layer that it goes through. */
    private static final Pool<Leaf> LEAVES = new Pool<>(Leaf::new);

    /** What a closed cursor has, so that it can do no harm to the one that has its leaf now. */
    private static final Leaf CLOSED = new Leaf();

    private final Tree tree;
    private final LeafPages pages;
    private final boolean stateful;
    private Leaf leaf = LEAVES.take();
    private int page = -1;
    private int index;
    private boolean closed;
    private long pageCount;

    /**
     * @param stateful false: each search starts at the root, which is better where most are on
     *     pages of their own
     */
    PointCursor(Tree tree, LeafPages pages, boolean stateful) {
        this.tree = tree;
        this.pages = pages;
        this.stateful = stateful;
    }

    /** As {@link Tree#find}. */
    public int find(Slice key, long snapshot, Found found, boolean wantValue) {
        if (closed) {
            throw new ClosedException("the cursor");
        }
        tree.checkOpen();
        if (!stateful) {
            page = -1;
        }
        int target = tree.fences().pageOf(key, snapshot, page);
        if (target < 0) {
            return Found.ABSENT;
        }
        int hint = index;
        if (target != page) {
            load(target);
            hint = -1;
        }
        int at = leaf.find(key, snapshot, hint);
        if (at >= 0) {
            index = at;
            return Tree.fill(leaf, at, found, wantValue);
        }
        index = -1 - at;
        if (index < leaf.count() || !tree.goesOn(target, key)) {
            return Found.ABSENT;
        }
        load(target + 1);
        return Tree.fill(leaf, 0, found, wantValue);
    }

    /** Pages pinned so far; one that was left and came again counts again. */
    public long pageCount() {
        return pageCount;
    }

    /** Those of them that the cache lacked. */
    public long missCount() {
        return pages.missCount();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        page = -1;
        Leaf used = leaf;
        used.clear();
        leaf = CLOSED;
        LEAVES.give(used);
        pages.close();
    }

    private void load(int target) {
        page = -1; // until it is loaded
        leaf.clear();
        tree.wrap(leaf, pages.page(target));
        page = target;
        index = 0;
        pageCount++;
    }
}
