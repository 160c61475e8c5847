package io.turbidite.core.bytes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The shared layouts and the one comparison of the project.
 *
 * <p>On-disk and in-memory integers are little-endian and unaligned. Key prefixes are eight bytes
 * read big-endian, so that comparing them as unsigned longs is comparing the bytes (D1).
 */
public final class Bytes {
    /** One byte. */
    public static final ValueLayout.OfByte U8 = ValueLayout.JAVA_BYTE;

    /** Two bytes, little-endian, anywhere. */
    public static final ValueLayout.OfShort I16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Four bytes, little-endian, anywhere. */
    public static final ValueLayout.OfInt I32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Eight bytes, little-endian, anywhere. */
    public static final ValueLayout.OfLong I64 =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Four bytes, big-endian, anywhere. */
    public static final ValueLayout.OfInt I32_BE =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Eight bytes, big-endian, anywhere. */
    public static final ValueLayout.OfLong I64_BE =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private Bytes() {}

    /** Unsigned lexicographic comparison of two byte ranges. */
    public static int compare(
            MemorySegment a,
            long aOffset,
            int aLength,
            MemorySegment b,
            long bOffset,
            int bLength) {
        int common = Math.min(aLength, bLength);
        int i = 0;
        for (; i + 8 <= common; i += 8) {
            long x = a.get(I64_BE, aOffset + i);
            long y = b.get(I64_BE, bOffset + i);
            if (x != y) {
                return Long.compareUnsigned(x, y);
            }
        }
        if (i < common) {
            // those before are equal: where there is a word that ends with the last, it decides
            int order = common >= 8
                    ? Long.compareUnsigned(
                            a.get(I64_BE, aOffset + common - 8),
                            b.get(I64_BE, bOffset + common - 8))
                    : Long.compareUnsigned(prefix(a, aOffset, common), prefix(b, bOffset, common));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(aLength, bLength);
    }

    /**
     * Copies a few bytes between ranges that don't overlap. A key is copied sooner by words than
     * the bulk copy takes to see which kind of memory it has before it.
     */
    public static void copyShort(
            MemorySegment source, long from, MemorySegment target, long to, int byteCount) {
        if (byteCount >= 8) {
            int last = byteCount - 8;
            for (int i = 0; i < last; i += 8) {
                target.set(I64, to + i, source.get(I64, from + i));
            }
            // the last eight once more, as far as they are there already
            target.set(I64, to + last, source.get(I64, from + last));
        } else {
            for (int i = 0; i < byteCount; i++) {
                target.set(U8, to + i, source.get(U8, from + i));
            }
        }
    }

    /**
     * The first eight bytes read big-endian, padded with zeros: {@code prefix(a) < prefix(b)}
     * unsigned implies {@code a < b}; equal prefixes decide nothing.
     */
    public static long prefix(MemorySegment segment, long offset, int length) {
        if (length >= 8) {
            return segment.get(I64_BE, offset);
        }
        if (length >= 4) {
            // two words that overlap, and are the same where they do
            long first = a32(segment, offset) << 32;
            return first | a32(segment, offset + length - 4) << (64 - 8 * length);
        }
        if (length <= 0) {
            return 0;
        }
        // of one to three bytes the first, the middle and the last, which may be the same
        return at(segment, offset, 0)
                | at(segment, offset, length >>> 1)
                | at(segment, offset, length - 1);
    }

    /** A byte of a prefix, in its place. */
    private static long at(MemorySegment segment, long offset, int index) {
        return (segment.get(U8, offset + index) & 0xFFL) << (56 - 8 * index);
    }

    private static long a32(MemorySegment segment, long offset) {
        return Integer.toUnsignedLong(segment.get(I32_BE, offset));
    }
}
