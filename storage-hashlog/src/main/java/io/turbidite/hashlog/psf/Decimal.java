package io.turbidite.hashlog.psf;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * An exact decimal number, {@code ±digits · 10^exponent} without zeros at either end, so that every
 * way of writing a number gives the same one. Reused; <em>confined to one thread.</em> No rounding
 * and, once its buffer has grown to the longest literal so far, no garbage: a number as a double
 * would make neighbours of large ids equal.
 */
final class Decimal {
    /** A number with an exponent beyond is not {@linkplain #isExact exact}. */
    private static final long EXPONENT_MAX = 100_000_000_000_000_000L;

    /**
     * Written exponents beyond are cut to it; no literal has the digits to come back from there.
     */
    private static final long EXPONENT_READ_MAX = 2 * EXPONENT_MAX;

    /** Never the first byte of UTF-8: tells numbers and booleans from text. */
    static final int TAG = 0xFF;

    /** Tag, sign, 'e' and an exponent of at most 20 characters. */
    private static final int CANONICAL_EXTRA_BYTES = 23;

    private byte[] digits = new byte[32];
    private int digitCount;
    private boolean negative;
    private long exponent;

    private byte[] canonical = new byte[64];
    private int canonicalByteCount;

    static Decimal of(BigDecimal number) {
        byte[] text = number.toString().getBytes(StandardCharsets.US_ASCII);
        return new Decimal().read(text, 0, text.length);
    }

    /** Takes the number whose literal, of JSON's grammar, lies there. */
    Decimal read(byte[] literal, int offset, int length) {
        if (digits.length < length) {
            digits = new byte[Math.max(length, 2 * digits.length)];
        }
        digitCount = 0;
        exponent = 0;
        negative = false;
        boolean fraction = false;
        for (int i = 0; i < length; i++) {
            int c = literal[offset + i];
            switch (c) {
                case '-' -> negative = true;
                case '.' -> fraction = true;
                case 'e', 'E' -> {
                    exponent += exponentAt(literal, offset + i + 1, length - i - 1);
                    i = length;
                }
                default -> {
                    if (c != '0' || digitCount > 0) {
                        digits[digitCount++] = (byte) c;
                    }
                    exponent -= fraction ? 1 : 0;
                }
            }
        }
        while (digitCount > 0 && digits[digitCount - 1] == '0') {
            digitCount--;
            exponent++;
        }
        if (digitCount == 0) {
            negative = false;
            exponent = 0;
        }
        return this;
    }

    private static long exponentAt(byte[] literal, int offset, int length) {
        boolean minus = false;
        long value = 0;
        for (int i = 0; i < length; i++) {
            int c = literal[offset + i];
            if (c == '-') {
                minus = true;
            } else if (c != '+') {
                value = Math.min(EXPONENT_READ_MAX, value * 10 + (c - '0'));
            }
        }
        return minus ? -value : value;
    }

    Decimal set(long value) {
        digitCount = 0;
        exponent = 0;
        negative = value < 0;
        long rest = value;
        while (rest != 0) {
            // of either sign, so that the smallest long needs no case of its own
            digits[digitCount++] = (byte) ('0' + Math.abs(rest % 10));
            rest /= 10;
        }
        for (int i = 0, j = digitCount - 1; i < j; i++, j--) {
            byte swapped = digits[i];
            digits[i] = digits[j];
            digits[j] = swapped;
        }
        while (digitCount > 0 && digits[digitCount - 1] == '0') {
            digitCount--;
            exponent++;
        }
        return this;
    }

    /**
     * Whether all of its exponent is kept for sure. If not, it still compares rightly with every
     * number that is, as all in definitions and questions are, and with no other.
     */
    boolean isExact() {
        return Math.abs(exponent) <= EXPONENT_MAX;
    }

    /** Whether it is an integer of 64 bits. */
    boolean isLong() {
        if (digitCount == 0) {
            return true;
        }
        if (exponent < 0 || digitCount + exponent > 19) {
            return false;
        }
        long value = magnitude(exponent);
        return digitCount + exponent < 19 || value >= 0 || (negative && value == Long.MIN_VALUE);
    }

    /** The integer, if it {@link #isLong()}. */
    long longValue() {
        long value = magnitude(exponent);
        return negative ? -value : value;
    }

    /**
     * The largest integer that is not above it; false if 64 bits can't hold it. See
     * {@link #floor()}.
     */
    boolean hasLongFloor() {
        return exponent >= 0 ? isLong() : digitCount + exponent <= 18;
    }

    /** The largest integer that is not above it, if it {@link #hasLongFloor()}. */
    long floor() {
        if (exponent >= 0) {
            return longValue();
        }
        long whole = 0;
        for (int i = 0; i < digitCount + exponent; i++) {
            whole = whole * 10 + (digits[i] - '0');
        }
        // it has a fraction: its last digit is not zero
        return negative ? -whole - 1 : whole;
    }

    private long magnitude(long zeros) {
        long value = 0;
        for (int i = 0; i < digitCount; i++) {
            value = value * 10 + (digits[i] - '0');
        }
        for (long i = 0; i < zeros; i++) {
            value *= 10;
        }
        return value;
    }

    /** As numbers compare. */
    int compareTo(Decimal other) {
        if (digitCount == 0 || other.digitCount == 0 || negative != other.negative) {
            return Integer.compare(signum(), other.signum());
        }
        // the power of ten of the first digit, then the digits
        int order = Long.compare(digitCount + exponent, other.digitCount + other.exponent);
        if (order == 0) {
            order = Arrays.compare(digits, 0, digitCount, other.digits, 0, other.digitCount);
        }
        return negative ? -order : order;
    }

    private int signum() {
        return digitCount == 0 ? 0 : negative ? -1 : 1;
    }

    /**
     * The canonical bytes of an exact number that is no integer of 64 bits, from index 0 on; valid
     * until the next change.
     */
    byte[] canonicalBytes() {
        if (canonical.length < digitCount + CANONICAL_EXTRA_BYTES) {
            canonical = new byte[2 * (digitCount + CANONICAL_EXTRA_BYTES)];
        }
        int at = 0;
        canonical[at++] = (byte) TAG;
        if (negative) {
            canonical[at++] = '-';
        }
        System.arraycopy(digits, 0, canonical, at, digitCount);
        at += digitCount;
        canonical[at++] = 'e';
        if (exponent < 0) {
            canonical[at++] = '-';
        }
        long rest = Math.abs(exponent);
        int exponentDigits = 1;
        for (long power = rest / 10; power > 0; power /= 10) {
            exponentDigits++;
        }
        for (int i = at + exponentDigits - 1; i >= at; i--) {
            canonical[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        canonicalByteCount = at + exponentDigits;
        return canonical;
    }

    /** How many bytes {@link #canonicalBytes()} gave. */
    int canonicalByteCount() {
        return canonicalByteCount;
    }
}
