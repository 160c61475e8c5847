package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Layout of the interior of a tree: one entry for each leaf page, in columns, the same in memory
 * and on disk. At 16 KiB a page it is about a three-hundredth of the leaves.
 *
 * <pre>
 * offset bytes field
 *      0    32 envelope         the block header of whoever stores it
 *     32     4 pageCount        n; may be 0
 *     36     2 keyPrefixBytes   that all fences but the first share
 *     38     2 zero
 *     40     8 entryCount       of the whole tree
 *     48     4 suffixBytes      of all fences together
 *     52    12 zero
 *     64    8n heads            of each fence behind the prefix; the first is 0 and never looked at
 *           8n firstOrdinals
 *           8n fileOffsets      of the page's block
 *           8n timestamps       a fence is a place in the order (key ascending, timestamp descending)
 *           4n blockBytes       that the page takes in the file
 *           4n pageBytes        that it takes in memory
 *           4n suffixEnds       where each fence ends among the suffixes
 *            p key prefix       p = keyPrefixBytes
 *              suffixes         whole, first eight bytes included
 * </pre>
 *
 * <p>A fence is above everything on the page before and at or below everything on its own: the
 * shortest such key, with the highest timestamp; or, if a key's versions go across the border, that
 * key with the first timestamp behind it. The first fence is the empty key.
 */
final class FencesLayout {
    static final int PAGE_COUNT_OFFSET = LeafLayout.ENVELOPE_BYTES;
    static final int KEY_PREFIX_BYTES_OFFSET = PAGE_COUNT_OFFSET + 4;
    static final int ZERO_OFFSET = KEY_PREFIX_BYTES_OFFSET + 2;
    static final int ENTRY_COUNT_OFFSET = ZERO_OFFSET + 2;
    static final int SUFFIX_BYTES_OFFSET = ENTRY_COUNT_OFFSET + 8;
    static final int MORE_ZERO_OFFSET = SUFFIX_BYTES_OFFSET + 4;
    static final int HEADS_OFFSET = MORE_ZERO_OFFSET + 12;

    /** Bytes of a page's share of all columns. */
    static final int COLUMN_BYTES = 8 + 8 + 8 + 8 + 4 + 4 + 4;

    private FencesLayout() {}

    static long firstOrdinals(int pageCount) {
        return HEADS_OFFSET + 8L * pageCount;
    }

    static long fileOffsets(int pageCount) {
        return firstOrdinals(pageCount) + 8L * pageCount;
    }

    static long timestamps(int pageCount) {
        return fileOffsets(pageCount) + 8L * pageCount;
    }

    static long blockBytes(int pageCount) {
        return timestamps(pageCount) + 8L * pageCount;
    }

    static long pageBytes(int pageCount) {
        return blockBytes(pageCount) + 4L * pageCount;
    }

    static long suffixEnds(int pageCount) {
        return pageBytes(pageCount) + 4L * pageCount;
    }

    static long prefix(int pageCount) {
        return suffixEnds(pageCount) + 4L * pageCount;
    }

    /** What is wrong with the bytes, or null. Walks over all columns once. */
    static @Nullable String problem(MemorySegment bytes) {
        long size = bytes.byteSize();
        if (size < HEADS_OFFSET) {
            return "interior of %d bytes".formatted(size);
        }
        int count = bytes.get(Bytes.I32, PAGE_COUNT_OFFSET);
        int suffixBytes = bytes.get(Bytes.I32, SUFFIX_BYTES_OFFSET);
        int prefixBytes = bytes.get(Bytes.I16, KEY_PREFIX_BYTES_OFFSET) & 0xFFFF;
        long entryCount = bytes.get(Bytes.I64, ENTRY_COUNT_OFFSET);
        if (count < 0 || suffixBytes < 0) {
            return "%d pages, suffixes of %d bytes".formatted(count, suffixBytes);
        }
        long expected = HEADS_OFFSET + (long) count * COLUMN_BYTES + prefixBytes + suffixBytes;
        if (expected != size) {
            return "%d bytes for %d pages, %d expected".formatted(size, count, expected);
        }
        if (bytes.get(Bytes.I16, ZERO_OFFSET) != 0
                || bytes.get(Bytes.I64, MORE_ZERO_OFFSET) != 0
                || bytes.get(Bytes.I32, MORE_ZERO_OFFSET + 8) != 0) {
            return "padding is not zero";
        }
        return columnProblem(bytes, count, entryCount, suffixBytes);
    }

    private static @Nullable String columnProblem(
            MemorySegment bytes, int count, long entryCount, int suffixBytes) {
        int prefixBytes = bytes.get(Bytes.I16, KEY_PREFIX_BYTES_OFFSET) & 0xFFFF;
        long suffixes = prefix(count) + prefixBytes;
        long ordinal = -1;
        int end = 0;
        for (int i = 0; i < count; i++) {
            long first = bytes.get(Bytes.I64, firstOrdinals(count) + 8L * i);
            if (first <= ordinal || first >= entryCount || (i == 0 && first != 0)) {
                return "page %d begins with ordinal %d of %d".formatted(i, first, entryCount);
            }
            ordinal = first;
            int suffixEnd = bytes.get(Bytes.I32, suffixEnds(count) + 4L * i);
            if (suffixEnd < end || suffixEnd > suffixBytes || (i == 0 && suffixEnd != 0)) {
                return "fence %d ends at %d of %d".formatted(i, suffixEnd, suffixBytes);
            }
            long head = bytes.get(Bytes.I64, HEADS_OFFSET + 8L * i);
            if (head != Bytes.prefix(bytes, suffixes + end, suffixEnd - end)) {
                return "fence %d has head %x".formatted(i, head);
            }
            end = suffixEnd;
            int pageBytes = bytes.get(Bytes.I32, pageBytes(count) + 4L * i);
            int blockBytes = bytes.get(Bytes.I32, blockBytes(count) + 4L * i);
            if (pageBytes < LeafLayout.HEADS_OFFSET || blockBytes < LeafLayout.ENVELOPE_BYTES) {
                return "page %d has %d bytes, %d in the file".formatted(i, pageBytes, blockBytes);
            }
        }
        if (end != suffixBytes || (count == 0 && entryCount != 0)) {
            return "%d pages, %d entries, suffixes of %d bytes"
                    .formatted(count, entryCount, suffixBytes);
        }
        return null;
    }
}
