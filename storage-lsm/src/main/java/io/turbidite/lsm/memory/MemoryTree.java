package io.turbidite.lsm.memory;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * The B+-tree over the keys of one component. A leaf slot leads to the newest version of its key.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>Nodes are never freed, moved or merged: a ref to a node is good as long as the component
 *       is.
 *   <li>A split moves the upper part of a node to a new one on its right, under the latches of the
 *       node and its parent. So what a reader copied from a leaf, followed by the leaf's right
 *       neighbour as of that moment, holds every key once.
 *   <li>The root stays where it is: when it must split, its content moves down into a new child.
 *   <li>A node's version is read, then its slots, then its version again; a ref found in it is
 *       followed only if the version is the same (optimistic latch coupling: Leis et al., "The ART
 *       of practical synchronization", DaMoN 2016). A child's version is read before the parent's
 *       is looked at for the last time, so that the child still covers the key.
 *   <li>All keys in a node's slots share their first {@code skip} bytes, and prefixes begin behind
 *       them. Either the node's bounds share these bytes, then so does every key that can be routed
 *       to it; or {@code shared} is set, and a search compares them first.
 * </ol>
 *
 * <p><em>Thread-safe</em> by invariant 4.
 */
final class MemoryTree {
    /** What a search returns when the node changed under it. */
    static final int CHANGED = Integer.MIN_VALUE;

    private final ChunkArena arena;
    private final NodeGrowth growth;
    private final int root;
    private final MemorySegment rootChunk;
    private final long rootAt;

    MemoryTree(ChunkArena arena) {
        this.arena = arena;
        this.growth = new NodeGrowth(arena);
        this.root = arena.allocateNode(Node.INNER_BYTES);
        this.rootChunk = arena.chunk(root);
        this.rootAt = arena.offset(root);
        Node.clear(rootChunk, rootAt, Node.INNER_BYTES);
    }

    /**
     * The leaf whose range holds {@code key}, and its version (invariant 4): ref in the upper half,
     * version in the lower.
     */
    long leafOf(Slice key) {
        while (true) {
            long leaf = descend(key, 0);
            if (leaf != 0) {
                return leaf;
            }
        }
    }

    /**
     * The leaf whose range ends at {@code key}, the lower bound of another; in the form of leafOf.
     */
    long leafBefore(Slice key) {
        while (true) {
            long leaf = descend(key, 1);
            if (leaf != 0) {
                return leaf;
            }
        }
    }

    /**
     * Goes down to the leaf of {@code key}.
     *
     * @param left where a child's range begins at {@code key}: 1 to go to its left neighbour, else
     *     0
     * @return the leaf and its version, 0 if a node changed on the way
     */
    private long descend(Slice key, int left) {
        int ref = root;
        MemorySegment chunk = rootChunk;
        long at = rootAt;
        int version = Node.startReading(chunk, at);
        int skip = -1;
        long prefix = 0;
        while (Node.get(chunk, at, Node.LEVEL) > 0) {
            // mostly the parent's: the prefix is there before this node is
            int nodeSkip = Node.get(chunk, at, Node.SKIP);
            if (nodeSkip != skip) {
                skip = nodeSkip;
                prefix = Node.keyPrefix(key.segment(), key.offset(), key.length(), skip);
            }
            int slot = search(chunk, at, version, prefix, key);
            if (slot == CHANGED) {
                return 0;
            }
            // child 0 has no lower bound, so a key that is one is at slot 1 or above
            ref = Node.child(chunk, at, slot < 0 ? ~slot - left : slot - 1);
            if (!Node.unchanged(chunk, at, version)) {
                return 0;
            }
            MemorySegment parentChunk = chunk;
            long parentAt = at;
            int parentVersion = version;
            chunk = arena.chunk(ref);
            at = arena.offset(ref);
            version = Node.startReading(chunk, at);
            if (!Node.unchanged(parentChunk, parentAt, parentVersion)) {
                return 0;
            }
        }
        return Node.unchanged(chunk, at, version) ? leaf(ref, version) : 0;
    }

    /** The leaf with the lowest keys, in the form of {@link #leafOf}. */
    long firstLeaf() {
        while (true) {
            int ref = root;
            while (true) {
                MemorySegment chunk = arena.chunk(ref);
                long at = arena.offset(ref);
                int version = Node.startReading(chunk, at);
                int level = Node.get(chunk, at, Node.LEVEL);
                int child = level == 0 ? 0 : Node.child(chunk, at, 0);
                if (!Node.unchanged(chunk, at, version)) {
                    break;
                }
                if (level == 0) {
                    return leaf(ref, version);
                }
                // child 0 stays child 0: splits move to the right
                ref = child;
            }
        }
    }

    /** The leaf with the highest keys, in the form of {@link #leafOf}. */
    long lastLeaf() {
        while (true) {
            int ref = root;
            while (true) {
                MemorySegment chunk = arena.chunk(ref);
                long at = arena.offset(ref);
                int version = Node.startReading(chunk, at);
                int level = Node.get(chunk, at, Node.LEVEL);
                int next = Node.get(chunk, at, Node.RIGHT);
                if (next == 0 && level > 0) {
                    next = Node.child(chunk, at, Node.get(chunk, at, Node.COUNT) - 1);
                }
                if (!Node.unchanged(chunk, at, version)) {
                    break;
                }
                if (next == 0) {
                    return leaf(ref, version);
                }
                // down, or to the right part of a node that was split since its parent was read
                ref = next;
            }
        }
    }

    private static long leaf(int ref, int version) {
        return ((long) ref << 32) | (version & 0xFFFF_FFFFL);
    }

    static int leafRef(long leaf) {
        return (int) (leaf >>> 32);
    }

    static int leafVersion(long leaf) {
        return (int) leaf;
    }

    /** Finds {@code key} among the slots of a leaf; returns what {@link #search} does. */
    int searchLeaf(MemorySegment chunk, long at, int version, Slice key) {
        if (Node.isEmpty(chunk, at)) {
            return 0;
        }
        int skip = Node.get(chunk, at, Node.SKIP);
        long prefix = Node.keyPrefix(key.segment(), key.offset(), key.length(), skip);
        return search(chunk, at, version, prefix, key);
    }

    /**
     * Finds {@code key} among the slots of a node.
     *
     * @param prefix the key's, behind the node's {@code skip}
     * @return the number of slots with lower keys, or its complement if the next slot has this very
     *     key, or {@link #CHANGED}; all but the last still a guess
     */
    private int search(MemorySegment chunk, long at, int version, long prefix, Slice key) {
        int shared = Node.get(chunk, at, Node.SHARED);
        if (shared != 0) {
            int skip = Node.get(chunk, at, Node.SKIP);
            int count = Node.get(chunk, at, Node.COUNT);
            int first = Node.firstKey(chunk, at);
            // an unchecked ref may lead anywhere
            if (!Node.unchanged(chunk, at, version)) {
                return CHANGED;
            }
            int order = compareStart(key, shared, skip);
            if (order != 0) {
                return order < 0 ? first : count;
            }
        }
        int slot = Node.lowerBound(chunk, at, prefix);
        if (slot == Node.SLOTS || Node.prefix(chunk, at, slot) != prefix) {
            return slot;
        }
        return searchTies(chunk, at, version, slot, key);
    }

    /** The prefixes from {@code slot} on may be equal to the key's: decides by whole keys. */
    private int searchTies(MemorySegment chunk, long at, int version, int slot, Slice key) {
        int count = Node.get(chunk, at, Node.COUNT);
        int skip = Node.get(chunk, at, Node.SKIP);
        long prefix = Node.prefix(chunk, at, slot);
        int low = slot;
        int high = Math.min(count, slot + 1);
        if (high < count && Node.prefix(chunk, at, high) == prefix) {
            high = prefix == Node.PREFIX_UNUSED ? count : Node.lowerBound(chunk, at, prefix + 1);
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            int ref = Node.entry(chunk, at, middle);
            if (!Node.unchanged(chunk, at, version)) {
                return CHANGED;
            }
            int order = compareKey(ref, skip, key);
            if (order == 0) {
                return ~middle;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /**
     * Compares the key of an entry with {@code key}, both without their first {@code skip} bytes.
     */
    private int compareKey(int ref, int skip, Slice key) {
        MemorySegment chunk = arena.chunk(ref);
        long at = arena.offset(ref);
        int length = Entry.keyLength(Entry.word(chunk, at));
        return Bytes.compare(
                chunk,
                at + Entry.KEY + skip,
                length - skip,
                key.segment(),
                key.offset() + skip,
                key.length() - skip);
    }

    /**
     * Compares the first {@code skip} bytes of {@code key}, or all if it is shorter, with an
     * entry's.
     */
    private int compareStart(Slice key, int ref, int skip) {
        return Bytes.compare(
                key.segment(),
                key.offset(),
                Math.min(key.length(), skip),
                arena.chunk(ref),
                arena.offset(ref) + Entry.KEY,
                skip);
    }

    /** Puts an entry with a new key into a latched leaf that has room. */
    void insert(MemorySegment chunk, long at, int slot, int ref) {
        growth.insert(chunk, at, slot, ref);
    }

    /**
     * Splits the highest full node on the way to {@code key}, if there is one, unless another
     * writer is in the way. The caller tries again. As full nodes are split from above, there is
     * always room for the new child.
     */
    void makeRoom(Slice key) {
        MemorySegment parentChunk = rootChunk;
        long parentAt = rootAt;
        int parentVersion = 0;
        int parentSlot = 0;
        int ref = root;
        MemorySegment chunk = rootChunk;
        long at = rootAt;
        int version = Node.startReading(chunk, at);
        while (true) {
            int level = Node.get(chunk, at, Node.LEVEL);
            int skip = Node.get(chunk, at, Node.SKIP);
            long prefix = Node.keyPrefix(key.segment(), key.offset(), key.length(), skip);
            int slot = search(chunk, at, version, prefix, key);
            boolean full = Node.get(chunk, at, Node.COUNT) == Node.SLOTS;
            if (slot == CHANGED || !Node.unchanged(chunk, at, version)) {
                return;
            }
            if (full) {
                // memory before latches: to take it may fail, or wait
                int bytes = level == 0 ? Node.LEAF_BYTES : Node.INNER_BYTES;
                int fresh = arena.allocateNode(bytes);
                Node.clear(arena.chunk(fresh), arena.offset(fresh), bytes);
                boolean used = false;
                if (ref == root) {
                    used = Node.latch(chunk, at, version);
                    if (used) {
                        growth.growRoot(rootChunk, rootAt, fresh, bytes);
                        Node.unlatch(chunk, at, version);
                    }
                } else if (Node.latch(parentChunk, parentAt, parentVersion)) {
                    used = Node.latch(chunk, at, version);
                    if (used) {
                        growth.split(chunk, at, slot, fresh);
                        growth.addChild(parentChunk, parentAt, parentSlot + 1, fresh);
                        Node.unlatch(chunk, at, version);
                    }
                    Node.unlatch(parentChunk, parentAt, parentVersion);
                }
                if (!used) {
                    arena.giveNode(fresh, bytes);
                }
                return;
            }
            if (level == 0) {
                return;
            }
            parentChunk = chunk;
            parentAt = at;
            parentVersion = version;
            parentSlot = slot < 0 ? ~slot : slot - 1;
            ref = Node.child(chunk, at, parentSlot);
            if (!Node.unchanged(chunk, at, version)) {
                return;
            }
            chunk = arena.chunk(ref);
            at = arena.offset(ref);
            version = Node.startReading(chunk, at);
            if (!Node.unchanged(parentChunk, parentAt, parentVersion)) {
                return;
            }
        }
    }
}
