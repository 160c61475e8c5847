package io.turbidite.core.bytes;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * A movable window on bytes: segment, offset, length. The unit in which keys, values and records
 * travel; reused by its owner, so that passing bytes costs no allocation.
 *
 * <p><em>Confined to one thread.</em> A slice handed out by a cursor is valid until the cursor
 * moves.
 */
public final class Slice {
    private MemorySegment segment = MemorySegment.NULL;
    private long offset;
    private int length;

    /** A slice of nothing, to be set. */
    public Slice() {}

    /** A slice over a copy of {@code bytes} on the heap; for tests and cold paths. */
    public static Slice of(byte[] bytes) {
        return new Slice().set(MemorySegment.ofArray(bytes.clone()), 0, bytes.length);
    }

    /** Moves the window. */
    public Slice set(MemorySegment newSegment, long newOffset, int newLength) {
        Objects.checkFromIndexSize(newOffset, newLength, newSegment.byteSize());
        moveTo(newSegment);
        offset = newOffset;
        length = newLength;
        return this;
    }

    /** Moves the window to where {@code other} is. */
    public Slice set(Slice other) {
        moveTo(other.segment);
        offset = other.offset;
        length = other.length;
        return this;
    }

    // Identity is meant: a cursor's slices move within one page, and a store of a reference costs a
    // barrier of the garbage collector each time.
    @SuppressWarnings({"MemorySegmentReferenceEquality", "ReferenceEquality"})
    private void moveTo(MemorySegment newSegment) {
        if (segment != newSegment) {
            segment = newSegment;
        }
    }

    /**
     * Makes it a slice of nothing.
     *
     * @return this
     */
    public Slice clear() {
        segment = MemorySegment.NULL;
        offset = 0;
        length = 0;
        return this;
    }

    /** The memory in which its bytes lie. */
    public MemorySegment segment() {
        return segment;
    }

    /** Bytes from the start of {@link #segment()}. */
    public long offset() {
        return offset;
    }

    /** How many bytes it has. */
    public int length() {
        return length;
    }

    /** The byte at {@code index} of the window, as 0..255. */
    public int byteAt(int index) {
        Objects.checkIndex(index, length);
        return segment.get(Bytes.U8, offset + index) & 0xFF;
    }

    /** Unsigned lexicographic comparison. */
    public int compareBytes(Slice other) {
        return Bytes.compare(segment, offset, length, other.segment, other.offset, other.length);
    }

    /** Whether both windows show the same bytes. */
    public boolean contentEquals(Slice other) {
        return length == other.length && compareBytes(other) == 0;
    }

    /** A copy of the bytes on the heap. */
    public byte[] toByteArray() {
        byte[] bytes = new byte[length];
        MemorySegment.copy(segment, Bytes.U8, offset, bytes, 0, length);
        return bytes;
    }

    /** The bytes read as UTF-8. */
    public String toUtf8() {
        return new String(toByteArray(), StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("Slice[").append(length).append(" bytes");
        for (int i = 0; i < Math.min(length, 32); i++) {
            text.append(i == 0 ? ": " : " ").append("%02x".formatted(byteAt(i)));
        }
        return text.append(length > 32 ? " …]" : "]").toString();
    }
}
