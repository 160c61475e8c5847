package io.turbidite.core.bytes;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * A growable buffer off the heap, reused from one operation to the next: {@link #clear()}, put,
 * read back as a slice.
 *
 * <p><em>Confined to one thread at a time.</em> The memory is freed by the garbage collector when
 * the sink is unreachable ({@link NativeMemory#unowned}): growing drops the old segment, so slices
 * taken before a growth stay readable but stale. Grows by doubling up to {@code bytesMax}.
 */
public final class ByteSink {
    /** Up to here copying by words is the quicker way. */
    private static final int SHORT_BYTES = 32;

    private final int initialBytes;
    private final int bytesMax;
    private MemorySegment segment = MemorySegment.NULL;
    private int length;

    /**
     * @param initialBytes first allocation, at least 16, made when the first byte is put: many
     *     sinks are never needed
     * @param bytesMax the most it may hold
     */
    public ByteSink(int initialBytes, int bytesMax) {
        this.bytesMax = bytesMax;
        this.initialBytes = Math.max(16, initialBytes);
    }

    /**
     * Makes it empty; the memory stays.
     *
     * @return this
     */
    public ByteSink clear() {
        length = 0;
        return this;
    }

    /** Bytes put since {@link #clear()}. */
    public int length() {
        return length;
    }

    /** The backing segment; valid until the next put. */
    public MemorySegment segment() {
        return segment;
    }

    /** Moves {@code slice} to all bytes put so far. */
    public Slice asSlice(Slice slice) {
        return slice.set(segment, 0, length);
    }

    /**
     * Appends the low eight bits.
     *
     * @return this
     */
    public ByteSink putByte(int value) {
        int at = reserve(1);
        segment.set(Bytes.U8, at, (byte) value);
        return this;
    }

    /**
     * Appends four bytes, little-endian.
     *
     * @return this
     */
    public ByteSink putInt(int value) {
        int at = reserve(4);
        segment.set(Bytes.I32, at, value);
        return this;
    }

    /**
     * Appends eight bytes, little-endian.
     *
     * @return this
     */
    public ByteSink putLong(long value) {
        int at = reserve(8);
        segment.set(Bytes.I64, at, value);
        return this;
    }

    /** Eight bytes, most significant first. */
    public ByteSink putLongBigEndian(long value) {
        int at = reserve(8);
        segment.set(Bytes.I64_BE, at, value);
        return this;
    }

    /** LEB128: seven bits a byte, least significant first; 1 to 10 bytes. */
    public ByteSink putVarint(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            putByte((int) (rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        return putByte((int) rest);
    }

    /**
     * Appends bytes of a segment, from an offset on.
     *
     * @return this
     */
    public ByteSink putBytes(MemorySegment source, long offset, int byteCount) {
        int at = reserve(byteCount);
        if (byteCount <= SHORT_BYTES) {
            Bytes.copyShort(source, offset, segment, at, byteCount);
        } else {
            MemorySegment.copy(source, offset, segment, at, byteCount);
        }
        return this;
    }

    /**
     * Appends all bytes of a slice.
     *
     * @return this
     */
    public ByteSink putBytes(Slice source) {
        return putBytes(source.segment(), source.offset(), source.length());
    }

    /**
     * Appends all bytes of an array.
     *
     * @return this
     */
    public ByteSink putBytes(byte[] source) {
        int at = reserve(source.length);
        MemorySegment.copy(source, 0, segment, Bytes.U8, at, source.length);
        return this;
    }

    /** The UTF-8 bytes, without length or terminator; cold paths only (it allocates). */
    public ByteSink putUtf8(String text) {
        return putBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Makes room for {@code byteCount} bytes, counts them as put, and returns the offset of the
     * first; their content is whatever was there.
     *
     * @throws InvalidRequestException if that is more than the sink may hold
     */
    public int reserve(int byteCount) {
        int at = length;
        long wanted = (long) at + byteCount;
        if (wanted > segment.byteSize()) {
            grow(wanted);
        }
        length = (int) wanted;
        return at;
    }

    /** Forgets everything past {@code newLength}. */
    public ByteSink truncate(int newLength) {
        if (newLength < 0 || newLength > length) {
            throw new IllegalArgumentException("truncate to " + newLength + " of " + length);
        }
        length = newLength;
        return this;
    }

    private void grow(long wanted) {
        if (wanted > bytesMax) {
            throw new InvalidRequestException(
                    "%d bytes are more than the limit of %d".formatted(wanted, bytesMax));
        }
        long least = length == 0 ? initialBytes : segment.byteSize() * 2;
        long grown = Math.min(bytesMax, Math.max(wanted, Math.max(least, segment.byteSize())));
        MemorySegment larger = NativeMemory.unowned(grown, 8);
        MemorySegment.copy(segment, 0, larger, 0, length);
        segment = larger;
    }
}
