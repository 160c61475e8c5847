package io.turbidite.lsm.memory;

import java.lang.foreign.MemorySegment;

/**
 * How the nodes of a {@link MemoryTree} take entries and are split. All nodes given are latched by
 * the caller, or reachable for nobody else.
 *
 * <p><em>Stateless.</em>
 */
final class NodeGrowth {
    /**
     * Slots left to the old leaf's right end when the highest key of all is added to a full one.
     */
    private static final int APPEND_MOVES = 4;

    private final ChunkArena arena;

    NodeGrowth(ChunkArena arena) {
        this.arena = arena;
    }

    /** Puts an entry with a new key into a latched leaf that has room. */
    void insert(MemorySegment chunk, long at, int slot, int ref) {
        admit(chunk, at, ref);
        int count = Node.get(chunk, at, Node.COUNT);
        long prefix = prefixOfEntry(ref, Node.get(chunk, at, Node.SKIP));
        if (slot < count) {
            Node.shiftUp(chunk, at + Node.PREFIXES, 8, slot, count);
            Node.shiftUp(chunk, at + Node.ENTRIES, 4, slot, count);
        }
        Node.setPrefix(chunk, at, slot, prefix);
        Node.setEntry(chunk, at, slot, ref);
        Node.set(chunk, at, Node.COUNT, count + 1);
    }

    /** Moves the content of a latched root to a fresh node, its only child. */
    void growRoot(MemorySegment rootChunk, long rootAt, int child, int bytes) {
        long content = Node.COUNT;
        MemorySegment.copy(
                rootChunk,
                rootAt + content,
                arena.chunk(child),
                arena.offset(child) + content,
                bytes - content);
        Node.set(rootChunk, rootAt, Node.LEVEL, Node.get(rootChunk, rootAt, Node.LEVEL) + 1);
        Node.set(rootChunk, rootAt, Node.COUNT, 1);
        Node.setEntry(rootChunk, rootAt, 0, 0);
        Node.setPrefix(rootChunk, rootAt, 0, Node.PREFIX_LOWEST);
        Node.setChild(rootChunk, rootAt, 0, child);
        Node.set(rootChunk, rootAt, Node.SKIP, 0);
        Node.set(rootChunk, rootAt, Node.SHARED, 0);
        clearPrefixes(rootChunk, rootAt, 1);
    }

    /**
     * The middle; or near the end, if keys arrive in ascending order and the left node stays full.
     */
    private static int splitSlot(MemorySegment chunk, long at, int keySlot) {
        int count = Node.get(chunk, at, Node.COUNT);
        boolean appends = keySlot >= count - 1 && Node.get(chunk, at, Node.HIGH) == 0;
        return appends ? count - APPEND_MOVES : count / 2;
    }

    /**
     * Moves the upper slots of a latched node to a fresh node, not yet reachable.
     *
     * @param keySlot where a key is to be added
     */
    void split(MemorySegment chunk, long at, int keySlot, int rightRef) {
        int from = splitSlot(chunk, at, keySlot);
        int moved = Node.get(chunk, at, Node.COUNT) - from;
        int level = Node.get(chunk, at, Node.LEVEL);
        int bound = Node.entry(chunk, at, from);
        MemorySegment right = arena.chunk(rightRef);
        long rightAt = arena.offset(rightRef);
        copySlots(chunk, at + Node.PREFIXES + 8L * from, right, rightAt + Node.PREFIXES, 8 * moved);
        copySlots(chunk, at + Node.ENTRIES + 4L * from, right, rightAt + Node.ENTRIES, 4 * moved);
        if (level > 0) {
            long children = at + Node.CHILDREN + 4L * from;
            copySlots(chunk, children, right, rightAt + Node.CHILDREN, 4 * moved);
            Node.setPrefix(right, rightAt, 0, Node.PREFIX_LOWEST);
        }
        Node.set(right, rightAt, Node.COUNT, moved);
        Node.set(right, rightAt, Node.LEVEL, level);
        Node.set(right, rightAt, Node.SKIP, Node.get(chunk, at, Node.SKIP));
        Node.set(right, rightAt, Node.SHARED, Node.get(chunk, at, Node.SHARED));
        Node.set(right, rightAt, Node.LOW, bound);
        Node.set(right, rightAt, Node.HIGH, Node.get(chunk, at, Node.HIGH));
        Node.set(right, rightAt, Node.RIGHT, Node.get(chunk, at, Node.RIGHT));
        Node.set(chunk, at, Node.RIGHT, rightRef);
        Node.set(chunk, at, Node.HIGH, bound);
        Node.set(chunk, at, Node.COUNT, from);
        clearPrefixes(chunk, at, from);
        sharpen(chunk, at);
        sharpen(right, rightAt);
    }

    private static void clearPrefixes(MemorySegment chunk, long at, int from) {
        for (int slot = from; slot < Node.SLOTS; slot++) {
            Node.setPrefix(chunk, at, slot, Node.PREFIX_UNUSED);
        }
    }

    private static void copySlots(
            MemorySegment from, long fromAt, MemorySegment to, long toAt, int bytes) {
        MemorySegment.copy(from, fromAt, to, toAt, bytes);
    }

    /**
     * Adds a right neighbour of the child before {@code slot} to a latched parent that has room.
     */
    void addChild(MemorySegment chunk, long at, int slot, int childRef) {
        int bound = Node.get(arena.chunk(childRef), arena.offset(childRef), Node.LOW);
        admit(chunk, at, bound);
        int count = Node.get(chunk, at, Node.COUNT);
        Node.shiftUp(chunk, at + Node.PREFIXES, 8, slot, count);
        Node.shiftUp(chunk, at + Node.ENTRIES, 4, slot, count);
        Node.shiftUp(chunk, at + Node.CHILDREN, 4, slot, count);
        Node.setPrefix(chunk, at, slot, prefixOfEntry(bound, Node.get(chunk, at, Node.SKIP)));
        Node.setEntry(chunk, at, slot, bound);
        Node.setChild(chunk, at, slot, childRef);
        Node.set(chunk, at, Node.COUNT, count + 1);
        sharpen(chunk, at);
    }

    /**
     * If prefixes tie, begins them further right: behind what the node's bounds share, or, in a
     * node that is open on a side, behind what its keys share. Reads every key of the node, which
     * is why it waits for ties.
     */
    private void sharpen(MemorySegment chunk, long at) {
        int skip = Node.get(chunk, at, Node.SKIP);
        int low = Node.get(chunk, at, Node.LOW);
        int high = Node.get(chunk, at, Node.HIGH);
        int vouchedFor = low == 0 || high == 0 ? 0 : sharedBytes(low, high);
        if (vouchedFor >= skip) {
            Node.set(chunk, at, Node.SHARED, 0);
        }
        if (!hasTies(chunk, at)) {
            return;
        }
        if (vouchedFor > skip) {
            setSkip(chunk, at, vouchedFor);
            return;
        }
        int first = Node.entry(chunk, at, Node.firstKey(chunk, at));
        int last = Node.entry(chunk, at, Node.get(chunk, at, Node.COUNT) - 1);
        // no further than the eight bytes need: the next key shares the fewer, the more likely it
        // does
        int useful = Math.max(keyLength(first), keyLength(last)) - 8;
        int wanted = Math.min(useful, sharedBytes(first, last));
        if (wanted > skip) {
            Node.set(chunk, at, Node.SHARED, first);
            setSkip(chunk, at, wanted);
        }
    }

    /** Shortens what a latched node's keys share to what they share with one more key. */
    private void admit(MemorySegment chunk, long at, int ref) {
        int shared = Node.get(chunk, at, Node.SHARED);
        if (shared == 0) {
            return;
        }
        int skip = sharedBytes(shared, ref);
        if (skip < Node.get(chunk, at, Node.SKIP)) {
            setSkip(chunk, at, skip);
        }
    }

    private void setSkip(MemorySegment chunk, long at, int skip) {
        Node.set(chunk, at, Node.SKIP, skip);
        for (int slot = Node.firstKey(chunk, at); slot < Node.get(chunk, at, Node.COUNT); slot++) {
            Node.setPrefix(chunk, at, slot, prefixOfEntry(Node.entry(chunk, at, slot), skip));
        }
    }

    private static boolean hasTies(MemorySegment chunk, long at) {
        int first = Node.firstKey(chunk, at);
        for (int slot = Node.get(chunk, at, Node.COUNT) - 1; slot > first; slot--) {
            if (Node.prefix(chunk, at, slot) == Node.prefix(chunk, at, slot - 1)) {
                return true;
            }
        }
        return false;
    }

    private int keyLength(int ref) {
        return Entry.keyLength(Entry.word(arena.chunk(ref), arena.offset(ref)));
    }

    private int sharedBytes(int refA, int refB) {
        MemorySegment a = arena.chunk(refA);
        MemorySegment b = arena.chunk(refB);
        long keyA = arena.offset(refA);
        long keyB = arena.offset(refB);
        int lengthA = Entry.keyLength(Entry.word(a, keyA));
        int lengthB = Entry.keyLength(Entry.word(b, keyB));
        keyA += Entry.KEY;
        keyB += Entry.KEY;
        long mismatch = MemorySegment.mismatch(a, keyA, keyA + lengthA, b, keyB, keyB + lengthB);
        return mismatch < 0 ? lengthA : (int) mismatch;
    }

    private long prefixOfEntry(int ref, int skip) {
        MemorySegment chunk = arena.chunk(ref);
        long at = arena.offset(ref);
        int length = Entry.keyLength(Entry.word(chunk, at));
        return Node.keyPrefix(chunk, at + Entry.KEY, length, skip);
    }
}
