package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Layout of a leaf page: columns, so that a search reads two or three cache lines of heads and not a
 * line of each entry it passes.
 *
 * <pre>
 * offset bytes field
 *      0    32 envelope         the block header of whoever stores the page
 *     32     4 entryCount       1 or more
 *     36     2 keyPrefixBytes   that all keys of the page share
 *     38     2 keySuffixBytes   of every key behind the prefix; 65535 if they differ
 *     40     8 firstOrdinal     of the page's first entry in the tree
 *     48     8 versionBase      smallest version; version = timestamp * 2 + (1 if anti-matter)
 *     56     1 versionBytes     0 to 7: width of the version column
 *     57     1 endBytes         0, 2 or 4: width of the column of heap ends
 *     58     2 zero
 *     60     4 heapStride       of every heap entry if endBytes is 0, else 0
 *     64    8n heads            first eight bytes of each key suffix, big-endian value
 *           vn versions         above versionBase, v = versionBytes
 *           en heap ends        where each heap entry ends, from heap start, e = endBytes
 *            p key prefix       p = keyPrefixBytes
 *              heap             to the end of the page
 * </pre>
 *
 * <p>A heap entry is: suffix length u16 if lengths differ; the key suffix from its ninth byte on; the
 * value. A page of short keys of one length and no values (a key tree) has an empty heap and no ends:
 * it takes 8 + versionBytes bytes an entry. The heads start at a cache line if the page does.
 */
final class LeafLayout {
    static final int ENVELOPE_BYTES = 32;
    static final int ENTRY_COUNT_OFFSET = ENVELOPE_BYTES;
    static final int KEY_PREFIX_BYTES_OFFSET = ENTRY_COUNT_OFFSET + 4;
    static final int KEY_SUFFIX_BYTES_OFFSET = KEY_PREFIX_BYTES_OFFSET + 2;
    static final int FIRST_ORDINAL_OFFSET = KEY_SUFFIX_BYTES_OFFSET + 2;
    static final int VERSION_BASE_OFFSET = FIRST_ORDINAL_OFFSET + 8;
    static final int VERSION_BYTES_OFFSET = VERSION_BASE_OFFSET + 8;
    static final int END_BYTES_OFFSET = VERSION_BYTES_OFFSET + 1;
    static final int ZERO_OFFSET = END_BYTES_OFFSET + 1;
    static final int HEAP_STRIDE_OFFSET = ZERO_OFFSET + 2;
    static final int HEADS_OFFSET = HEAP_STRIDE_OFFSET + 4;

    /** In keySuffixBytes: suffix lengths differ and stand in the heap. */
    static final int SUFFIX_BYTES_DIFFER = 0xFFFF;

    static final int VERSION_BYTES_MAX = 7;

    private LeafLayout() {}

    /** Bytes of key suffix that lie in the heap. */
    static int tailBytes(int suffixBytes) {
        return Math.max(0, suffixBytes - Heads.BYTES);
    }

    /** Smallest width that holds {@code value}. */
    static int versionBytes(long value) {
        return (Long.SIZE - Long.numberOfLeadingZeros(value) + 7) / 8;
    }

    /**
     * Checks what can be checked without walking over the entries: that every column lies in the page.
     *
     * @return what is wrong, or null
     */
    static @Nullable String problem(MemorySegment page) {
        long pageBytes = page.byteSize();
        if (pageBytes < HEADS_OFFSET + Heads.BYTES) {
            return "page of %d bytes".formatted(pageBytes);
        }
        int count = page.get(Bytes.I32, ENTRY_COUNT_OFFSET);
        int versionBytes = page.get(Bytes.U8, VERSION_BYTES_OFFSET);
        int endBytes = page.get(Bytes.U8, END_BYTES_OFFSET);
        int stride = page.get(Bytes.I32, HEAP_STRIDE_OFFSET);
        int prefixBytes = page.get(Bytes.I16, KEY_PREFIX_BYTES_OFFSET) & 0xFFFF;
        int suffixBytes = page.get(Bytes.I16, KEY_SUFFIX_BYTES_OFFSET) & 0xFFFF;
        if (count < 1) {
            return "%d entries".formatted(count);
        }
        if (versionBytes < 0 || versionBytes > VERSION_BYTES_MAX) {
            return "versions of %d bytes".formatted(versionBytes);
        }
        if ((endBytes != 0 && endBytes != 2 && endBytes != 4) || stride < 0) {
            return "heap ends of %d bytes, stride %d".formatted(endBytes, stride);
        }
        if (page.get(Bytes.I16, ZERO_OFFSET) != 0) {
            return "padding is not zero";
        }
        long ends = HEADS_OFFSET + (long) count * (Heads.BYTES + versionBytes);
        long heap = ends + (long) count * endBytes + prefixBytes;
        if (heap > pageBytes) {
            return "%d entries in %d bytes".formatted(count, pageBytes);
        }
        long lastEnd = switch (endBytes) {
            case 0 -> (long) count * stride;
            case 2 -> page.get(Bytes.I16, ends + (count - 1) * 2L) & 0xFFFF;
            default -> page.get(Bytes.I32, ends + (count - 1) * 4L);
        };
        if (lastEnd != pageBytes - heap || (endBytes != 0 && stride != 0)) {
            return "heap of %d bytes, %d expected".formatted(pageBytes - heap, lastEnd);
        }
        int tailBytes = tailBytes(suffixBytes);
        if (endBytes == 0 && suffixBytes != SUFFIX_BYTES_DIFFER && tailBytes > stride) {
            return "key tails of %d bytes in entries of %d".formatted(tailBytes, stride);
        }
        return null;
    }
}
