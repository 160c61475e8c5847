package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * Searches columns of heads. The head of a key is the first eight bytes behind the prefix that it shares
 * with its neighbours, padded with zeros, as an unsigned number (D1); the column is ascending and may
 * hold equal heads.
 *
 * <p>A search starts at a guess and doubles its steps until it has passed the head, then halves (the
 * exponential search of LUO19 §3.2). A good guess costs two or three steps on one cache line, a useless
 * one twice a binary search.
 */
final class Heads {
    static final int BYTES = Long.BYTES;

    private Heads() {}

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

    static long at(MemorySegment segment, long column, int index) {
        return segment.get(Bytes.I64, column + (long) index * BYTES);
    }

    /** The first index whose head is at or above {@code head}; {@code count} if none is. */
    static int lowerBound(MemorySegment segment, long column, int count, long head) {
        return lowerBound(segment, column, count, head, guess(segment, column, count, head));
    }

    /**
     * The first index whose head is at or above {@code head}, sought from {@code hint} outwards.
     *
     * @param hint 0 to {@code count}
     */
    static int lowerBound(MemorySegment segment, long column, int count, long head, int hint) {
        int low; // every head before it is below
        int high; // every head from it on is at or above
        int step = 1;
        if (hint < count && Long.compareUnsigned(at(segment, column, hint), head) < 0) {
            low = hint + 1;
            high = count;
            while (low + step <= count) {
                int probe = low + step - 1;
                if (Long.compareUnsigned(at(segment, column, probe), head) >= 0) {
                    high = probe;
                    break;
                }
                low = probe + 1;
                step <<= 1;
            }
        } else {
            low = 0;
            high = hint;
            while (high - step >= 0) {
                int probe = high - step;
                if (Long.compareUnsigned(at(segment, column, probe), head) < 0) {
                    low = probe + 1;
                    break;
                }
                high = probe;
                step <<= 1;
            }
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Long.compareUnsigned(at(segment, column, middle), head) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The end of the run of equal heads that begins at {@code index}. */
    static int runEnd(MemorySegment segment, long column, int count, int index) {
        long head = at(segment, column, index);
        int next = index + 1;
        if (next == count || at(segment, column, next) != head) {
            return next;
        }
        return head == -1L ? count : lowerBound(segment, column, count, head + 1, next);
    }

    /**
     * Where {@code head} would be if heads grew evenly between the first and the last, as random and
     * consecutive keys do.
     */
    private static int guess(MemorySegment segment, long column, int count, long head) {
        if (count < 4) {
            return 0;
        }
        long first = at(segment, column, 0);
        long last = at(segment, column, count - 1);
        if (Long.compareUnsigned(head, first) <= 0) {
            return 0;
        }
        if (Long.compareUnsigned(head, last) >= 0) {
            return count - 1;
        }
        // halved, so that unsigned differences are positive doubles
        double share = (double) ((head - first) >>> 1) / (double) ((last - first) >>> 1 | 1L);
        return Math.min(count - 1, (int) (share * count));
    }
}
