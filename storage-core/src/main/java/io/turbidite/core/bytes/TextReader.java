package io.turbidite.core.bytes;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * Makes strings of UTF-8 bytes through one array that it keeps: half the garbage of an array for
 * each string. <em>Confined to one thread.</em>
 */
public final class TextReader {
    /** Longer texts get an array of their own: one of them must not be kept for ever. */
    private static final int KEPT_BYTES_MAX = 8 << 10;

    private byte[] bytes = new byte[0];

    /** The bytes read as UTF-8. */
    public String read(Slice utf8) {
        int length = utf8.length();
        if (length > KEPT_BYTES_MAX) {
            return utf8.toUtf8();
        }
        if (bytes.length < length) {
            bytes = new byte[Math.max(256, Integer.highestOneBit(length) << 1)];
        }
        MemorySegment.copy(utf8.segment(), Bytes.U8, utf8.offset(), bytes, 0, length);
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
