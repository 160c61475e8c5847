package io.turbidite.feeds.parse;

/**
 * Reads the common forms of numbers straight from characters, without garbage. Each method either is
 * sure or says that it is not; then {@link io.turbidite.core.record.ValueParser} decides, with its error
 * messages. <em>Stateless.</em>
 */
final class TextNumbers {
    /** No common form; also the smallest long, which therefore takes the slow way. */
    static final long UNSURE = Long.MIN_VALUE;

    /** 18 digits can't overflow a long. */
    private static final int WHOLE_DIGITS_MAX = 18;

    /** Up to 15 digits are exact in a double, and so are the powers of ten up to 22. */
    private static final int FRACTION_DIGITS_MAX = 15;

    private static final double[] POWERS_OF_TEN = {
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
    };

    private TextNumbers() {}

    /** A decimal integer with or without a minus sign. */
    static long whole(char[] text, int start, int length) {
        int at = start;
        int end = start + length;
        boolean negative = length > 0 && text[at] == '-';
        if (negative) {
            at++;
        }
        if (at == end || end - at > WHOLE_DIGITS_MAX) {
            return UNSURE;
        }
        long value = 0;
        for (; at < end; at++) {
            int digit = text[at] - '0';
            if (digit < 0 || digit > 9) {
                return UNSURE;
            }
            value = value * 10 + digit;
        }
        return negative ? -value : value;
    }

    /**
     * A decimal fraction of up to 15 digits without an exponent, correctly rounded: digits and power are
     * exact doubles, so the one division rounds once. NaN if unsure.
     */
    static double fraction(char[] text, int start, int length) {
        int at = start;
        int end = start + length;
        boolean negative = length > 0 && text[at] == '-';
        if (negative) {
            at++;
        }
        long digits = 0;
        int digitCount = 0;
        int behindPoint = -1;
        for (; at < end; at++) {
            int digit = text[at] - '0';
            if (digit >= 0 && digit <= 9) {
                digits = digits * 10 + digit;
                digitCount++;
                behindPoint += behindPoint >= 0 ? 1 : 0;
            } else if (text[at] == '.' && behindPoint < 0 && digitCount > 0) {
                behindPoint = 0;
            } else {
                return Double.NaN;
            }
            if (digitCount > FRACTION_DIGITS_MAX) {
                return Double.NaN;
            }
        }
        if (digitCount == 0 || behindPoint == 0) {
            return Double.NaN;
        }
        double value = digits / POWERS_OF_TEN[Math.max(0, behindPoint)];
        return negative ? -value : value;
    }
}
