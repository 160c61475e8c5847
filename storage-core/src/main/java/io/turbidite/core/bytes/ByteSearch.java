package io.turbidite.core.bytes;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Finds bytes in an array, eight at a time. What is wanted becomes the high bit of its byte of a
 * word; a byte behind it may seem to be wanted too, one before it never does, so that the lowest
 * such bit tells the first.
 */
public final class ByteSearch {
    private static final VarHandle WORD =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final long LOW_BITS = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
    private static final long LINE_ENDS = '\n' * LOW_BITS;
    private static final long QUOTES = '"' * LOW_BITS;
    private static final long BACKSLASHES = '\\' * LOW_BITS;
    private static final long SPACES = ' ' * LOW_BITS;

    private ByteSearch() {}

    /** The index of the first LF in {@code from..to}, or {@code to}. */
    public static int lineEnd(byte[] bytes, int from, int to) {
        int at = from;
        for (; at + Long.BYTES <= to; at += Long.BYTES) {
            long found = zeroBytes((long) WORD.get(bytes, at) ^ LINE_ENDS);
            if (found != 0) {
                return at + (Long.numberOfTrailingZeros(found) >>> 3);
            }
        }
        while (at < to && bytes[at] != '\n') {
            at++;
        }
        return at;
    }

    /**
     * The index of the first byte in {@code from..to} at which the plain part of a JSON string
     * ends: a double quote, a backslash or a control character; or {@code to}.
     */
    public static int plainTextEnd(byte[] bytes, int from, int to) {
        int at = from;
        for (; at + Long.BYTES <= to; at += Long.BYTES) {
            long word = (long) WORD.get(bytes, at);
            long controls = (word - SPACES) & ~word & HIGH_BITS;
            long found = zeroBytes(word ^ QUOTES) | zeroBytes(word ^ BACKSLASHES) | controls;
            if (found != 0) {
                return at + (Long.numberOfTrailingZeros(found) >>> 3);
            }
        }
        while (at < to && bytes[at] != '"' && bytes[at] != '\\' && !isControl(bytes[at])) {
            at++;
        }
        return at;
    }

    private static boolean isControl(byte b) {
        return b >= 0 && b < ' ';
    }

    private static long zeroBytes(long word) {
        return (word - LOW_BITS) & ~word & HIGH_BITS;
    }
}
