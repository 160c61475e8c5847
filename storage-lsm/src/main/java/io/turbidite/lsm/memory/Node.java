package io.turbidite.lsm.memory;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * How a node of the tree lies in its chunk, and its latch.
 *
 * <pre>
 * offset  bytes  what
 *      0      4  version: odd while latched; two more for each change
 *      4      4  count: slots in use
 *      8      4  level: 0 = leaf
 *     12      4  skip: leading bytes that all keys of the node share
 *     16      4  low: ref of an entry with the lowest key of the range, 0 = no bound
 *     20      4  high: ref of an entry with the first key above the range, 0 = no bound
 *     24      4  right: ref of the leaf that continues the range, 0 = none
 *     28      4  shared: ref of an entry whose first skip bytes are those of all keys in the node's slots,
 *                while its range may hold others; 0 = the bounds vouch for them
 *     32     32  zero, up to a cache line
 *     64  8 × N  prefixes: the first 63 bits of the key from byte skip on, so that a difference of two
 *                  can't overflow and its sign compares them
 *    576  4 × N  entries: refs; in an inner node an entry with the lowest key of the child
 *    832  4 × N  children: refs; inner nodes only. Child 0 has no lower bound of its own
 * </pre>
 *
 * <p>The latch is optimistic: readers note the version, read, and look at the version again; they
 * write nothing. Whatever was read in between is a guess until {@link #unchanged} says so.
 */
final class Node {
    static final int SLOTS = 64;

    /** The prefix of an unused slot: above or equal to all. */
    static final long PREFIX_UNUSED = Long.MAX_VALUE;

    /** The prefix of an inner node's first slot: below all. */
    static final long PREFIX_LOWEST = -1;

    static final int VERSION = 0;
    static final int COUNT = VERSION + 4;
    static final int LEVEL = COUNT + 4;
    static final int SKIP = LEVEL + 4;
    static final int LOW = SKIP + 4;
    static final int HIGH = LOW + 4;
    static final int RIGHT = HIGH + 4;
    static final int SHARED = RIGHT + 4;
    static final int PREFIXES = ChunkArena.LINE_BYTES;
    static final int ENTRIES = PREFIXES + 8 * SLOTS;
    static final int CHILDREN = ENTRIES + 4 * SLOTS;
    static final int LEAF_BYTES = CHILDREN;
    static final int INNER_BYTES = CHILDREN + 4 * SLOTS;

    /** Spins before a waiter offers its core to the latch's holder, who may have lost his. */
    private static final int SPINS_BEFORE_YIELD = 64;

    private static final VarHandle VERSION_WORD =
            ValueLayout.JAVA_INT.varHandle().withInvokeExactBehavior();

    private Node() {}

    /** Makes a fresh piece an empty node. */
    static void clear(MemorySegment chunk, long at, int bytes) {
        for (int offset = 0; offset < bytes; offset += 8) {
            boolean isPrefix = offset >= PREFIXES && offset < ENTRIES;
            chunk.set(Bytes.I64, at + offset, isPrefix ? PREFIX_UNUSED : 0);
        }
    }

    static int get(MemorySegment chunk, long at, int field) {
        return chunk.get(Bytes.I32, at + field);
    }

    static void set(MemorySegment chunk, long at, int field, int value) {
        chunk.set(Bytes.I32, at + field, value);
    }

    static long prefix(MemorySegment chunk, long at, int slot) {
        return chunk.get(Bytes.I64, at + PREFIXES + 8L * slot);
    }

    /**
     * The number of slots whose prefixes are lower. One comparison for each line of slots, then one
     * for each slot of the line that was found: no comparison waits for another of its kind, so
     * that their latencies and cache misses overlap. A binary search has fewer and waits for each.
     */
    static int lowerBound(MemorySegment chunk, long at, long prefix) {
        int lines = (lower(chunk, at, 8, prefix) + lower(chunk, at, 16, prefix))
                + (lower(chunk, at, 24, prefix) + lower(chunk, at, 32, prefix))
                + (lower(chunk, at, 40, prefix) + lower(chunk, at, 48, prefix))
                + lower(chunk, at, 56, prefix);
        long line = at + 64L * lines;
        return 8 * lines
                + ((lower(chunk, line, 0, prefix) + lower(chunk, line, 1, prefix))
                        + (lower(chunk, line, 2, prefix) + lower(chunk, line, 3, prefix)))
                + ((lower(chunk, line, 4, prefix) + lower(chunk, line, 5, prefix))
                        + (lower(chunk, line, 6, prefix) + lower(chunk, line, 7, prefix)));
    }

    /** 1 if the slot's prefix is lower, else 0: no branch, as a coin toss can't be predicted. */
    private static int lower(MemorySegment chunk, long at, int slot, long prefix) {
        return (int) ((prefix(chunk, at, slot) - prefix) >>> 63);
    }

    /**
     * Whether a leaf has no entry. It reads a word of each line of refs: their misses overlap too.
     */
    static boolean isEmpty(MemorySegment chunk, long at) {
        long refs = chunk.get(Bytes.I64, at + ENTRIES);
        refs |= chunk.get(Bytes.I64, at + ENTRIES + ChunkArena.LINE_BYTES);
        refs |= chunk.get(Bytes.I64, at + ENTRIES + 2 * ChunkArena.LINE_BYTES);
        refs |= chunk.get(Bytes.I64, at + ENTRIES + 3 * ChunkArena.LINE_BYTES);
        return refs == 0;
    }

    static void setPrefix(MemorySegment chunk, long at, int slot, long prefix) {
        chunk.set(Bytes.I64, at + PREFIXES + 8L * slot, prefix);
    }

    static int entry(MemorySegment chunk, long at, int slot) {
        return chunk.get(Bytes.I32, at + ENTRIES + 4L * slot);
    }

    static void setEntry(MemorySegment chunk, long at, int slot, int ref) {
        chunk.set(Bytes.I32, at + ENTRIES + 4L * slot, ref);
    }

    static int child(MemorySegment chunk, long at, int slot) {
        return chunk.get(Bytes.I32, at + CHILDREN + 4L * slot);
    }

    static void setChild(MemorySegment chunk, long at, int slot, int ref) {
        chunk.set(Bytes.I32, at + CHILDREN + 4L * slot, ref);
    }

    /**
     * Moves the slots from {@code slot} up by one, in {@code count} slots of {@code width} bytes.
     */
    static void shiftUp(MemorySegment chunk, long slots, int width, int slot, int count) {
        long from = slots + (long) width * slot;
        MemorySegment.copy(chunk, from, chunk, from + width, (long) width * (count - slot));
    }

    /** The version of an unlatched node; the start of reading it. */
    static int startReading(MemorySegment chunk, long at) {
        int version = (int) VERSION_WORD.getAcquire(chunk, at);
        return (version & 1) == 0 ? version : awaitUnlatched(chunk, at);
    }

    // a latch is held for tens of nanoseconds, unless its holder has lost his core: parking is no
    // answer
    @SuppressWarnings("ThreadPriorityCheck")
    private static int awaitUnlatched(MemorySegment chunk, long at) {
        for (int spins = 1; ; spins++) {
            if (spins % SPINS_BEFORE_YIELD != 0) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
            int version = (int) VERSION_WORD.getAcquire(chunk, at);
            if ((version & 1) == 0) {
                return version;
            }
        }
    }

    /** Whether all that was read since {@code version} was noted is true, and was at one moment. */
    static boolean unchanged(MemorySegment chunk, long at, int version) {
        VarHandle.loadLoadFence();
        return (int) VERSION_WORD.getOpaque(chunk, at) == version;
    }

    /** Latches the node if it is unchanged; pairs with {@link #unlatch}. */
    static boolean latch(MemorySegment chunk, long at, int version) {
        boolean latched = VERSION_WORD.compareAndSet(chunk, at, version, version + 1);
        VarHandle.storeStoreFence();
        return latched;
    }

    /**
     * Makes what the holder did visible to whoever starts reading after.
     *
     * @param version as it was before the node was latched
     */
    static void unlatch(MemorySegment chunk, long at, int version) {
        VERSION_WORD.setRelease(chunk, at, version + 2);
    }

    /** Slot 0 of an inner node is below all keys. */
    static int firstKey(MemorySegment chunk, long at) {
        return get(chunk, at, LEVEL) == 0 ? 0 : 1;
    }

    /** 63 bits of the key from byte {@code skip} on, zeros behind its end. */
    static long keyPrefix(MemorySegment segment, long offset, int length, int skip) {
        int rest = length - skip;
        long bytes;
        if (rest >= 8) {
            bytes = segment.get(Bytes.I64_BE, offset + skip);
        } else if (rest <= 0) {
            bytes = 0;
        } else if (length >= 8) {
            bytes = segment.get(Bytes.I64_BE, offset + length - 8) << (64 - 8 * rest);
        } else {
            bytes = Bytes.prefix(segment, offset + skip, rest);
        }
        return bytes >>> 1;
    }
}
