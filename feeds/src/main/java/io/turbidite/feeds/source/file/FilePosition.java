package io.turbidite.feeds.source.file;

import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.source.file.FileSource.Head;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/**
 * How far a feed has got with a file. <em>Immutable.</em>
 *
 * <pre>
 * offset bytes field
 *      0     2 {@link #MARK}
 *      2     8 offset
 *     10     8 line
 *     18     1 ended: 1 or 0
 *     19     8 fileBytes
 *     27     4 byteCount of the head
 *     31     8 crc32c of the head
 * </pre>
 *
 * Big-endian, so that a later position is the greater one. It has no checksum of its own: it lies
 * in records and files that have.
 *
 * @param offset bytes of the (uncompressed) content that are delivered
 * @param line the line that begins there, from 1
 * @param ended whether that was the end of the content
 * @param fileBytes how large the file was then, as it lies there; of gzip that has not ended, how
 *     much of it was proven: what is behind that may be damaged, and be of another length when it
 *     is mended
 * @param head what it began with, of gzip as far as it was proven: tells it from another file that
 *     takes its name
 */
public record FilePosition(long offset, long line, boolean ended, long fileBytes, Head head) {
    /** "F" and version 1. */
    private static final short MARK = 0x4601;

    private static final int BYTES = Short.BYTES + 3 * Long.BYTES + 1 + Integer.BYTES + Long.BYTES;

    /** As a position of a source. */
    public SourcePosition encode() {
        return SourcePosition.of(ByteBuffer.allocate(BYTES)
                .putShort(MARK)
                .putLong(offset)
                .putLong(line)
                .put((byte) (ended ? 1 : 0))
                .putLong(fileBytes)
                .putInt(head.byteCount())
                .putLong(head.crc32c())
                .array());
    }

    /** What {@link #encode} made a position of, or null if it was something else. */
    public static @Nullable FilePosition of(SourcePosition position) {
        ByteBuffer bytes = ByteBuffer.wrap(position.toByteArray());
        if (bytes.remaining() != BYTES || bytes.getShort() != MARK) {
            return null;
        }
        FilePosition file = new FilePosition(
                bytes.getLong(),
                bytes.getLong(),
                bytes.get() == 1,
                bytes.getLong(),
                new Head(bytes.getInt(), bytes.getLong()));
        return file.encode().equals(position) ? file : null;
    }
}
