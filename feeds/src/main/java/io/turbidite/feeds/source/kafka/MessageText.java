package io.turbidite.feeds.source.kafka;

import io.turbidite.core.bytes.ByteSearch;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Text of JSON under construction in an array that is reused: what reads a record reads arrays.
 * <em>Confined to one thread.</em>
 */
final class MessageText {
    private static final String HEX = "0123456789abcdef";

    /** What a JVM makes an array of. */
    private static final int BYTES_MAX = Integer.MAX_VALUE - 16;

    private byte[] bytes = new byte[1024];
    private int length;

    void clear() {
        length = 0;
    }

    /** Begins with the text; another one once more was put than fits. */
    byte[] bytes() {
        return bytes;
    }

    int length() {
        return length;
    }

    void put(char ascii) {
        reserve(1);
        bytes[length++] = (byte) ascii;
    }

    void put(byte[] from, int start, int end) {
        reserve(end - start);
        System.arraycopy(from, start, bytes, length, end - start);
        length += end - start;
    }

    void ascii(String text) {
        reserve(text.length());
        for (int i = 0; i < text.length(); i++) {
            bytes[length++] = (byte) text.charAt(i);
        }
    }

    void string(String text) {
        string(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Text as a JSON string; what is not UTF-8 stays so, and the parser refuses it. */
    void string(byte[] utf8) {
        put('"');
        int at = 0;
        while (true) {
            int plain = ByteSearch.plainTextEnd(utf8, at, utf8.length);
            put(utf8, at, plain);
            if (plain == utf8.length) {
                break;
            }
            escaped(utf8[plain]);
            at = plain + 1;
        }
        put('"');
    }

    private void escaped(byte b) {
        put('\\');
        if (b == '"' || b == '\\') {
            put((char) b);
        } else {
            ascii("u00");
            put(HEX.charAt(b >> 4));
            put(HEX.charAt(b & 15));
        }
    }

    private void reserve(int byteCount) {
        int needed = Math.addExact(length, byteCount);
        if (needed > bytes.length) {
            bytes = Arrays.copyOf(
                    bytes, Math.max(needed, (int) Math.min(2L * bytes.length, BYTES_MAX)));
        }
    }
}
