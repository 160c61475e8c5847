package io.turbidite.core.record;

import io.turbidite.core.type.TypeKind;

/**
 * Sets fields of a {@link RecordWriter} from text, as a column of a CSV file has it. <em>Confined
 * to one thread</em>; belongs to its writer.
 *
 * <p>Takes exactly what {@link ValueParser} takes: the short ways here, which make no garbage, are
 * for the kinds that feeds are full of, and hand what they are not made for to the parser, which
 * has the last word and the message.
 */
final class TextFields {
    /** So many digits can't overflow a long. */
    private static final int LONG_DIGIT_COUNT = 18;

    /** Every integer of so many digits is a double. */
    private static final int DOUBLE_DIGIT_COUNT = 15;

    /** The powers of ten that are doubles, as far as {@link #DOUBLE_DIGIT_COUNT} can need them. */
    private static final double[] POWERS_OF_TEN = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
    };

    private final RecordWriter writer;
    private final IsoReader iso = new IsoReader();

    TextFields(RecordWriter writer) {
        this.writer = writer;
    }

    void set(int field, TypeKind kind, CharSequence text) {
        switch (kind) {
            case STRING -> writer.setString(field, text);
            case INT8, INT16, INT32, INT64 -> {
                if (isNumber(text, LONG_DIGIT_COUNT, false)) {
                    writer.setLong(field, digits(text));
                } else {
                    writer.setLong(field, ValueParser.integer(kind, text.toString()));
                }
            }
            case DOUBLE -> {
                if (isNumber(text, DOUBLE_DIGIT_COUNT, true)) {
                    writer.setDouble(field, fraction(text));
                } else {
                    writer.setDouble(field, ValueParser.real(kind, text.toString()));
                }
            }
            case FLOAT -> writer.setDouble(field, ValueParser.real(kind, text.toString()));
            case DATE, TIME, DATETIME, DURATION -> writer.setLong(field, iso.read(kind, text));
            case ARRAY, RECORD -> writer.setJson(field, text);
            default -> writer.setObject(field, ValueParser.parse(kind, text.toString()));
        }
    }

    /**
     * Whether the text is 1 to {@code digitCountMax} digits, maybe with a minus and a point
     * between.
     */
    private static boolean isNumber(CharSequence text, int digitCountMax, boolean withPoint) {
        int start = isNegative(text) ? 1 : 0;
        int pointAt = -1;
        for (int i = start; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '.' && withPoint && pointAt < 0) {
                pointAt = i;
            } else if (c < '0' || c > '9') {
                return false;
            }
        }
        int digitCount = text.length() - start - (pointAt < 0 ? 0 : 1);
        return digitCount >= 1 && digitCount <= digitCountMax;
    }

    private static boolean isNegative(CharSequence text) {
        return text.length() > 0 && text.charAt(0) == '-';
    }

    /** The number that all digits make together. */
    private static long digits(CharSequence text) {
        boolean negative = isNegative(text);
        long number = 0;
        for (int i = negative ? 1 : 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '.') {
                number = number * 10 + (c - '0');
            }
        }
        return negative ? -number : number;
    }

    /**
     * Digits and power of ten are both exact, so the one division rounds as the parser would (W. D.
     * Clinger: How to Read Floating Point Numbers Accurately, PLDI 1990).
     */
    private static double fraction(CharSequence text) {
        long digits = digits(text);
        int decimalCount = 0;
        for (int i = text.length() - 1; i >= 0; i--) {
            if (text.charAt(i) == '.') {
                decimalCount = text.length() - 1 - i;
                break;
            }
        }
        double magnitude = Math.abs(digits) / POWERS_OF_TEN[decimalCount];
        return isNegative(text) ? -magnitude : magnitude;
    }
}
