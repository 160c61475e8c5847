package io.turbidite.lsm.memory;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryHead;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Walks a component while others write: copies the refs of one leaf at a time, with the leaf's
 * right neighbour and lower bound as of the same moment (invariant 2 of {@link MemoryTree}), and
 * follows each key's versions from newest to oldest. Backwards, the next leaf is the one that leads
 * up to the lower bound, and the versions of a key, whose chain goes one way, are collected first.
 *
 * <p><em>Confined to one thread.</em> Allocates nothing after construction, but for an array that
 * grows to the most versions of one key that are read backwards.
 */
final class MemoryCursor implements EntryCursor {
    /** Nobody has collected the newer versions of the current entry. */
    private static final int UNKNOWN = -1;

    private static final int LINE_BYTES = 64;

    /**
     * Of a longer entry the processor fetches the rest ahead by itself, and a leaf's would not stay
     * cached.
     */
    private static final int WARM_BYTES_MAX = 1 << 10;

    private final MemoryComponent component;
    private final ChunkArena arena;
    private final MemoryTree tree;
    private final boolean readsValues;
    private final Slice key = new Slice();
    private final Slice value = new Slice();
    private final Slice bound = new Slice();

    /** Newest versions of the keys of the leaf. */
    private final int[] newest = new int[Node.SLOTS];

    private int newestCount;

    /** The slot of the entry that the cursor stands on; without one, the slot behind the gap. */
    private int slot;

    private int rightLeaf;

    /** An entry with the lowest key of the leaf's range, 0 = no bound. */
    private int lowBound;

    private boolean sought;

    /** The entry that the cursor stands on, 0 = none. */
    private int current;

    private MemorySegment chunk = MemorySegment.NULL;
    private long at;
    private long word;

    /**
     * Versions newer than the current one, newest first; while {@link #newerCount} is not negative.
     */
    private int[] newer = new int[16];

    private int newerCount = UNKNOWN;

    /** What {@link #warm} read, so that the reads are not thrown away. */
    private long warmed;

    /**
     * @param readsValues whether all values will be read
     */
    MemoryCursor(
            MemoryComponent component, ChunkArena arena, MemoryTree tree, boolean readsValues) {
        this.component = component;
        this.arena = arena;
        this.tree = tree;
        this.readsValues = readsValues;
    }

    @Override
    public void seek(Slice target) {
        component.checkOpen();
        leaveEntry();
        sought = true;
        while (true) {
            long leaf = tree.leafOf(target);
            MemorySegment node = arena.chunk(MemoryTree.leafRef(leaf));
            long nodeAt = arena.offset(MemoryTree.leafRef(leaf));
            int version = MemoryTree.leafVersion(leaf);
            int found = tree.searchLeaf(node, nodeAt, version, target);
            if (found != MemoryTree.CHANGED && copyLeaf(node, nodeAt, version)) {
                slot = found < 0 ? ~found : found;
                warm(slot, newestCount);
                return;
            }
        }
    }

    @Override
    public void seekEnd() {
        component.checkOpen();
        leaveEntry();
        sought = true;
        long leaf = tree.lastLeaf();
        while (!copyLeaf(leaf)) {
            leaf = tree.lastLeaf();
        }
        slot = newestCount;
        warm(0, slot);
    }

    private void seekFirst() {
        sought = true;
        long leaf = tree.firstLeaf();
        while (!copyLeaf(leaf)) {
            leaf = tree.firstLeaf();
        }
        slot = 0;
        warm(0, newestCount);
    }

    private void leaveEntry() {
        current = 0;
        newerCount = UNKNOWN;
    }

    private boolean copyLeaf(long leaf) {
        int ref = MemoryTree.leafRef(leaf);
        return copyLeaf(arena.chunk(ref), arena.offset(ref), MemoryTree.leafVersion(leaf));
    }

    /**
     * Copies the slots of a leaf; false, and rubbish is copied, if it has changed since
     * {@code version}.
     */
    private boolean copyLeaf(MemorySegment node, long nodeAt, int version) {
        int count = Math.clamp(Node.get(node, nodeAt, Node.COUNT), 0, Node.SLOTS);
        MemorySegment.copy(node, Bytes.I32, nodeAt + Node.ENTRIES, newest, 0, count);
        rightLeaf = Node.get(node, nodeAt, Node.RIGHT);
        lowBound = Node.get(node, nodeAt, Node.LOW);
        newestCount = count;
        return Node.unchanged(node, nodeAt, version);
    }

    /**
     * Reads the first word of each entry of some slots. Entries lie in the order in which they were
     * put: each is a cache miss, and here the misses overlap instead of being waited for one by
     * one.
     */
    private void warm(int from, int to) {
        long sum = 0;
        for (int i = from; i < to; i++) {
            int ref = newest[i];
            sum += Entry.word(arena.chunk(ref), arena.offset(ref));
        }
        for (int i = from; readsValues && i < to; i++) {
            sum += warmValue(newest[i]);
        }
        warmed = sum;
    }

    /** Reads a byte of each further cache line of an entry, as far as they are worth it. */
    private long warmValue(int ref) {
        MemorySegment entryChunk = arena.chunk(ref);
        long entryAt = arena.offset(ref);
        long bytes = Entry.bytes(entryChunk, entryAt);
        long sum = 0;
        for (long i = LINE_BYTES; i < bytes && i < WARM_BYTES_MAX; i += LINE_BYTES) {
            sum += entryChunk.get(Bytes.U8, entryAt + i);
        }
        return sum;
    }

    @Override
    public boolean next() {
        component.checkOpen();
        if (current != 0) {
            newerCount = UNKNOWN;
            int older = olderVersion();
            if (older != 0) {
                moveTo(older);
                return true;
            }
            slot++;
        }
        if (!sought) {
            seekFirst();
        }
        while (slot >= newestCount) {
            if (rightLeaf == 0) {
                leaveEntry();
                slot = newestCount;
                return false;
            }
            int leaf = rightLeaf;
            MemorySegment node = arena.chunk(leaf);
            long nodeAt = arena.offset(leaf);
            while (!copyLeaf(node, nodeAt, Node.startReading(node, nodeAt))) {
                Thread.onSpinWait();
            }
            slot = 0;
            warm(0, newestCount);
        }
        moveTo(newest[slot]);
        return true;
    }

    @Override
    public boolean next(EntryHead brief) {
        if (!next()) {
            return false;
        }
        int keyBytes = Entry.keyLength(word);
        if (keyBytes < Long.BYTES || keyBytes > EntryHead.WORDS_BYTES) {
            brief.note(this);
            return true;
        }
        long keyAt = at + Entry.KEY;
        // the last eight bytes, those of the first word shifted out
        int shift = Byte.SIZE * (EntryHead.WORDS_BYTES - keyBytes);
        long last = chunk.get(Bytes.I64_BE, keyAt + keyBytes - Long.BYTES);
        long second = keyBytes == Long.BYTES ? 0 : last << shift;
        brief.note(
                chunk.get(Bytes.I64_BE, keyAt),
                second,
                keyBytes,
                Entry.timestamp(word),
                Entry.isAntimatter(word));
        return true;
    }

    /**
     * The version behind the current one, 0 = none; not one that a later put with its timestamp
     * replaced.
     */
    private int olderVersion() {
        long timestamp = Entry.timestamp(word);
        int older = Entry.older(chunk, at);
        while (older != 0 && timestampOf(older) == timestamp) {
            older = Entry.older(arena.chunk(older), arena.offset(older));
        }
        return older;
    }

    @Override
    public boolean previous() {
        component.checkOpen();
        if (!sought) {
            seekFirst();
        }
        if (current != 0) {
            if (newerCount == UNKNOWN) {
                collectVersions(newest[slot], current);
            }
            if (newerCount > 0) {
                moveTo(newer[--newerCount]);
                return true;
            }
        }
        while (slot == 0) {
            if (lowBound == 0) {
                leaveEntry();
                return false;
            }
            int high = lowBound;
            MemorySegment boundChunk = arena.chunk(high);
            long boundAt = arena.offset(high);
            int length = Entry.keyLength(Entry.word(boundChunk, boundAt));
            bound.set(boundChunk, boundAt + Entry.KEY, length);
            long leaf = tree.leafBefore(bound);
            while (!copyLeaf(leaf)) {
                leaf = tree.leafBefore(bound);
            }
            slot = newestCount;
            warm(0, slot);
        }
        slot--;
        collectVersions(newest[slot], 0);
        moveTo(newer[--newerCount]);
        return true;
    }

    /**
     * Collects the versions of a key from its newest to the one before {@code end}, 0 = to the
     * oldest.
     */
    private void collectVersions(int newestVersion, int end) {
        int count = 0;
        long timestamp = -1;
        int ref = newestVersion;
        while (ref != end) {
            MemorySegment refChunk = arena.chunk(ref);
            long refAt = arena.offset(ref);
            long refTimestamp = Entry.timestamp(Entry.word(refChunk, refAt));
            // one with the timestamp of the one before was replaced by it
            if (refTimestamp != timestamp) {
                if (count == newer.length) {
                    newer = Arrays.copyOf(newer, 2 * count);
                }
                newer[count++] = ref;
                timestamp = refTimestamp;
            }
            ref = Entry.older(refChunk, refAt);
        }
        newerCount = count;
    }

    private long timestampOf(int ref) {
        return Entry.timestamp(Entry.word(arena.chunk(ref), arena.offset(ref)));
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
    public long position() {
        return current;
    }

    @Override
    public boolean isInMemory() {
        return true;
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
        slot = 0;
        rightLeaf = 0;
        lowBound = 0;
        leaveEntry();
        sought = true;
    }

    @Override
    public String toString() {
        return "MemoryCursor[leaf of " + newestCount + " keys, at " + slot + ", " + warmed + "]";
    }
}
