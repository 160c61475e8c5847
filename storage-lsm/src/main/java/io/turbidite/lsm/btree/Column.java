package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A flyweight over a column of numbers, one behind the other, each of as many bits as the widest of
 * them needs; the first bit of the first number is the lowest one of the column's first byte. A
 * column of whole bytes is one of numbers, little-endian.
 *
 * <p>A number is read with the eight bytes that end where it ends: before the end of a column's
 * first number there must be eight bytes of something, and none need be behind it.
 *
 * <p><em>Confined to one thread while it is moved</em>, else it only reads.
 */
final class Column {
    /** Widest number that is not of whole bytes: seven bits more than eight bytes hold no more. */
    private static final int ODD_BITS_MAX = Long.SIZE - 7;

    /** Where the eight bytes begin that end with the column's beginning. */
    long origin;

    int bits;

    /** The two together shift all but the number out; one alone can't shift all 64 out. */
    int shift;

    int restShift;

    /** Width of a column whose largest number is {@code max}, unsigned. */
    static int bits(long max) {
        int bits = Long.SIZE - Long.numberOfLeadingZeros(max);
        return bits > ODD_BITS_MAX ? Long.SIZE : bits;
    }

    /** Whether a column may be so wide. */
    static boolean isWidth(int bits) {
        return bits >= 0 && (bits <= ODD_BITS_MAX || bits == Long.SIZE);
    }

    /** Bytes of a column of {@code count} numbers. */
    static long bytes(int count, int bits) {
        return ((long) count * bits + 7) >>> 3;
    }

    /** Moves to the column at {@code offset}; returns where it ends. */
    long wrap(long offset, int newBits, int count) {
        origin = offset - Long.BYTES;
        bits = newBits;
        shift = (Long.SIZE - newBits) >>> 1;
        restShift = Long.SIZE - newBits - shift;
        return offset + bytes(count, newBits);
    }

    /** The largest number that a column of lengths holds. */
    int numberMax() {
        return (1 << bits) - 1;
    }

    /** The number at {@code index}. */
    long at(MemorySegment segment, int index) {
        return read(segment, origin, (long) (index + 1) * bits, shift, restShift);
    }

    /**
     * The number that ends behind so many bits of a column. Loops read a column's fields once, and
     * call this.
     */
    static long read(MemorySegment segment, long origin, long endBit, int shift, int restShift) {
        long word = segment.get(Bytes.I64, origin + ((endBit + 7) >>> 3));
        return word << (-endBit & 7) >>> shift >>> restShift;
    }

    /**
     * Puts {@code count} numbers from {@code index} on into {@code target}, from {@code to} on,
     * each shifted to the left and then added to {@code base}.
     *
     * <p>One word is read for as many numbers as always fit it: two, four or eight.
     */
    void decode(
            MemorySegment segment,
            int index,
            long[] target,
            int to,
            int count,
            long base,
            int left) {
        int width = bits;
        int end = to + count;
        if (width == 0) {
            Arrays.fill(target, to, end, base);
            return;
        }
        long start = origin;
        long endBit = (long) index * width;
        long mask = -1L >>> (Long.SIZE - width);
        int at = to;
        if (width <= ODD_BITS_MAX / 8) {
            int unused = Long.SIZE - 8 * width;
            for (; at <= end - 8; at += 8) {
                endBit += 8L * width;
                long word = word(segment, start, endBit) >>> unused;
                target[at] = base + ((word & mask) << left);
                target[at + 1] = base + (((word >>> width) & mask) << left);
                target[at + 2] = base + (((word >>> (2 * width)) & mask) << left);
                target[at + 3] = base + (((word >>> (3 * width)) & mask) << left);
                target[at + 4] = base + (((word >>> (4 * width)) & mask) << left);
                target[at + 5] = base + (((word >>> (5 * width)) & mask) << left);
                target[at + 6] = base + (((word >>> (6 * width)) & mask) << left);
                target[at + 7] = base + ((word >>> (7 * width)) << left);
            }
        } else if (width <= ODD_BITS_MAX / 4) {
            int unused = Long.SIZE - 4 * width;
            for (; at <= end - 4; at += 4) {
                endBit += 4L * width;
                long word = word(segment, start, endBit) >>> unused;
                target[at] = base + ((word & mask) << left);
                target[at + 1] = base + (((word >>> width) & mask) << left);
                target[at + 2] = base + (((word >>> (2 * width)) & mask) << left);
                target[at + 3] = base + ((word >>> (3 * width)) << left);
            }
        } else if (width <= ODD_BITS_MAX / 2) {
            int unused = Long.SIZE - 2 * width;
            for (; at <= end - 2; at += 2) {
                endBit += 2L * width;
                long word = word(segment, start, endBit) >>> unused;
                target[at] = base + ((word & mask) << left);
                target[at + 1] = base + ((word >>> width) << left);
            }
        }
        int unused = Long.SIZE - width;
        for (; at < end; at++) {
            endBit += width;
            target[at] = base + (word(segment, start, endBit) >>> unused << left);
        }
    }

    /** The bits before {@code endBit} of a column, the last of them on top. */
    private static long word(MemorySegment segment, long origin, long endBit) {
        return segment.get(Bytes.I64, origin + ((endBit + 7) >>> 3)) << (-endBit & 7);
    }

    /**
     * Fills columns, one at a time and from the first number on, by stores of eight bytes: behind
     * the last number up to eight bytes are written over.
     */
    static final class Writer {
        private long at;
        private int bits;

        /** Bits that are not stored yet, and how many. */
        private long pending;

        private int pendingBits;

        void begin(long offset, int newBits) {
            at = offset;
            bits = newBits;
            pending = 0;
            pendingBits = 0;
        }

        void put(MemorySegment target, long number) {
            assert bits == Long.SIZE || number >>> bits == 0 : number + " in " + bits;
            if (bits == Long.SIZE) {
                target.set(Bytes.I64, at, number);
                at += Long.BYTES;
                return;
            }
            // with at most seven bits that wait, and 57 of a number
            pending |= number << pendingBits;
            pendingBits += bits;
            target.set(Bytes.I64, at, pending);
            at += pendingBits >>> 3;
            pending = pendingBits == Long.SIZE ? 0 : pending >>> (pendingBits & ~7);
            pendingBits &= 7;
        }

        /** Where the column ends. */
        long end() {
            return at + (pendingBits > 0 ? 1 : 0);
        }
    }
}
