package io.turbidite.core.key;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.TypeKind;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * How keys on disk encode what has changed since the first of them: the two zeros of floating-point
 * numbers. What is made from now on has {@link #CURRENT}; older datasets and indexes keep theirs,
 * so that anti-matter has the key of what it deletes, and readers look for both zeros there.
 */
public enum KeyForm {
    /** -0.0 and 0.0 are two keys, one right before the other. */
    SIGNED_ZEROS(1),
    /** They are one key, that of 0.0. */
    ONE_ZERO(2);

    /** What new datasets and indexes get. */
    public static final KeyForm CURRENT = ONE_ZERO;

    private static final int FLOAT_ZERO = Integer.MIN_VALUE;
    private static final long DOUBLE_ZERO = Long.MIN_VALUE;

    private final int number;

    KeyForm(int number) {
        this.number = number;
    }

    /** What stands in files. */
    public int number() {
        return number;
    }

    /**
     * The form with this number.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static KeyForm ofNumber(int number) {
        for (KeyForm form : values()) {
            if (form.number == number) {
                return form;
            }
        }
        throw new IllegalArgumentException("no key form has the number " + number);
    }

    /** Whether a value of the kind may have several encodings in this form. */
    public boolean isAmbiguous(TypeKind kind) {
        return this == SIGNED_ZEROS && KeyCodec.isFloating(kind);
    }

    /**
     * The first encoding that this form has for a value.
     *
     * @param canonical the value's encoding in the {@linkplain #CURRENT current} form; what is no
     *     whole encoding, such as a bound between two, is given back
     */
    public byte[] lowest(TypeKind kind, byte[] canonical) {
        if (!isAmbiguous(kind)) {
            return canonical;
        }
        return replaced(kind, canonical, false);
    }

    /**
     * The current form's encoding of the value that {@code encoded} is in this form.
     *
     * @return {@code encoded} if it is that already
     */
    public Slice canonical(TypeKind kind, Slice encoded) {
        if (!isAmbiguous(kind) || !hasNegativeZero(kind, encoded)) {
            return encoded;
        }
        return Slice.of(replaced(kind, encoded.toByteArray(), true));
    }

    /**
     * Adds where zeros of either sign stand in an encoding of the kind, as offsets in its key.
     *
     * @param encoded the whole encoding of one value
     * @param at its offset in the key
     */
    static void addZeros(TypeKind kind, Slice encoded, int at, List<Integer> offsets) {
        int width = width(kind);
        for (int i = 0; i + width <= encoded.length(); i += width) {
            long place = encoded.offset() + i;
            if (isZero(width, encoded.segment(), place, false)
                    || isZero(width, encoded.segment(), place, true)) {
                offsets.add(at + i);
            }
        }
    }

    /** Bytes of each number in an encoding of the kind. */
    static int width(TypeKind kind) {
        return kind == TypeKind.FLOAT ? Float.BYTES : Double.BYTES;
    }

    /** Whether some number in an encoding is -0.0. */
    private static boolean hasNegativeZero(TypeKind kind, Slice encoded) {
        int width = width(kind);
        if (encoded.length() % width != 0) {
            return false;
        }
        for (int at = 0; at < encoded.length(); at += width) {
            if (isZero(width, encoded.segment(), encoded.offset() + at, true)) {
                return true;
            }
        }
        return false;
    }

    private static byte[] replaced(TypeKind kind, byte[] encoded, boolean negative) {
        int width = width(kind);
        if (encoded.length % width != 0) {
            return encoded;
        }
        byte[] bytes = encoded.clone();
        MemorySegment segment = MemorySegment.ofArray(bytes);
        for (int at = 0; at < bytes.length; at += width) {
            if (isZero(width, segment, at, negative)) {
                // the two zeros are neighbours, and each has all the other's bits flipped
                for (int i = at; i < at + width; i++) {
                    bytes[i] = (byte) ~bytes[i];
                }
            }
        }
        return bytes;
    }

    private static boolean isZero(int width, MemorySegment segment, long at, boolean negative) {
        if (width == Float.BYTES) {
            int zero = negative ? ~FLOAT_ZERO : FLOAT_ZERO;
            return segment.get(Bytes.I32_BE, at) == zero;
        }
        long zero = negative ? ~DOUBLE_ZERO : DOUBLE_ZERO;
        return segment.get(Bytes.I64_BE, at) == zero;
    }
}
