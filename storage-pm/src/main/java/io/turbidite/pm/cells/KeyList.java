package io.turbidite.pm.cells;

import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Keys one behind another, each with a word: what a writer notes for later. It is as large as it
 * ever was, so that noting allocates nothing in the long run; its owner bounds it.
 *
 * <p><em>Confined to one thread</em>, and reused.
 */
public final class KeyList {
    private byte[] bytes = new byte[1_024];
    private MemorySegment segment = MemorySegment.ofArray(bytes);
    private int[] ends = new int[64];
    private long[] words = new long[64];
    private int count;

    public void clear() {
        count = 0;
    }

    /** How many keys it has. */
    public int count() {
        return count;
    }

    /** Bytes of all keys. */
    public int byteCount() {
        return end(count);
    }

    private int end(int keyCount) {
        return keyCount == 0 ? 0 : ends[keyCount - 1];
    }

    /** Adds a key behind the others. */
    public void add(Slice key, long word) {
        int from = end(count);
        int end = from + key.length();
        if (end > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(end, bytes.length * 2));
            segment = MemorySegment.ofArray(bytes);
        }
        if (count == ends.length) {
            ends = Arrays.copyOf(ends, count * 2);
            words = Arrays.copyOf(words, count * 2);
        }
        MemorySegment.copy(key.segment(), key.offset(), segment, from, key.length());
        ends[count] = end;
        words[count++] = word;
    }

    /** Sets a slice to a key; valid until one is added. */
    public Slice key(int index, Slice target) {
        int from = end(index);
        return target.set(segment, from, ends[index] - from);
    }

    /** The word that a key was added with. */
    public long word(int index) {
        return words[index];
    }
}
