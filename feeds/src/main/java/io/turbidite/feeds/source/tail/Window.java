package io.turbidite.feeds.source.tail;

import java.util.zip.CRC32C;

/**
 * Some bytes of a content, by which it is known again. <em>Immutable.</em>
 *
 * @param start offset of the first
 * @param byteCount how many; 0 for a window that says nothing
 * @param crc32c of them
 */
record Window(long start, int byteCount, int crc32c) {
    /** So many bytes tell two contents apart. */
    static final int BYTES_MAX = 256;

    static final Window NONE = new Window(0, 0, 0);

    /** Over {@code byteCount} bytes of {@code bytes}, the first of which is at {@code start}. */
    static Window of(long start, byte[] bytes, int byteCount) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, byteCount);
        return new Window(start, byteCount, (int) crc.getValue());
    }

    /** Behind the last byte. */
    long end() {
        return start + byteCount;
    }

    /** Whether {@code content} has these bytes there. */
    boolean isOf(Content content) {
        byte[] bytes = new byte[byteCount];
        return content.read(start, bytes, byteCount) == byteCount
                && of(start, bytes, byteCount).crc32c == crc32c;
    }
}
