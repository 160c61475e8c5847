package io.turbidite.hashlog.psf;

import io.turbidite.hashlog.parse.FieldValues;
import io.turbidite.hashlog.parse.ValueKind;

/**
 * The canonical form of values (docs/hashlog.md): equal values are one property, however they are
 * spelt, and different values never are. <em>Confined to one thread.</em>
 *
 * <ul>
 * <li>A number that is an integer of 64 bits is {@link PropertyMode#INLINE}, however it is written:
 *     {@code 5}, {@code 5.0}, {@code 50e-1}. Nothing else is.
 * <li>Text is its bytes of UTF-8: {@link PropertyMode#PAYLOAD} if they stand in the record as they
 *     are, else {@link PropertyMode#REGION}.
 * <li>Any other number is 0xFF, the digits without zeros at either end, {@code e}, the exponent:
 *     exact, and no text starts with 0xFF. One whose exponent is beyond what is kept is no value at
 *     all, so that no two such numbers are one. A boolean is 0xFF and {@code t} or {@code f}. Both
 *     are REGION.
 * </ul>
 */
final class CanonicalValues {
    private static final byte[] TRUE = {(byte) Decimal.TAG, 't'};
    private static final byte[] FALSE = {(byte) Decimal.TAG, 'f'};

    private final Decimal decimal = new Decimal();

    /**
     * Adds the value of {@code field} as that of PSF {@code psfId}, if it is a string, number or
     * boolean.
     */
    void add(int psfId, FieldValues values, int field, Properties into) {
        switch (values.kind(field)) {
            case INTEGER -> into.addInline(psfId, values.integer(field));
            case DECIMAL -> {
                readDecimal(values, field);
                if (decimal.isLong()) {
                    into.addInline(psfId, decimal.longValue());
                } else if (decimal.isExact()) {
                    byte[] canonical = decimal.canonicalBytes();
                    into.addRegion(psfId, canonical, 0, decimal.canonicalByteCount());
                }
            }
            case TRUE -> into.addRegion(psfId, TRUE, 0, TRUE.length);
            case FALSE -> into.addRegion(psfId, FALSE, 0, FALSE.length);
            case TEXT, DECODED_TEXT -> addText(psfId, values, field, values.byteCount(field), into);
            case MISSING, NULL, OBJECT, ARRAY -> {}
        }
    }

    /** The canonical bytes of a boolean. */
    static byte[] ofBoolean(boolean value) {
        return value ? TRUE.clone() : FALSE.clone();
    }

    /** Adds the first {@code byteCount} bytes of the text of {@code field}. */
    void addText(int psfId, FieldValues values, int field, int byteCount, Properties into) {
        byte[] bytes = values.bytes(field);
        int offset = values.offset(field);
        if (values.kind(field) == ValueKind.TEXT) {
            into.addPayload(psfId, bytes, offset, byteCount);
        } else {
            into.addRegion(psfId, bytes, offset, byteCount);
        }
    }

    /** The number in {@code field}; valid until the next question. */
    Decimal readDecimal(FieldValues values, int field) {
        return values.kind(field) == ValueKind.INTEGER
                ? decimal.set(values.integer(field))
                : decimal.read(values.bytes(field), values.offset(field), values.byteCount(field));
    }

    /** Bytes of the first {@code charCount} code points of well-formed UTF-8. */
    static int prefixBytes(byte[] utf8, int offset, int length, int charCount) {
        int chars = 0;
        for (int i = 0; i < length; i++) {
            boolean starts = (utf8[offset + i] & 0xC0) != 0x80;
            if (starts && chars++ == charCount) {
                return i;
            }
        }
        return length;
    }

    /** Which of the ranges between ascending {@code bounds} holds {@code number}; -1 for none. */
    static int rangeOf(Decimal number, Decimal[] bounds) {
        int low = 0;
        int high = bounds.length;
        // the first bound above the number is in (low, high]
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (bounds[middle].compareTo(number) <= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low == bounds.length ? -1 : low - 1;
    }
}
