package io.turbidite.lsm.memory;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * How an entry lies in its chunk: one version of one key. Written before it is linked and immutable
 * from then on, except for {@code older}.
 *
 * <pre>
 * offset  bytes  what
 *     -8      4  jump: ref of a version far older; only if DEEP
 *     -4      4  depth: versions below, along the chain of DEEP ones; only if DEEP
 *      0      8  word: timestamp (47 bits), key length (14), OVERSIZED, DEEP, ANTIMATTER
 *      8      4  value length
 *     12      4  older: ref of the next older version, 0 = none
 *     16      …  key, value; if OVERSIZED the index of the oversized piece (4) in place of the value
 * </pre>
 *
 * <p>The versions of a key form a chain, newest first, so that an update moves nothing in the tree.
 * The jumps make it a skew-binary list (Myers, "An applicative random-access stack", 1983): a
 * reader at an old snapshot finds its version among n in O(log n) steps. A jump only ever leads to
 * a version that is further down the chain; where there is none, the search walks.
 */
final class Entry {
    static final int JUMP = -8;
    static final int DEPTH = -4;
    static final int WORD = 0;
    static final int VALUE_LENGTH = WORD + 8;
    static final int OLDER = VALUE_LENGTH + 4;
    static final int KEY = OLDER + 4;

    /** Bytes before the entry's ref if it is deep: one unit, so that the ref stays one. */
    static final int DEEP_BYTES = ChunkArena.UNIT_BYTES;

    static final int OVERSIZED_BYTES = 4;
    static final int KEY_LENGTH_MAX = (1 << 14) - 1;

    static final int ANTIMATTER = 1;
    static final int DEEP = 2;
    static final int OVERSIZED = 4;

    private static final int KEY_LENGTH_SHIFT = 3;
    private static final int TIMESTAMP_SHIFT = 17;
    private static final VarHandle OLDER_LINK =
            ValueLayout.JAVA_INT.varHandle().withInvokeExactBehavior();

    private Entry() {}

    static long word(long timestamp, int keyLength, int flags) {
        return (timestamp << TIMESTAMP_SHIFT) | ((long) keyLength << KEY_LENGTH_SHIFT) | flags;
    }

    static long word(MemorySegment chunk, long at) {
        return chunk.get(Bytes.I64, at + WORD);
    }

    static long timestamp(long word) {
        return word >>> TIMESTAMP_SHIFT;
    }

    static int keyLength(long word) {
        return ((int) word >>> KEY_LENGTH_SHIFT) & KEY_LENGTH_MAX;
    }

    static boolean isAntimatter(long word) {
        return (word & ANTIMATTER) != 0;
    }

    static boolean isDeep(long word) {
        return (word & DEEP) != 0;
    }

    static boolean isOversized(long word) {
        return (word & OVERSIZED) != 0;
    }

    static int valueLength(MemorySegment chunk, long at) {
        return chunk.get(Bytes.I32, at + VALUE_LENGTH);
    }

    /** From the word on; of an oversized one without the piece. */
    static long bytes(MemorySegment chunk, long at) {
        long word = word(chunk, at);
        int value = isOversized(word) ? OVERSIZED_BYTES : valueLength(chunk, at);
        return (long) KEY + keyLength(word) + value;
    }

    static int jump(MemorySegment chunk, long at) {
        return chunk.get(Bytes.I32, at + JUMP);
    }

    static int depth(MemorySegment chunk, long at) {
        return chunk.get(Bytes.I32, at + DEPTH);
    }

    static void setJump(MemorySegment chunk, long at, int jump, int depth) {
        chunk.set(Bytes.I32, at + JUMP, jump);
        chunk.set(Bytes.I32, at + DEPTH, depth);
    }

    /** Pairs with {@link #setOlder}. */
    static int older(MemorySegment chunk, long at) {
        return (int) OLDER_LINK.getAcquire(chunk, at + OLDER);
    }

    /** Links an older version that is completely written. */
    static void setOlder(MemorySegment chunk, long at, int ref) {
        OLDER_LINK.setRelease(chunk, at + OLDER, ref);
    }
}
