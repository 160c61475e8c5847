package io.turbidite.feeds.web.http;

import java.util.ArrayDeque;

/**
 * Arrays that texts of clients lay in, for the next ones: without them each record that comes by
 * the network costs its own length in heap, twice. An array is a power of two long, and is given
 * out for what needs more than half of it, so that nobody holds much more than he was counted for.
 *
 * <p>Memory: up to {@value #BYTES_MAX} bytes. <em>Thread-safe by its lock</em>.
 */
public final class SpareBytes {
    /** The shortest array. */
    public static final int LENGTH_MIN = 4 << 10;

    /** What is kept at most, of all lengths together. */
    public static final int BYTES_MAX = 4 << 20;

    /** A longer one is not kept. */
    static final int LENGTH_MAX = 1 << 20;

    private static final int CLASS_MIN = Integer.numberOfTrailingZeros(LENGTH_MIN);
    private static final int CLASS_COUNT =
            Integer.numberOfTrailingZeros(LENGTH_MAX) - CLASS_MIN + 1;

    private final ArrayDeque<byte[]>[] spare = newSpare();
    private int byteCount;

    /** None yet. */
    public SpareBytes() {}

    @SuppressWarnings({"unchecked", "rawtypes"}) // there are no arrays of a type with parameters
    private static ArrayDeque<byte[]>[] newSpare() {
        ArrayDeque<byte[]>[] all = new ArrayDeque[CLASS_COUNT];
        for (int i = 0; i < all.length; i++) {
            all[i] = new ArrayDeque<>();
        }
        return all;
    }

    /**
     * An array of at least {@code length} bytes, and less than twice as many, or {@value
     * #LENGTH_MIN}; with anything in it.
     */
    public byte[] take(int length) {
        if (length > LENGTH_MAX) {
            return new byte[longer(length)];
        }
        int wanted = classOf(Math.max(length, LENGTH_MIN));
        synchronized (this) {
            byte[] found = spare[wanted].pollLast();
            if (found != null) {
                byteCount -= found.length;
                return found;
            }
        }
        return new byte[LENGTH_MIN << wanted];
    }

    /** Of an array that is too long to be kept: as much again as needed, as far as arrays go. */
    private static int longer(int length) {
        return (int) Math.min(Integer.MAX_VALUE - 8L, length + length / 2L);
    }

    private static int classOf(int length) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(length - 1) - CLASS_MIN;
    }

    /** Takes an array back that nobody reads or writes any more; one of another length goes. */
    public void give(byte[] bytes) {
        int length = bytes.length;
        if (length < LENGTH_MIN || length > LENGTH_MAX || Integer.bitCount(length) != 1) {
            return;
        }
        synchronized (this) {
            spare[classOf(length)].addLast(bytes);
            byteCount += length;
            trim(classOf(length));
        }
    }

    /** What nobody takes any more makes room for what comes and goes: the longest first. */
    private void trim(int kept) {
        for (int i = CLASS_COUNT - 1; byteCount > BYTES_MAX && i >= 0; i--) {
            while (i != kept && byteCount > BYTES_MAX && !spare[i].isEmpty()) {
                byteCount -= spare[i].removeFirst().length;
            }
        }
        while (byteCount > BYTES_MAX) {
            byteCount -= spare[kept].removeFirst().length;
        }
    }
}
