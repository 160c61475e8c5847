package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * A flyweight over a column of heads, which it searches. The head of a key is the first eight bytes
 * behind the prefix that it shares with its neighbours, padded with zeros, as an unsigned number
 * (D1); the column is ascending and may hold equal heads. A column may be narrower, and hold only
 * the first bytes of each head; before the end of its first one there are always eight bytes of
 * something.
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

    private int width = BYTES;
    private int shift;
    private int count;

    /** Where the eight bytes begin that end with the first head. */
    private long origin;

    /**
     * Moves to the column of {@code newCount} heads of {@code newWidth} bytes at {@code offset}.
     */
    Heads wrap(long offset, int newWidth, int newCount) {
        width = newWidth;
        shift = Long.SIZE - Byte.SIZE * newWidth;
        count = newCount;
        origin = offset + newWidth - BYTES;
        return this;
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

    /** The head at {@code index}, cut to the width of the column. */
    long at(MemorySegment segment, int index) {
        return segment.get(Bytes.I64, origin + (long) index * width) >>> shift;
    }

    /** Puts {@code entries} whole heads from {@code index} on into {@code target}. */
    void decode(MemorySegment segment, int index, long[] target, int entries) {
        int bytes = width;
        long mask = -1L << shift;
        long start = origin + (long) index * bytes;
        for (int i = 0; i < entries; i++) {
            target[i] = segment.get(Bytes.I64, start + (long) i * bytes) & mask;
        }
    }

    /**
     * The first index whose head is at or above {@code cut}; the count if none is.
     *
     * @param hint where to start, 0 to the count; negative to guess
     */
    int lowerBound(MemorySegment segment, long cut, int hint) {
        // locals: the compiler then reads the fields once and not at each probe
        long start = origin;
        int bytes = width;
        int cutBits = shift;
        int end = count;
        int from = hint < 0 ? guess(segment, cut) : hint;
        int low; // every head before it is below
        int high; // every head from it on is at or above
        int step = 1;
        if (from < end && isBelow(segment, start + (long) from * bytes, cutBits, cut)) {
            low = from + 1;
            high = end;
            while (low + step <= end) {
                int probe = low + step - 1;
                if (!isBelow(segment, start + (long) probe * bytes, cutBits, cut)) {
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
                if (isBelow(segment, start + (long) probe * bytes, cutBits, cut)) {
                    low = probe + 1;
                    break;
                }
                high = probe;
                step <<= 1;
            }
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (isBelow(segment, start + (long) middle * bytes, cutBits, cut)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private static boolean isBelow(MemorySegment column, long at, int shift, long cut) {
        return Long.compareUnsigned(column.get(Bytes.I64, at) >>> shift, cut) < 0;
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
        long first = at(segment, 0);
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
