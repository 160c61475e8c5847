package io.turbidite.pm.validate;

import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.cells.KeyList;
import io.turbidite.pm.cells.Node;

import java.util.Arrays;

/**
 * Keys with a word each, in the order of their hashes: so that changes of the table of versions
 * that meet in a block are made together. The more keys there are, the more of them meet: with
 * layers of an eighth of 200,000 keys, 512 at a time wrote 0.9 blocks an entry more than all.
 *
 * <p><em>Confined to the writer</em>, and reused: it stays as large as it ever was, at most some 6
 * MB.
 */
final class HashedKeys {
    /** A power of two: the number of a key takes the low bits of its place in the order. */
    static final int KEY_COUNT_MAX = 1 << 16;

    private static final int KEY_BYTES_MAX = 1 << 22;

    private final KeyList keys = new KeyList();
    private long[] hashes = new long[64];
    private long[] order = new long[64];

    int count() {
        return keys.count();
    }

    void clear() {
        keys.clear();
    }

    /** Whether a key has no room. */
    boolean isFull(int keyBytes) {
        return keys.count() == KEY_COUNT_MAX || keys.byteCount() + keyBytes > KEY_BYTES_MAX;
    }

    /** Adds a key. */
    void add(Slice key, long word) {
        int index = keys.count();
        if (index == hashes.length) {
            hashes = Arrays.copyOf(hashes, index * 2);
            order = Arrays.copyOf(order, index * 2);
        }
        hashes[index] = Node.hash(key);
        keys.add(key, word);
    }

    /** Puts the keys in the order of their hashes, unsigned, then of their numbers. */
    void sort() {
        int count = keys.count();
        for (int i = 0; i < count; i++) {
            // buckets are never so narrow that the low bits matter
            order[i] = ((hashes[i] ^ Long.MIN_VALUE) & -KEY_COUNT_MAX) | i;
        }
        Arrays.sort(order, 0, count);
    }

    /** Whether two hashes have an order here: without one, their keys may come in any. */
    static boolean isApart(long hash, long other) {
        return ((hash ^ other) & -KEY_COUNT_MAX) != 0;
    }

    /** The number of the key at a place of the order. */
    int at(int place) {
        return (int) order[place] & KEY_COUNT_MAX - 1;
    }

    Slice key(int index, Slice target) {
        return keys.key(index, target);
    }

    long hash(int index) {
        return hashes[index];
    }

    long word(int index) {
        return keys.word(index);
    }
}
