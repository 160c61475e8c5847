package io.turbidite.lsm.memory;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;

import java.lang.foreign.MemorySegment;

/**
 * Walks a component while others write: copies the refs of one leaf at a time, with the leaf's right
 * neighbour as of the same moment (invariant 2 of {@link KeyTree}), and follows each key's versions from
 * newest to oldest.
 *
 * <p><em>Confined to one thread.</em> Allocates nothing after construction.
 */
final class MemoryCursor implements EntryCursor {
    private final MemoryComponent component;
    private final ChunkArena arena;
    private final KeyTree tree;
    private final Slice key = new Slice();
    private final Slice value = new Slice();

    /** Newest versions of the keys of the leaf. */
    private final int[] newest = new int[Node.SLOTS];

    private int newestCount;
    private int nextIndex;
    private int rightLeaf;
    private boolean sought;

    /** The entry that the cursor stands on, 0 = none. */
    private int current;

    private MemorySegment chunk = MemorySegment.NULL;
    private long at;
    private long word;

    /** What {@link #warm} read, so that the reads are not thrown away. */
    private long warmed;

    MemoryCursor(MemoryComponent component, ChunkArena arena, KeyTree tree) {
        this.component = component;
        this.arena = arena;
        this.tree = tree;
    }

    @Override
    public void seek(Slice target) {
        component.checkOpen();
        current = 0;
        sought = true;
        while (true) {
            long leaf = tree.leafOf(target);
            MemorySegment node = arena.chunk(KeyTree.leafRef(leaf));
            long nodeAt = arena.offset(KeyTree.leafRef(leaf));
            int version = KeyTree.leafVersion(leaf);
            int slot = tree.searchLeaf(node, nodeAt, version, target);
            if (slot != KeyTree.CHANGED
                    && copyLeaf(node, nodeAt, version, slot < 0 ? ~slot : slot)) {
                return;
            }
        }
    }

    private void seekFirst() {
        sought = true;
        while (true) {
            long leaf = tree.firstLeaf();
            MemorySegment node = arena.chunk(KeyTree.leafRef(leaf));
            long nodeAt = arena.offset(KeyTree.leafRef(leaf));
            if (copyLeaf(node, nodeAt, KeyTree.leafVersion(leaf), 0)) {
                return;
            }
        }
    }

    /** Copies the slots from {@code first} up; false if the leaf has changed since {@code version}. */
    private boolean copyLeaf(MemorySegment node, long nodeAt, int version, int first) {
        int count = Math.max(0, Node.get(node, nodeAt, Node.COUNT) - first);
        long entries = nodeAt + Node.ENTRIES + 4L * first;
        MemorySegment.copy(node, Bytes.I32, entries, newest, 0, count);
        rightLeaf = Node.get(node, nodeAt, Node.RIGHT);
        if (!Node.unchanged(node, nodeAt, version)) {
            return false;
        }
        newestCount = count;
        nextIndex = 0;
        warm();
        return true;
    }

    /**
     * Reads the first word of each entry of the leaf. Entries lie in the order in which they were put:
     * each is a cache miss, and here the misses overlap instead of being waited for one by one.
     */
    private void warm() {
        long sum = 0;
        for (int i = 0; i < newestCount; i++) {
            int ref = newest[i];
            sum += Entry.word(arena.chunk(ref), arena.offset(ref));
        }
        warmed = sum;
    }

    @Override
    public boolean next() {
        component.checkOpen();
        int older = current == 0 ? 0 : Entry.older(chunk, at);
        long timestamp = current == 0 ? -1 : Entry.timestamp(word);
        while (older != 0) {
            moveTo(older);
            if (Entry.timestamp(word) != timestamp) {
                return true;
            }
            // replaced by a later put with the same timestamp
            older = Entry.older(chunk, at);
        }
        if (!sought) {
            seekFirst();
        }
        while (nextIndex == newestCount) {
            if (rightLeaf == 0) {
                current = 0;
                return false;
            }
            MemorySegment node = arena.chunk(rightLeaf);
            long nodeAt = arena.offset(rightLeaf);
            // false: the leaf has changed meanwhile, and rightLeaf may be of either time
            int leaf = rightLeaf;
            while (!copyLeaf(node, nodeAt, Node.startReading(node, nodeAt), 0)) {
                rightLeaf = leaf;
            }
        }
        moveTo(newest[nextIndex++]);
        return true;
    }

    private void moveTo(int ref) {
        current = ref;
        chunk = arena.chunk(ref);
        at = arena.offset(ref);
        word = Entry.word(chunk, at);
    }

    @Override
    public Slice key() {
        return key.set(chunk, at + Entry.KEY, Entry.keyLength(word));
    }

    @Override
    public long timestamp() {
        return Entry.timestamp(word);
    }

    @Override
    public boolean isAntimatter() {
        return Entry.isAntimatter(word);
    }

    @Override
    public Slice value() {
        int length = Entry.valueLength(chunk, at);
        long valueAt = at + Entry.KEY + Entry.keyLength(word);
        return Entry.isOversized(word)
                ? value.set(arena.oversized(chunk.get(Bytes.I32, valueAt)), 0, length)
                : value.set(chunk, valueAt, length);
    }

    @Override
    public void close() {
        newestCount = 0;
        nextIndex = 0;
        rightLeaf = 0;
        current = 0;
        sought = true;
    }

    @Override
    public String toString() {
        return "MemoryCursor[leaf of " + newestCount + " keys, at " + nextIndex + ", " + warmed
                + "]";
    }
}
