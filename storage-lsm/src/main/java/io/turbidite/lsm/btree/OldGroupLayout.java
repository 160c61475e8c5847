package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Layout of a group of neighbouring entries of a leaf page in components before version 5, which
 * are read: columns as in {@link GroupLayout}, but of whole bytes.
 *
 * <pre>
 * offset bytes field
 *      0     2 keyPrefixBytes   that all keys of the group share behind the page's prefix
 *      2     2 keySuffixBytes   of every key behind both prefixes; 65535 if they differ
 *      4     1 headBytes        1 to 8: width of the column of heads
 *      5     1 versionBytes     0 to 7: width of the version column
 *      6     1 endBytes         0, 2 or 4: width of the column of heap ends
 *      7     1 lengthBytes      of a suffix length: 0 if they are all the same, else 1 or 2
 *      8     8 versionBase      smallest version; version = timestamp * 2 + (1 if anti-matter)
 *     16     4 heapStride       of every heap entry if endBytes is 0, else 0
 *     20    wn heads            first w bytes of each key suffix, as a number; w = headBytes
 *           vn versions         above versionBase, v = versionBytes
 *           en heap ends        where each heap entry ends, from heap start, e = endBytes
 *            p key prefix       p = keyPrefixBytes
 *              heap             to the end of the group
 * </pre>
 *
 * <p>A heap entry is: the suffix length if lengths differ; the key suffix from its ninth byte on;
 * the value. If all are equally long there are no ends. Heads are narrower than eight bytes only if
 * no suffix is longer than they are.
 */
final class OldGroupLayout {
    static final int KEY_PREFIX_BYTES_OFFSET = 0;
    static final int KEY_SUFFIX_BYTES_OFFSET = KEY_PREFIX_BYTES_OFFSET + 2;
    static final int HEAD_BYTES_OFFSET = KEY_SUFFIX_BYTES_OFFSET + 2;
    static final int VERSION_BYTES_OFFSET = HEAD_BYTES_OFFSET + 1;
    static final int END_BYTES_OFFSET = VERSION_BYTES_OFFSET + 1;
    static final int LENGTH_BYTES_OFFSET = END_BYTES_OFFSET + 1;
    static final int VERSION_BASE_OFFSET = LENGTH_BYTES_OFFSET + 1;
    static final int HEAP_STRIDE_OFFSET = VERSION_BASE_OFFSET + 8;
    static final int HEADS_OFFSET = HEAP_STRIDE_OFFSET + 4;

    /** In keySuffixBytes: suffix lengths differ and stand in the heap. */
    static final int SUFFIX_BYTES_DIFFER = 0xFFFF;

    static final int VERSION_BYTES_MAX = 7;

    private OldGroupLayout() {}

    /**
     * Checks the group of {@code count} entries from {@code start} to {@code end} of a page.
     *
     * @return what is wrong, or null
     */
    static @Nullable String problem(MemorySegment page, long start, long end, int count) {
        if (end - start < HEADS_OFFSET) {
            return "%d bytes".formatted(end - start);
        }
        int headBytes = page.get(Bytes.U8, start + HEAD_BYTES_OFFSET);
        int versionBytes = page.get(Bytes.U8, start + VERSION_BYTES_OFFSET);
        int endBytes = page.get(Bytes.U8, start + END_BYTES_OFFSET);
        int stride = page.get(Bytes.I32, start + HEAP_STRIDE_OFFSET);
        if (headBytes < 1 || headBytes > Heads.BYTES) {
            return "heads of %d bytes".formatted(headBytes);
        }
        if (versionBytes < 0 || versionBytes > VERSION_BYTES_MAX) {
            return "versions of %d bytes".formatted(versionBytes);
        }
        if ((endBytes != 0 && endBytes != 2 && endBytes != 4)
                || stride < 0
                || (endBytes != 0 && stride != 0)) {
            return "heap ends of %d bytes, stride %d".formatted(endBytes, stride);
        }
        int prefixBytes = page.get(Bytes.I16, start + KEY_PREFIX_BYTES_OFFSET) & 0xFFFF;
        long ends = start + HEADS_OFFSET + (long) count * (headBytes + versionBytes);
        long heap = ends + (long) count * endBytes + prefixBytes;
        if (heap > end) {
            return "%d entries in %d bytes".formatted(count, end - start);
        }
        long lastEnd = switch (endBytes) {
            case 0 -> (long) count * stride;
            case 2 -> page.get(Bytes.I16, ends + (count - 1) * 2L) & 0xFFFF;
            default -> page.get(Bytes.I32, ends + (count - 1) * 4L);
        };
        if (lastEnd != end - heap) {
            return "heap of %d bytes, %d expected".formatted(end - heap, lastEnd);
        }
        int suffixBytes = page.get(Bytes.I16, start + KEY_SUFFIX_BYTES_OFFSET) & 0xFFFF;
        int lengthBytes = page.get(Bytes.U8, start + LENGTH_BYTES_OFFSET);
        if (lengthBytes < 0
                || lengthBytes > 2
                || (lengthBytes == 0) != (suffixBytes != SUFFIX_BYTES_DIFFER)) {
            return "suffix lengths of %d bytes".formatted(lengthBytes);
        }
        if (endBytes == 0 && lengthBytes > stride) {
            return "lengths of %d bytes in entries of %d".formatted(lengthBytes, stride);
        }
        if (lengthBytes == 0) {
            if (headBytes != GroupLayout.headBytes(suffixBytes)) {
                return "heads of %d bytes for suffixes of %d".formatted(headBytes, suffixBytes);
            }
            if (endBytes == 0 && GroupLayout.tailBytes(suffixBytes) > stride) {
                return "key tails of %d bytes in entries of %d"
                        .formatted(GroupLayout.tailBytes(suffixBytes), stride);
            }
        }
        return null;
    }
}
