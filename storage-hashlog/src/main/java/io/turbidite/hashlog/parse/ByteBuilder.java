package io.turbidite.hashlog.parse;

import java.util.Arrays;

/** A growing array of bytes, reused. <em>Confined to one thread.</em> */
final class ByteBuilder {
    private byte[] bytes = new byte[64];
    private int length;

    ByteBuilder clear() {
        length = 0;
        return this;
    }

    int length() {
        return length;
    }

    /** Holds the {@link #length()} bytes from index 0 on; another one after the next put. */
    byte[] bytes() {
        return bytes;
    }

    ByteBuilder put(int value) {
        if (length == bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * length);
        }
        bytes[length++] = (byte) value;
        return this;
    }

    void truncate(int newLength) {
        length = newLength;
    }
}
