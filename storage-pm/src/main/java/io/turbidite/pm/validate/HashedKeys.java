package io.turbidite.pm.validate;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.pm.cells.Node;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Keys with a word each, in the order of their hashes: so that changes of the table of versions
 * that meet in a block are made together. The more keys there are, the more of them meet: with
 * layers of an eighth of 200,000 keys, 512 at a time wrote 0.9 blocks an entry more than all.
 *
 * <p>All of a key lies together, as the order is not that in which they came, and each line of
 * memory that a key needs is one to wait for:
 *
 * <pre>
 * offset bytes field
 *      0     8 hash
 *      8     8 word
 *     16     4 length of the key
 *     20     n key, padded to a multiple of 8 bytes
 * </pre>
 *
 * <p><em>Confined to the writer</em>, and reused: it stays as large as it ever was, at most some 6
 * MB. Who fills an empty table may borrow more for the time being ({@link #mayGrow}).
 */
final class HashedKeys {
    private static final int HASH_OFFSET = 0;
    private static final int WORD_OFFSET = HASH_OFFSET + 8;
    private static final int LENGTH_OFFSET = WORD_OFFSET + 8;
    private static final int KEY_OFFSET = LENGTH_OFFSET + 4;
    private static final int UNIT = 8;

    /**
     * A power of two: a key's place in memory, in units, takes the low bits of its place in the
     * order.
     */
    private static final int PLACE_COUNT = 1 << 25;

    /** How many there are at once, and bytes that they take, unless more was borrowed. */
    private static final int OWN_KEY_COUNT = 1 << 16;

    private static final int OWN_BYTES = 6 << 20;

    private byte[] bytes = new byte[4_096];
    private MemorySegment segment = MemorySegment.ofArray(bytes);
    private int end;
    private long[] order = new long[64];
    private int count;

    /** By how much more it may have than its own: a power of two. */
    private int growth = 1;

    int count() {
        return count;
    }

    void clear() {
        count = 0;
        end = 0;
    }

    /** Whether a key has no room. */
    boolean isFull(int keyBytes) {
        return count == growth * OWN_KEY_COUNT || end + bytesOf(keyBytes) > growth * OWN_BYTES;
    }

    /** Takes as much memory again as it may have, if there is so much. */
    boolean mayGrow(MemoryBudget.Account lender) {
        boolean grows = 2L * growth * OWN_BYTES <= (long) PLACE_COUNT * UNIT
                && lender.reserve(growth * borrowed());
        growth *= grows ? 2 : 1;
        return grows;
    }

    /** Gives back what it borrowed; it must be empty. */
    void giveBack(MemoryBudget.Account lender) {
        assert count == 0 : count;
        if (growth > 1) {
            bytes = new byte[4_096];
            segment = MemorySegment.ofArray(bytes);
            order = new long[64];
            lender.release((growth - 1) * borrowed());
            growth = 1;
        }
    }

    private static long borrowed() {
        return OWN_BYTES + 8L * OWN_KEY_COUNT;
    }

    private static int bytesOf(int keyBytes) {
        return KEY_OFFSET + keyBytes + UNIT - 1 & -UNIT;
    }

    /** Adds a key. */
    void add(Slice key, long word) {
        int length = key.length();
        int at = end;
        int newEnd = at + bytesOf(length);
        if (newEnd > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(newEnd, bytes.length * 2));
            segment = MemorySegment.ofArray(bytes);
        }
        if (count == order.length) {
            order = Arrays.copyOf(order, count * 2);
        }
        long hash = Node.hash(key);
        segment.set(Bytes.I64, at + HASH_OFFSET, hash);
        segment.set(Bytes.I64, at + WORD_OFFSET, word);
        segment.set(Bytes.I32, at + LENGTH_OFFSET, length);
        Bytes.copyShort(key.segment(), key.offset(), segment, at + KEY_OFFSET, length);
        // buckets are never so narrow that the low bits matter
        order[count++] = ((hash ^ Long.MIN_VALUE) & -PLACE_COUNT) | at / UNIT;
        end = newEnd;
    }

    /** Puts the keys in the order of their hashes, unsigned, then of their numbers. */
    void sort() {
        Arrays.sort(order, 0, count);
    }

    /** Whether two hashes have an order here: without one, their keys may come in any. */
    static boolean isApart(long hash, long other) {
        return ((hash ^ other) & -PLACE_COUNT) != 0;
    }

    /** The number of the key at a place of the order; those that came later have larger ones. */
    int at(int place) {
        return (int) order[place] & PLACE_COUNT - 1;
    }

    Slice key(int number, Slice target) {
        int at = number * UNIT;
        return target.set(segment, at + KEY_OFFSET, segment.get(Bytes.I32, at + LENGTH_OFFSET));
    }

    long hash(int number) {
        return segment.get(Bytes.I64, number * UNIT + HASH_OFFSET);
    }

    long word(int number) {
        return segment.get(Bytes.I64, number * UNIT + WORD_OFFSET);
    }
}
