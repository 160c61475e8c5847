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
 *     12      4  skip: leading bytes that all keys of the node's range share
 *     16      4  low: ref of an entry with the lowest key of the range, 0 = no bound
 *     20      4  high: ref of an entry with the first key above the range, 0 = no bound
 *     24      4  right: ref of the leaf that continues the range, 0 = none
 *     28     36  zero, up to a cache line
 *     64  8 × N  prefixes: key bytes skip to skip + 8, big-endian, sign bit flipped: they compare signed
 *    576  4 × N  entries: refs; in an inner node an entry with the lowest key of the child
 *    832  4 × N  children: refs; inner nodes only. Child 0 has no lower bound of its own
 * </pre>
 *
 * <p>The latch is optimistic: readers note the version, read, and look at the version again; they write
 * nothing. Whatever was read in between is a guess until {@link #unchanged} says so.
 */
final class Node {
    static final int SLOTS = 64;

    static final int VERSION = 0;
    static final int COUNT = VERSION + 4;
    static final int LEVEL = COUNT + 4;
    static final int SKIP = LEVEL + 4;
    static final int LOW = SKIP + 4;
    static final int HIGH = LOW + 4;
    static final int RIGHT = HIGH + 4;
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

    static int get(MemorySegment chunk, long at, int field) {
        return chunk.get(Bytes.I32, at + field);
    }

    static void set(MemorySegment chunk, long at, int field, int value) {
        chunk.set(Bytes.I32, at + field, value);
    }

    static long prefix(MemorySegment chunk, long at, int slot) {
        return chunk.get(Bytes.I64, at + PREFIXES + 8L * slot);
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

    /** Moves the slots from {@code slot} up by one, in {@code count} slots of {@code width} bytes. */
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
}
