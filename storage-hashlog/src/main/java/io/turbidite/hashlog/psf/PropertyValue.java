package io.turbidite.hashlog.psf;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The value of a property to look for, in {@link CanonicalValues canonical form}. <em>Immutable;
 * thread-safe.</em>
 */
public final class PropertyValue {
    private final boolean inline;
    private final long integer;
    private final MemorySegment bytes;

    private PropertyValue(boolean inline, long integer, MemorySegment bytes) {
        this.inline = inline;
        this.integer = integer;
        this.bytes = bytes;
    }

    /** A whole number. */
    public static PropertyValue of(long value) {
        return new PropertyValue(true, value, MemorySegment.NULL);
    }

    /** A text. */
    public static PropertyValue of(String value) {
        return ofBytes(value.getBytes(StandardCharsets.UTF_8));
    }

    /** A truth value. */
    public static PropertyValue of(boolean value) {
        return ofBytes(CanonicalValues.ofBoolean(value));
    }

    /** A decimal number. */
    public static PropertyValue of(BigDecimal value) {
        return of(Decimal.of(value));
    }

    /**
     * What to look for if a user asks a PSF of this definition for {@code text}; see
     * {@link PsfSet#valueOf}.
     *
     * @throws io.turbidite.core.InvalidRequestException if it can't have such a value
     */
    public static PropertyValue of(PsfDefinition definition, String text) {
        return ValueReader.valueOf(definition, text);
    }

    static PropertyValue of(Decimal value) {
        if (value.isLong()) {
            return of(value.longValue());
        }
        return ofBytes(Arrays.copyOf(value.canonicalBytes(), value.canonicalByteCount()));
    }

    private static PropertyValue ofBytes(byte[] bytes) {
        // native, as records are: one kind of memory in the code that compares
        MemorySegment copy = Arena.ofAuto().allocate(Math.max(1, bytes.length));
        MemorySegment.copy(bytes, 0, copy, Bytes.U8, 0, bytes.length);
        return new PropertyValue(false, 0, copy.asSlice(0, bytes.length).asReadOnly());
    }

    /**
     * Whether it is an integer, of mode {@link PropertyMode#INLINE}; else PAYLOAD or REGION may
     * hold it.
     */
    public boolean isInline() {
        return inline;
    }

    /** The integer, if it {@link #isInline()}. */
    public long inlineValue() {
        assert inline;
        return integer;
    }

    /** The bytes, all of the segment, if it is not inline. */
    public MemorySegment bytes() {
        assert !inline;
        return bytes;
    }

    /** {@link Properties#hash} of this value of PSF {@code psfId}. */
    public long hash(int psfId) {
        return inline
                ? PropertyHash.ofInline(psfId, integer)
                : PropertyHash.ofBytes(psfId, bytes, 0, (int) bytes.byteSize());
    }

    /** Whether an inline property of {@code value} is this. */
    public boolean matches(long value) {
        return inline && integer == value;
    }

    /** Whether a property whose bytes lie there, in record or region, is this. */
    public boolean matches(MemorySegment segment, long offset, int length) {
        return !inline
                && bytes.byteSize() == length
                && Bytes.compare(bytes, 0, length, segment, offset, length) == 0;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PropertyValue that
                && inline == that.inline
                && integer == that.integer
                && (inline || matches(that.bytes, 0, (int) that.bytes.byteSize()));
    }

    @Override
    public int hashCode() {
        return Long.hashCode(hash(0));
    }

    @Override
    public String toString() {
        if (inline) {
            return Long.toString(integer);
        }
        byte[] copy = bytes.toArray(Bytes.U8);
        boolean tagged = copy.length > 1 && (copy[0] & 0xFF) == Decimal.TAG;
        return tagged
                ? new String(copy, 1, copy.length - 1, StandardCharsets.US_ASCII)
                : '"' + new String(copy, StandardCharsets.UTF_8) + '"';
    }
}
