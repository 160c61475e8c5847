package io.turbidite.hashlog.chain;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.psf.PropertyHash;
import io.turbidite.hashlog.psf.PropertyValue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * A property to look for: PSF and value (FISH19 definition 2.2). <em>Immutable.</em>
 *
 * <p>Chains hold properties whose hashes share bucket and tag, so whoever walks one asks at every
 * key pointer, by PSF, kind of value and value, whether it is the one.
 */
public final class Property {
    private final int psfId;
    private final boolean isInteger;
    private final long integer;
    private final MemorySegment bytes;
    private final long hash;

    private Property(int psfId, boolean isInteger, long integer, MemorySegment bytes, long hash) {
        this.psfId = psfId;
        this.isInteger = isInteger;
        this.integer = integer;
        this.bytes = bytes;
        this.hash = hash;
    }

    /** The property of an integer value. */
    public static Property ofInteger(int psfId, long value) {
        return new Property(
                psfId, true, value, MemorySegment.NULL, PropertyHash.ofInline(psfId, value));
    }

    /** The property of a value that is bytes; they are copied. */
    public static Property ofBytes(int psfId, byte[] value) {
        MemorySegment copy = MemorySegment.ofArray(value.clone());
        return new Property(
                psfId, false, 0, copy, PropertyHash.ofBytes(psfId, copy, 0, value.length));
    }

    /** The property of PSF {@code psfId} and {@code value}. */
    public static Property of(int psfId, PropertyValue value) {
        return value.isInline()
                ? ofInteger(psfId, value.inlineValue())
                : ofBytes(psfId, value.bytes().toArray(Bytes.U8));
    }

    /** The property of a text value, in UTF-8. */
    public static Property ofText(int psfId, String value) {
        return ofBytes(psfId, value.getBytes(StandardCharsets.UTF_8));
    }

    /** The number of its PSF. */
    public int psfId() {
        return psfId;
    }

    /** The hash of PSF and value. */
    public long hash() {
        return hash;
    }

    /**
     * Whether a key pointer is of this property.
     *
     * @param link its link, of which {@link KeyPointer#isOf} holds
     * @param header the record's header word
     * @param reader is at the record, all of which it holds
     * @param address of the record
     * @throws io.turbidite.core.CorruptionException if no record has such a key pointer
     */
    public boolean matches(long link, long header, LogReader reader, long address) {
        MemorySegment segment = reader.segment();
        long record = reader.offset();
        long value = KeyPointer.loadValue(segment, record, header, link);
        if (KeyPointer.psfId(value) != psfId) {
            return false;
        }
        int mode = KeyPointer.mode(link);
        if (mode == KeyPointer.INLINE) {
            return isInteger && KeyPointer.inlineValue(value) == integer;
        }
        if (isInteger != (mode == KeyPointer.WIDE)) {
            return false;
        }
        long found = KeyPointer.reference(link, value, header, segment, record);
        if (found == KeyPointer.DAMAGED) {
            throw KeyPointer.damaged(reader, address, link);
        }
        long at = record + KeyPointer.offset(found);
        if (isInteger) {
            return segment.get(Bytes.I64, at) == integer;
        }
        long byteCount = bytes.byteSize();
        return KeyPointer.length(found) == byteCount
                && MemorySegment.mismatch(segment, at, at + byteCount, bytes, 0, byteCount) < 0;
    }

    @Override
    public String toString() {
        return isInteger
                ? "psf %d = %d".formatted(psfId, integer)
                : "psf %d = %d bytes".formatted(psfId, bytes.byteSize());
    }
}
