package io.turbidite.pm.tree;

import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.postings.EntryBuffer;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Entries of one leaf that wait to be written: sorted by secondary key, then by timestamp.
 *
 * <p><em>Confined to the writer</em>, and reused.
 */
final class EntryRun {
    private byte[] bytes = new byte[1 << 14];
    private MemorySegment segment = MemorySegment.ofArray(bytes);
    private int byteCount;

    // ---- secondary keys
    private int[] keyOffsets = new int[64];
    private int[] keyLengths = new int[64];
    private int[] entryEnds = new int[64];
    private int keyCount;

    // ---- entries
    private long[] timestamps = new long[256];
    private int[] entryOffsets = new int[256];
    private int[] entryLengths = new int[256];
    private int entryCount;

    private final Slice key = new Slice();

    void clear() {
        byteCount = 0;
        keyCount = 0;
        entryCount = 0;
    }

    int keyCount() {
        return keyCount;
    }

    int entryCount() {
        return entryCount;
    }

    /** Secondary key number {@code index}; valid until the run is cleared or added to. */
    Slice key(int index, Slice target) {
        return target.set(segment, keyOffsets[index], keyLengths[index]);
    }

    /** Below 0, 0, above 0: how a key compares with the last one. */
    int compareWithLast(Slice other) {
        return keyCount == 0 ? 1 : other.compareBytes(key(keyCount - 1, key));
    }

    void add(Slice secondaryKey, Slice primaryKey, long timestamp) {
        if (keyCount == 0 || compareWithLast(secondaryKey) != 0) {
            if (keyCount == keyOffsets.length) {
                keyOffsets = Arrays.copyOf(keyOffsets, keyCount * 2);
                keyLengths = Arrays.copyOf(keyLengths, keyCount * 2);
                entryEnds = Arrays.copyOf(entryEnds, keyCount * 2);
            }
            keyOffsets[keyCount] = copy(secondaryKey);
            keyLengths[keyCount++] = secondaryKey.length();
        }
        if (entryCount == timestamps.length) {
            timestamps = Arrays.copyOf(timestamps, entryCount * 2);
            entryOffsets = Arrays.copyOf(entryOffsets, entryCount * 2);
            entryLengths = Arrays.copyOf(entryLengths, entryCount * 2);
        }
        timestamps[entryCount] = timestamp;
        entryOffsets[entryCount] = copy(primaryKey);
        entryLengths[entryCount++] = primaryKey.length();
        entryEnds[keyCount - 1] = entryCount;
    }

    private int copy(Slice source) {
        int at = byteCount;
        int needed = at + source.length();
        if (needed > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length * 2));
            segment = MemorySegment.ofArray(bytes);
        }
        MemorySegment.copy(source.segment(), source.offset(), segment, at, source.length());
        byteCount = needed;
        return at;
    }

    /** Adds the entries of a key to a buffer, newest first. */
    void newestFirst(int index, EntryBuffer target) {
        int from = index == 0 ? 0 : entryEnds[index - 1];
        for (int i = entryEnds[index] - 1; i >= from; i--) {
            target.add(timestamps[i], key.set(segment, entryOffsets[i], entryLengths[i]));
        }
    }
}
