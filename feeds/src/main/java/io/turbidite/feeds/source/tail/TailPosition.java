package io.turbidite.feeds.source.tail;

import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * How far a content has been read, and how it is known again. <em>Immutable.</em>
 *
 * <pre>
 * offset bytes field
 *      0     2 {@link #MARK}
 *      2     8 offset
 *     10     8 line
 *     18     8 start of the head
 *     26     4 byteCount of the head
 *     30     4 crc32c of the head
 *     34     8 start of the witness
 *     42     4 byteCount of the witness
 *     46     4 crc32c of the witness
 *     50     2 i = bytes of the identity
 *     52     i identity, UTF-8
 * 52 + i     n file name, UTF-8
 * </pre>
 *
 * @param offset bytes of the (uncompressed) content that were given out
 * @param line the line that begins there, from 1
 * @param head of the first record
 * @param witness the end of the last record before {@code offset}
 * @param identity of the file that held it
 * @param file the name that the file had
 */
record TailPosition(
        long offset, long line, Window head, Window witness, String identity, String file) {
    /** "T" and version 1. */
    private static final short MARK = 0x5401;

    private static final int FIXED_BYTES = 52;

    SourcePosition encode() {
        byte[] id = identity.getBytes(StandardCharsets.UTF_8);
        byte[] name = file.getBytes(StandardCharsets.UTF_8);
        return SourcePosition.of(ByteBuffer.allocate(FIXED_BYTES + id.length + name.length)
                .putShort(MARK)
                .putLong(offset)
                .putLong(line)
                .putLong(head.start())
                .putInt(head.byteCount())
                .putInt(head.crc32c())
                .putLong(witness.start())
                .putInt(witness.byteCount())
                .putInt(witness.crc32c())
                .putShort((short) id.length)
                .put(id)
                .put(name)
                .array());
    }

    /** What {@link #encode} made a position of, or null if it was something else. */
    static @Nullable TailPosition of(SourcePosition position) {
        ByteBuffer bytes = ByteBuffer.wrap(position.toByteArray());
        if (bytes.remaining() < FIXED_BYTES || bytes.getShort() != MARK) {
            return null;
        }
        long offset = bytes.getLong();
        long line = bytes.getLong();
        Window head = window(bytes);
        Window witness = window(bytes);
        int idBytes = bytes.getShort();
        if (idBytes < 0 || idBytes > bytes.remaining()) {
            return null;
        }
        String identity = text(bytes, idBytes);
        return new TailPosition(
                offset, line, head, witness, identity, text(bytes, bytes.remaining()));
    }

    private static Window window(ByteBuffer bytes) {
        long start = bytes.getLong();
        int byteCount = bytes.getInt();
        return new Window(start, Math.clamp(byteCount, 0, Window.BYTES_MAX), bytes.getInt());
    }

    private static String text(ByteBuffer bytes, int byteCount) {
        byte[] text = new byte[byteCount];
        bytes.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    /** Whether {@code content} is the one that the position is in. */
    boolean isIn(Content content) {
        return content.byteCount() >= witness.end() && head.isOf(content) && witness.isOf(content);
    }
}
