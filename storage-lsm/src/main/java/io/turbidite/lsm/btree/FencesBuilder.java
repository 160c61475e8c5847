package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Collects the fences of a tree while its pages are written.
 *
 * <p><em>Confined to one thread at a time.</em> Memory: about 60 bytes for each page written.
 */
public final class FencesBuilder {
    /** Half a terabyte of 16 KiB pages may have fences of 30 bytes each. */
    private static final int FENCE_BYTES_MAX = 1 << 30;

    private final ByteSink fences = new ByteSink(4 << 10, FENCE_BYTES_MAX);
    private int[] fenceEnds = new int[64];
    private long[] firstOrdinals = new long[64];
    private long[] fileOffsets = new long[64];
    private long[] timestamps = new long[64];
    private int[] blockBytes = new int[64];
    private int[] pageBytes = new int[64];
    private int pageCount;

    /** Forgets all pages, for another tree. */
    public void restart() {
        fences.clear();
        pageCount = 0;
    }

    /** Memory that it holds, on the heap and off it. */
    public long memoryBytes() {
        return fences.segment().byteSize() + 36L * timestamps.length;
    }

    public int pageCount() {
        return pageCount;
    }

    /**
     * Fixes the fence of the next page, from the entry that begins it.
     *
     * @param sharedBytes how many first bytes the key shares with the last key of the page before
     * @param sameKey whether it is that key
     */
    public void begin(Slice key, int sharedBytes, boolean sameKey, long timestamp) {
        if (pageCount == timestamps.length) {
            grow();
        }
        if (pageCount == 0) {
            timestamps[0] = Long.MAX_VALUE;
        } else if (sameKey) {
            fences.putBytes(key);
            timestamps[pageCount] = timestamp;
        } else {
            fences.putBytes(key.segment(), key.offset(), sharedBytes + 1);
            timestamps[pageCount] = Long.MAX_VALUE;
        }
        fenceEnds[pageCount] = fences.length();
    }

    /** Adds the page that was begun, now that it is written. */
    public void end(long firstOrdinal, long fileOffset, int bytesInFile, int bytesInMemory) {
        firstOrdinals[pageCount] = firstOrdinal;
        fileOffsets[pageCount] = fileOffset;
        blockBytes[pageCount] = bytesInFile;
        pageBytes[pageCount] = bytesInMemory;
        pageCount++;
    }

    /** The finished interior in memory of {@code arena}, except for the envelope. */
    public MemorySegment build(Arena arena, long entryCount) {
        int n = pageCount;
        int prefixBytes = sharedPrefixBytes();
        int suffixBytes = fences.length() - Math.max(0, n - 1) * prefixBytes;
        long size = FencesLayout.HEADS_OFFSET
                + (long) n * FencesLayout.COLUMN_BYTES
                + prefixBytes
                + suffixBytes;
        MemorySegment target = arena.allocate(size, 64);
        target.set(Bytes.I32, FencesLayout.PAGE_COUNT_OFFSET, n);
        target.set(Bytes.I16, FencesLayout.KEY_PREFIX_BYTES_OFFSET, (short) prefixBytes);
        target.set(Bytes.I64, FencesLayout.ENTRY_COUNT_OFFSET, entryCount);
        target.set(Bytes.I32, FencesLayout.SUFFIX_BYTES_OFFSET, suffixBytes);
        if (prefixBytes > 0) {
            MemorySegment.copy(
                    fences.segment(), fenceEnds[0], target, FencesLayout.prefix(n), prefixBytes);
        }
        long suffixes = FencesLayout.prefix(n) + prefixBytes;
        int end = 0;
        for (int i = 0; i < n; i++) {
            int start = i == 0 ? 0 : fenceEnds[i - 1] + prefixBytes;
            int length = fenceEnds[i] - start;
            long head = Bytes.prefix(fences.segment(), start, length);
            MemorySegment.copy(fences.segment(), start, target, suffixes + end, length);
            end += length;
            target.set(Bytes.I64, FencesLayout.HEADS_OFFSET + 8L * i, head);
            target.set(Bytes.I64, FencesLayout.firstOrdinals(n) + 8L * i, firstOrdinals[i]);
            target.set(Bytes.I64, FencesLayout.fileOffsets(n) + 8L * i, fileOffsets[i]);
            target.set(Bytes.I64, FencesLayout.timestamps(n) + 8L * i, timestamps[i]);
            target.set(Bytes.I32, FencesLayout.blockBytes(n) + 4L * i, blockBytes[i]);
            target.set(Bytes.I32, FencesLayout.pageBytes(n) + 4L * i, pageBytes[i]);
            target.set(Bytes.I32, FencesLayout.suffixEnds(n) + 4L * i, end);
        }
        return target;
    }

    /**
     * What all fences but the first, which is empty, have in common: they ascend, so first and
     * last.
     */
    private int sharedPrefixBytes() {
        if (pageCount < 2) {
            return 0;
        }
        int last = pageCount - 1;
        int start = fenceEnds[last - 1];
        int limit = Math.min(fenceEnds[1] - fenceEnds[0], fenceEnds[last] - start);
        int shared = 0;
        while (shared < limit
                && fences.segment().get(Bytes.U8, fenceEnds[0] + (long) shared)
                        == fences.segment().get(Bytes.U8, start + (long) shared)) {
            shared++;
        }
        return shared;
    }

    private void grow() {
        int capacity = pageCount * 2;
        fenceEnds = Arrays.copyOf(fenceEnds, capacity);
        firstOrdinals = Arrays.copyOf(firstOrdinals, capacity);
        fileOffsets = Arrays.copyOf(fileOffsets, capacity);
        timestamps = Arrays.copyOf(timestamps, capacity);
        blockBytes = Arrays.copyOf(blockBytes, capacity);
        pageBytes = Arrays.copyOf(pageBytes, capacity);
    }
}
