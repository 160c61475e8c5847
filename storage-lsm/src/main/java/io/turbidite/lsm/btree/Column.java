package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;

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

    /** Puts {@code count} numbers from {@code index} on into {@code target}, from {@code to} on. */
    void decode(MemorySegment segment, int index, long[] target, int to, int count) {
        long start = origin;
        int width = bits;
        int first = shift;
        int rest = restShift;
        long endBit = (long) index * width;
        for (int i = 0; i < count; i++) {
            endBit += width;
            target[to + i] = read(segment, start, endBit, first, rest);
        }
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
