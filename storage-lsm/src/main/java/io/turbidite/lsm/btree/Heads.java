package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * A flyweight over a column of heads, which it searches. The head of a key is the first eight bytes
 * behind the prefix that it shares with its neighbours, padded with zeros, as an unsigned number
 * (D1); the {@link Column} is ascending and may hold equal heads. It may be narrower: of only the
 * first bytes of each head, and of what these are above a base.
 *
 * <p>A search starts at a guess and doubles its steps until it has passed the head, then halves
 * (the exponential search of LUO19 §3.2). A good guess costs two or three steps on one cache line,
 * a useless one twice a binary search.
 *
 * <p><em>Confined to one thread while it is moved</em>, else it only reads. The segment is an
 * argument: to keep it in a field would cost a barrier of the garbage collector at each move, which
 * a point search pays at each page.
 */
final class Heads {
    static final int BYTES = Long.BYTES;

    private final Column column = new Column();
    private int count;

    /** By how much a head is shifted to the bytes that the column is of. */
    private int shift;

    /** What the column's numbers are above. */
    private long base;

    /**
     * Moves to the column of {@code newCount} whole numbers of {@code newWidth} bytes at
     * {@code offset}.
     */
    Heads wrap(long offset, int newWidth, int newCount) {
        var _ = wrap(offset, Byte.SIZE * newWidth, newCount, newWidth, 0);
        return this;
    }

    /**
     * Moves to a column.
     *
     * @param bits width of the column
     * @param headBytes first bytes of each head that it is of, 1 to 8
     * @param newBase the number that these are above
     * @return where it ends
     */
    long wrap(long offset, int bits, int newCount, int headBytes, long newBase) {
        count = newCount;
        shift = Long.SIZE - Byte.SIZE * headBytes;
        base = newBase;
        return column.wrap(offset, bits, newCount);
    }

    /** The head of {@code key} behind its first {@code prefixBytes} bytes, which it must have. */
    static long of(Slice key, int prefixBytes) {
        int rest = key.length() - prefixBytes;
        if (rest >= BYTES) {
            return key.segment().get(Bytes.I64_BE, key.offset() + prefixBytes);
        }
        if (rest == 0) {
            return 0;
        }
        if (key.length() >= BYTES) {
            // the last eight bytes, with the prefix shifted out: no loop over single bytes
            long last = key.segment().get(Bytes.I64_BE, key.offset() + key.length() - BYTES);
            return last << (Long.SIZE - Byte.SIZE * rest);
        }
        return Bytes.prefix(key.segment(), key.offset() + prefixBytes, rest);
    }

    /** Of a whole head, the bytes that the column holds, as the number that {@link #at} gives. */
    long cut(long head) {
        return head >>> shift;
    }

    /**
     * The whole head that a number from the column stands for, if no more of it was cut than zeros.
     */
    long whole(long cut) {
        return cut << shift;
    }

    /** The head at {@code index}, as {@link #cut}. */
    long at(MemorySegment segment, int index) {
        return base + column.at(segment, index);
    }

    /** Whether the first head is what all of them are above, as it is but in the old form. */
    boolean beginsAtBase(MemorySegment segment) {
        return at(segment, 0) == base;
    }

    /** Puts {@code entries} whole heads from {@code index} on into {@code target}. */
    void decode(MemorySegment segment, int index, long[] target, int entries) {
        column.decode(segment, index, target, 0, entries, base << shift, shift);
    }

    /**
     * The first index whose head is at or above {@code cut}; the count if none is.
     *
     * @param hint where to start, 0 to the count; negative to guess
     */
    int lowerBound(MemorySegment segment, long cut, int hint) {
        if (Long.compareUnsigned(cut, base) < 0) {
            return 0;
        }
        long wanted = cut - base;
        // locals: the compiler then reads the fields once and not at each probe
        long start = column.origin;
        int bits = column.bits;
        int first = column.shift;
        int rest = column.restShift;
        int end = count;
        int from = hint < 0 ? guess(segment, cut) : hint;
        int low; // every head before it is below
        int high; // every head from it on is at or above
        int step = 1;
        if (from < end && isBelow(segment, start, (from + 1L) * bits, first, rest, wanted)) {
            low = from + 1;
            high = end;
            while (low + step <= end) {
                int probe = low + step - 1;
                if (!isBelow(segment, start, (probe + 1L) * bits, first, rest, wanted)) {
                    high = probe;
                    break;
                }
                low = probe + 1;
                step <<= 1;
            }
        } else {
            low = 0;
            high = from;
            while (high - step >= 0) {
                int probe = high - step;
                if (isBelow(segment, start, (probe + 1L) * bits, first, rest, wanted)) {
                    low = probe + 1;
                    break;
                }
                high = probe;
                step <<= 1;
            }
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (isBelow(segment, start, (middle + 1L) * bits, first, rest, wanted)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private static boolean isBelow(
            MemorySegment segment, long origin, long endBit, int shift, int rest, long wanted) {
        long number = Column.read(segment, origin, endBit, shift, rest);
        return Long.compareUnsigned(number, wanted) < 0;
    }

    /** The end of the run of equal heads that begins at {@code index}. */
    int runEnd(MemorySegment segment, int index) {
        long head = at(segment, index);
        int next = index + 1;
        if (next == count || at(segment, next) != head) {
            return next;
        }
        return head == -1L ? count : lowerBound(segment, head + 1, next);
    }

    /**
     * Where {@code cut} would be if heads grew evenly between the first and the last, as random and
     * consecutive keys do.
     */
    private int guess(MemorySegment segment, long cut) {
        if (count < 4) {
            return 0;
        }
        // what all are above is the first of them, but in the old form, where it is nothing
        long first = base != 0 ? base : at(segment, 0);
        long last = at(segment, count - 1);
        if (Long.compareUnsigned(cut, first) <= 0) {
            return 0;
        }
        if (Long.compareUnsigned(cut, last) >= 0) {
            return count - 1;
        }
        // halved, so that unsigned differences are positive doubles
        double share = (double) ((cut - first) >>> 1) / (double) ((last - first) >>> 1 | 1L);
        return Math.min(count - 1, (int) (share * count));
    }
}
