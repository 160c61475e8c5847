package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSearch;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Text of JSON under construction in an array that is reused: what reads a record reads arrays.
 * <em>Confined to one thread.</em>
 */
public final class JsonText {
    private static final String HEX = "0123456789abcdef";

    /** What a JVM makes an array of. */
    private static final int ARRAY_BYTES_MAX = Integer.MAX_VALUE - 16;

    private static final int INITIAL_BYTES = 1024;

    /** A huge text's array is let go of before the next one. */
    private static final int BYTES_KEPT_MAX = 1 << 20;

    private final int bytesMax;
    private byte[] bytes = new byte[INITIAL_BYTES];
    private int length;

    /** An empty text of any length. */
    public JsonText() {
        this(ARRAY_BYTES_MAX);
    }

    /**
     * An empty text.
     *
     * @param bytesMax how long it may become
     */
    public JsonText(int bytesMax) {
        this.bytesMax = bytesMax;
    }

    /** Begins again. */
    public void clear() {
        length = 0;
        if (bytes.length > BYTES_KEPT_MAX) {
            bytes = new byte[INITIAL_BYTES];
        }
    }

    /** Begins with the text; another one once more was put than fits. */
    public byte[] bytes() {
        return bytes;
    }

    /** Bytes of the text. */
    public int length() {
        return length;
    }

    /** Gives up all behind the first {@code newLength} bytes. */
    public void cut(int newLength) {
        if (newLength < 0 || newLength > length) {
            throw new IllegalArgumentException("%d of %d bytes".formatted(newLength, length));
        }
        length = newLength;
    }

    /** Puts a character in the place of another one of the text. */
    public void replace(int index, char ascii) {
        if (index >= length) {
            throw new IllegalArgumentException("byte %d of %d".formatted(index, length));
        }
        bytes[index] = (byte) ascii;
    }

    /**
     * Appends a character of ASCII.
     *
     * @throws InvalidRequestException if the text becomes too long; so do the others
     */
    public void put(char ascii) {
        reserve(1);
        bytes[length++] = (byte) ascii;
    }

    /** Appends bytes as they are. */
    public void put(byte[] from) {
        put(from, 0, from.length);
    }

    /** Appends some bytes as they are. */
    public void put(byte[] from, int start, int end) {
        reserve(end - start);
        System.arraycopy(from, start, bytes, length, end - start);
        length += end - start;
    }

    /** Appends characters of ASCII as they are. */
    public void ascii(String text) {
        int count = text.length();
        reserve(count);
        for (int i = 0; i < count; i++) {
            bytes[length++] = (byte) text.charAt(i);
        }
    }

    /** Appends a whole number. */
    public void number(long value) {
        if (value == Long.MIN_VALUE) {
            ascii("-9223372036854775808");
            return;
        }
        int digits = 1;
        for (long rest = Math.abs(value) / 10; rest > 0; rest /= 10) {
            digits++;
        }
        reserve(digits + 1);
        if (value < 0) {
            bytes[length++] = '-';
        }
        length += digits;
        long rest = Math.abs(value);
        for (int at = length - 1; digits > 0; digits--, at--) {
            bytes[at] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
    }

    /** Appends text as a JSON string. */
    public void string(String text) {
        string(text.getBytes(StandardCharsets.UTF_8));
    }

    /** As {@link #string(byte[], int, int)}, all of it. */
    public void string(byte[] utf8) {
        string(utf8, 0, utf8.length);
    }

    /** Appends text as a JSON string; what is not UTF-8 stays so, and the parser refuses it. */
    public void string(byte[] utf8, int start, int end) {
        put('"');
        int at = start;
        while (true) {
            int plain = ByteSearch.plainTextEnd(utf8, at, end);
            put(utf8, at, plain);
            if (plain == end) {
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
        long needed = (long) length + byteCount;
        if (needed > bytesMax) {
            throw new InvalidRequestException(
                    "it becomes longer than the limit of %d bytes".formatted(bytesMax));
        }
        if (needed > bytes.length) {
            bytes = Arrays.copyOf(
                    bytes, (int) Math.max(needed, Math.min(2L * bytes.length, bytesMax)));
        }
    }
}
