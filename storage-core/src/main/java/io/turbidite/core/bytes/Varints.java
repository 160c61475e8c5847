package io.turbidite.core.bytes;

import java.lang.foreign.MemorySegment;

/**
 * Lengths in few bytes: LEB128, as {@link ByteSink#putVarint} writes it, in memory whose place is
 * known. Only the shortest encoding of a number is one, so that the value tells how long it was.
 * Stateless.
 */
public final class Varints {
    /** Of any number that is not negative. */
    public static final int BYTES_MAX = 5;

    /** What {@link #get} answers if there is no number. */
    public static final int NONE = -1;

    private static final int BITS = 7;
    private static final int MORE = 1 << BITS;

    private Varints() {}

    /** How many bytes {@code value} takes, 1 to {@value #BYTES_MAX}; it is not negative. */
    public static int bytes(int value) {
        return (Integer.SIZE - 1 - Integer.numberOfLeadingZeros(value | 1)) / BITS + 1;
    }

    /**
     * Writes a number that is not negative.
     *
     * @return the offset behind it
     */
    public static long put(MemorySegment target, long at, int value) {
        long to = at;
        int rest = value;
        while (rest >= MORE) {
            target.set(Bytes.U8, to++, (byte) (rest | MORE));
            rest >>>= BITS;
        }
        target.set(Bytes.U8, to, (byte) rest);
        return to + 1;
    }

    /**
     * Reads a number from bytes that nobody vouches for.
     *
     * @param end behind the last byte that may be read
     * @return {@link #NONE} if there is none, or one that {@link #put} would not have written so
     */
    public static int get(MemorySegment source, long at, long end) {
        long value = 0;
        for (int i = 0; i < BYTES_MAX && at + i < end; i++) {
            int one = source.get(Bytes.U8, at + i);
            value |= (one & (MORE - 1L)) << (BITS * i);
            if (one >= 0) {
                boolean isShortest = i == 0 || one != 0;
                return isShortest && value <= Integer.MAX_VALUE ? (int) value : NONE;
            }
        }
        return NONE;
    }
}
