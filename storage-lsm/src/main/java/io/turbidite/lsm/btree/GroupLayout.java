package io.turbidite.lsm.btree;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Layout of a group of neighbouring entries of a leaf page: columns, so that a search reads two or
 * three cache lines of heads and not a line of each entry it passes. Every {@link Column} is as
 * narrow as the group's entries allow, to the bit, and holds what is above the smallest of them.
 *
 * <pre>
 * offset bytes field
 *      0     6 versionBase      smallest version; version = timestamp * 2 + (1 if anti-matter)
 *      6     1 headBits         width of the column of heads, 0 to 57 or 64
 *      7     1 versionBits      width of the version column, 0 to 48
 *      8     8 shape            from the lowest bit on: 11 bits keyPrefixBytes, that all keys of
 *                               the group share behind the page's prefix; 11 suffixBytesMin, of the
 *                               shortest key behind both prefixes; 3 headBytes - 1; 4 lengthBits,
 *                               width of the column of lengths; 5 endBits, width of the column of
 *                               heap ends; 1 versionStep, 1 if all versions are matter or all
 *                               anti-matter; 29 heapStride, of every heap entry if endBits is 0
 *     16     p key prefix       p = keyPrefixBytes
 *            h headBase         first h bytes of the first key's suffix, h = headBytes
 *              heads            first h bytes of each key suffix, as a number, above headBase
 *              versions         above versionBase; halved if versionStep
 *              lengths          of each key suffix, above suffixBytesMin
 *              heap ends        where each heap entry ends, from heap start
 *              heap             to the end of the group
 * </pre>
 *
 * <p>A heap entry is: the key suffix from its ninth byte on; the value. If all are equally long
 * there are no ends. There are less than eight headBytes only if no suffix is longer than they are;
 * a shorter suffix is padded with zeros. Consecutive numbers as keys, with the timestamps they were
 * loaded at and no values, take two bytes an entry.
 */
final class GroupLayout {
    static final int VERSION_BASE_OFFSET = 0;
    static final int HEAD_BITS_OFFSET = VERSION_BASE_OFFSET + 6;
    static final int VERSION_BITS_OFFSET = HEAD_BITS_OFFSET + 1;
    static final int SHAPE_OFFSET = VERSION_BITS_OFFSET + 1;
    static final int PREFIX_OFFSET = SHAPE_OFFSET + 8;

    static final int VERSION_BITS_MAX = 48;

    private static final int KEY_BITS = 11;
    private static final int SUFFIX_SHIFT = KEY_BITS;
    private static final int HEAD_BYTES_SHIFT = SUFFIX_SHIFT + KEY_BITS;
    private static final int LENGTH_BITS_SHIFT = HEAD_BYTES_SHIFT + 3;
    private static final int END_BITS_SHIFT = LENGTH_BITS_SHIFT + 4;
    private static final int VERSION_STEP_SHIFT = END_BITS_SHIFT + 5;
    private static final int STRIDE_SHIFT = VERSION_STEP_SHIFT + 1;

    private GroupLayout() {}

    /** Bytes of key suffix that lie in the heap. */
    static int tailBytes(int suffixBytes) {
        return Math.max(0, suffixBytes - Heads.BYTES);
    }

    /** Bytes of the heads where the longest suffix has {@code suffixBytesMax}. */
    static int headBytes(int suffixBytesMax) {
        return Math.clamp(suffixBytesMax, 1, Heads.BYTES);
    }

    static long shape(
            int keyPrefixBytes,
            int suffixBytesMin,
            int headBytes,
            int lengthBits,
            int endBits,
            int versionStep,
            long stride) {
        assert keyPrefixBytes <= Limits.KEY_BYTES_MAX && suffixBytesMin <= Limits.KEY_BYTES_MAX;
        assert stride >>> (Long.SIZE - STRIDE_SHIFT) == 0 : stride;
        return keyPrefixBytes
                | (long) suffixBytesMin << SUFFIX_SHIFT
                | (headBytes - 1L) << HEAD_BYTES_SHIFT
                | (long) lengthBits << LENGTH_BITS_SHIFT
                | (long) endBits << END_BITS_SHIFT
                | (long) versionStep << VERSION_STEP_SHIFT
                | stride << STRIDE_SHIFT;
    }

    static int keyPrefixBytes(long shape) {
        return field(shape, 0, KEY_BITS);
    }

    static int suffixBytesMin(long shape) {
        return field(shape, SUFFIX_SHIFT, KEY_BITS);
    }

    static int headBytes(long shape) {
        return field(shape, HEAD_BYTES_SHIFT, 3) + 1;
    }

    static int lengthBits(long shape) {
        return field(shape, LENGTH_BITS_SHIFT, 4);
    }

    static int endBits(long shape) {
        return field(shape, END_BITS_SHIFT, 5);
    }

    static int versionStep(long shape) {
        return field(shape, VERSION_STEP_SHIFT, 1);
    }

    static int stride(long shape) {
        return (int) (shape >>> STRIDE_SHIFT);
    }

    private static int field(long shape, int shift, int bits) {
        return (int) (shape >>> shift) & ((1 << bits) - 1);
    }

    /**
     * Checks the group of {@code count} entries from {@code start} to {@code end} of a page.
     *
     * @return what is wrong, or null
     */
    static @Nullable String problem(MemorySegment page, long start, long end, int count) {
        if (end - start < PREFIX_OFFSET) {
            return "%d bytes".formatted(end - start);
        }
        int headBits = page.get(Bytes.U8, start + HEAD_BITS_OFFSET);
        int versionBits = page.get(Bytes.U8, start + VERSION_BITS_OFFSET);
        long shape = page.get(Bytes.I64, start + SHAPE_OFFSET);
        int headBytes = headBytes(shape);
        if (!Column.isWidth(headBits) || headBits > Byte.SIZE * headBytes) {
            return "heads of %d bits and %d bytes".formatted(headBits, headBytes);
        }
        if (versionBits < 0 || versionBits > VERSION_BITS_MAX) {
            return "versions of %d bits".formatted(versionBits);
        }
        int lengthBits = lengthBits(shape);
        int endBits = endBits(shape);
        if (lengthBits > KEY_BITS || (endBits != 0 && stride(shape) != 0)) {
            return "lengths of %d bits, heap ends of %d, stride %d"
                    .formatted(lengthBits, endBits, stride(shape));
        }
        long ends = start
                + PREFIX_OFFSET
                + keyPrefixBytes(shape)
                + headBytes
                + Column.bytes(count, headBits)
                + Column.bytes(count, versionBits)
                + Column.bytes(count, lengthBits);
        long heap = ends + Column.bytes(count, endBits);
        if (heap > end) {
            return "%d entries in %d bytes".formatted(count, end - start);
        }
        long lastEnd = (long) count * stride(shape);
        if (endBits != 0) {
            Column column = new Column();
            var _ = column.wrap(ends, endBits, count);
            lastEnd = column.at(page, count - 1);
        }
        if (lastEnd != end - heap) {
            return "heap of %d bytes, %d expected".formatted(end - heap, lastEnd);
        }
        int suffixBytes = suffixBytesMin(shape);
        if (lengthBits == 0 && headBytes != headBytes(suffixBytes)) {
            return "heads of %d bytes for suffixes of %d".formatted(headBytes, suffixBytes);
        }
        if (endBits == 0 && lengthBits == 0 && tailBytes(suffixBytes) > stride(shape)) {
            return "key tails of %d bytes in entries of %d"
                    .formatted(tailBytes(suffixBytes), stride(shape));
        }
        return null;
    }
}
