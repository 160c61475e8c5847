package io.turbidite.feeds.source;

import io.turbidite.core.InvalidRequestException;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * How far a partition of a source has been read: bytes that the source alone understands. Of two
 * positions of a partition the later one is the greater, byte by byte, unsigned.
 * <em>Immutable.</em>
 */
public final class SourcePosition implements Comparable<SourcePosition> {
    /** The longest position. */
    public static final int BYTES_MAX = 1 << 10;

    private final byte[] bytes;

    private SourcePosition(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * A position of these bytes, which are copied.
     *
     * @throws InvalidRequestException if there are more than {@value #BYTES_MAX}
     */
    public static SourcePosition of(byte[] bytes) {
        if (bytes.length > BYTES_MAX) {
            throw new InvalidRequestException(
                    "a position of %d bytes is longer than the limit of %d"
                            .formatted(bytes.length, BYTES_MAX));
        }
        return new SourcePosition(bytes.clone());
    }

    /** A position that is a number, for sources that count: at least 0. */
    public static SourcePosition of(long number) {
        if (number < 0) {
            throw new InvalidRequestException("%d is no position".formatted(number));
        }
        return new SourcePosition(
                ByteBuffer.allocate(Long.BYTES).putLong(number).array());
    }

    /** A copy of the bytes. */
    public byte[] toByteArray() {
        return bytes.clone();
    }

    /**
     * The number that {@link #of(long)} made a position of.
     *
     * @throws InvalidRequestException if it was something else
     */
    public long number() {
        if (bytes.length != Long.BYTES) {
            throw new InvalidRequestException("position %s is no number".formatted(this));
        }
        return ByteBuffer.wrap(bytes).getLong();
    }

    /** Whether it may be one that {@link #of(long)} made. */
    public boolean isNumber() {
        return bytes.length == Long.BYTES;
    }

    @Override
    public int compareTo(SourcePosition other) {
        return Arrays.compareUnsigned(bytes, other.bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SourcePosition position && Arrays.equals(bytes, position.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** In hexadecimal. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
