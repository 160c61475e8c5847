package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * Decimals as bytes whose unsigned order is the order of the values; equal values have equal bytes,
 * so 1.0 and 1.00 are one key. Prefix-free: no encoding starts another. Immutable static functions.
 *
 * <p>A value is ±0.d₁d₂d₃… × 10<sup>e</sup> with d₁ and the last digit not zero:
 *
 * <pre>
 *  sign      1 byte: 1 negative, 2 zero, 3 positive; a zero ends here
 *  exponent  3 bytes, most significant first: e + 2²³
 *  digits    two a byte: 10·d₁ + d₂ + 1, that is 1 to 100; an odd last digit is followed by a 0
 *  end       1 byte: 0
 * </pre>
 *
 * For a negative value all bytes after the sign are complemented: the larger its magnitude the
 * earlier it sorts.
 *
 * <p>A record stores four bytes more, the scale (i32, little-endian): the value comes back as it
 * went in, and its key is the field's bytes without the last four.
 */
public final class DecimalBytes {
    /** Most significant digits of a value: about half of a key. */
    public static final int DIGIT_COUNT_MAX = 1_000;

    /**
     * Largest magnitude of the exponent e: {@code 1E+10000} is taken, {@code 1E+1000000000}, ten
     * characters that are a gigabyte when written out, is not.
     */
    public static final int EXPONENT_MAX = 100_000;

    /** What a record stores behind the ordered bytes. */
    public static final int SCALE_BYTES = 4;

    private static final int NEGATIVE = 1;
    private static final int ZERO = 2;
    private static final int POSITIVE = 3;
    private static final int EXPONENT_BYTES = 3;
    private static final int EXPONENT_BIAS = 1 << 23;
    private static final int DIGITS_OFFSET = 1 + EXPONENT_BYTES;

    private DecimalBytes() {}

    /** Appends the ordered bytes. */
    public static void append(ByteSink sink, BigDecimal value) {
        checkBounds(value);
        if (value.signum() == 0) {
            sink.putByte(ZERO);
            return;
        }
        BigDecimal shortest = value.stripTrailingZeros();
        String digits = shortest.unscaledValue().abs().toString();
        int exponent = digits.length() - shortest.scale() + EXPONENT_BIAS;
        int flip = value.signum() < 0 ? 0xFF : 0;
        sink.putByte(flip == 0 ? POSITIVE : NEGATIVE);
        for (int shift = 8 * (EXPONENT_BYTES - 1); shift >= 0; shift -= 8) {
            sink.putByte(((exponent >>> shift) & 0xFF) ^ flip);
        }
        for (int i = 0; i < digits.length(); i += 2) {
            int high = digits.charAt(i) - '0';
            int low = i + 1 < digits.length() ? digits.charAt(i + 1) - '0' : 0;
            sink.putByte((10 * high + low + 1) ^ flip);
        }
        sink.putByte(flip);
    }

    /** Appends the ordered bytes and the scale. */
    static void appendWithScale(ByteSink sink, BigDecimal value) {
        append(sink, value);
        sink.putInt(value.scale());
    }

    /**
     * Refuses what {@link #DIGIT_COUNT_MAX} and {@link #EXPONENT_MAX} rule out.
     *
     * @throws InvalidRequestException saying which limit it is over
     */
    public static void checkBounds(BigDecimal value) {
        if (value.precision() > DIGIT_COUNT_MAX) {
            throw new InvalidRequestException("a decimal of %d digits is over the limit of %d"
                    .formatted(value.precision(), DIGIT_COUNT_MAX));
        }
        long exponent = value.precision() - (long) value.scale();
        if (Math.abs(exponent) > EXPONENT_MAX) {
            throw new InvalidRequestException(
                    "a decimal with an exponent of %d is over the limit of %d"
                            .formatted(exponent, EXPONENT_MAX));
        }
    }

    /**
     * Bytes of the encoding at {@code offset}, of {@code available}; -1 if there is none. Finds the
     * end without checking all that {@link #decode} checks.
     */
    public static int length(MemorySegment segment, long offset, int available) {
        if (available < 1) {
            return -1;
        }
        int sign = segment.get(Bytes.U8, offset);
        if (sign == ZERO) {
            return 1;
        }
        if (sign != NEGATIVE && sign != POSITIVE) {
            return -1;
        }
        byte end = (byte) (sign == NEGATIVE ? 0xFF : 0);
        int bytesMax = Math.min(available, DIGITS_OFFSET + DIGIT_COUNT_MAX / 2 + 1);
        for (int i = DIGITS_OFFSET; i < bytesMax; i++) {
            if (segment.get(Bytes.U8, offset + i) == end) {
                return i + 1;
            }
        }
        return -1;
    }

    /**
     * The value of the {@code length} bytes at {@code offset}, without trailing zeros.
     *
     * @throws IllegalArgumentException saying what is wrong, if they are not an encoding
     */
    public static BigDecimal decode(MemorySegment segment, long offset, int length) {
        if (length(segment, offset, length) != length) {
            throw new IllegalArgumentException("a decimal without end");
        }
        int sign = segment.get(Bytes.U8, offset);
        if (sign == ZERO) {
            return BigDecimal.ZERO;
        }
        int flip = sign == NEGATIVE ? 0xFF : 0;
        int exponent = 0;
        for (int i = 1; i < DIGITS_OFFSET; i++) {
            exponent = (exponent << 8) | ((segment.get(Bytes.U8, offset + i) & 0xFF) ^ flip);
        }
        exponent -= EXPONENT_BIAS;
        StringBuilder digits = new StringBuilder(2 * length);
        for (int i = DIGITS_OFFSET; i < length - 1; i++) {
            int pair = ((segment.get(Bytes.U8, offset + i) & 0xFF) ^ flip) - 1;
            if (pair > 99) {
                throw new IllegalArgumentException("a decimal with a digit pair of " + pair);
            }
            digits.append((char) ('0' + pair / 10)).append((char) ('0' + pair % 10));
        }
        int count = digits.length();
        boolean shortest = count > 0
                && digits.charAt(0) != '0'
                && (digits.charAt(count - 1) != '0' || digits.charAt(count - 2) != '0');
        if (!shortest || Math.abs(exponent) > EXPONENT_MAX) {
            throw new IllegalArgumentException("a decimal that is not in its shortest form");
        }
        BigInteger magnitude = new BigInteger(digits.toString());
        BigDecimal value =
                new BigDecimal(flip == 0 ? magnitude : magnitude.negate(), count - exponent);
        return value.stripTrailingZeros();
    }

    /**
     * The value of a record's field, with its scale.
     *
     * @throws IllegalArgumentException saying what is wrong, if the bytes are not an encoding
     */
    static BigDecimal decodeWithScale(MemorySegment segment, long offset, int length) {
        if (length < SCALE_BYTES + 1) {
            throw new IllegalArgumentException("a decimal of " + length + " bytes");
        }
        BigDecimal value = decode(segment, offset, length - SCALE_BYTES);
        int scale = segment.get(Bytes.I32, offset + length - SCALE_BYTES);
        // a zero has one digit at any scale; others have as many more as the scale is larger
        boolean zero = value.signum() == 0;
        long added = (long) scale - value.scale();
        long digitCount = zero ? 1 : value.precision() + added;
        boolean sound = (zero || added >= 0)
                && digitCount <= DIGIT_COUNT_MAX
                && Math.abs(digitCount - scale) <= EXPONENT_MAX;
        if (!sound) {
            throw new IllegalArgumentException("a decimal with a scale of " + scale);
        }
        return value.setScale(scale);
    }
}
