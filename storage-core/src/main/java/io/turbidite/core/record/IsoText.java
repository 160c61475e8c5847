package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.type.TypeKind;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;

/**
 * Dates and times as ISO 8601 text, to and from the numbers that records hold. Static functions without
 * state; what reads a datetime makes no garbage but a cursor that does not escape.
 *
 * <pre>
 *  date      2013-07-04            years of more than four digits, and negative ones, carry a sign
 *  time      10:15, 10:15:30, 10:15:30.25
 *  datetime  2013-07-04T10:15:30Z  also with an offset as +02:00, +0200 or +02; without one it is UTC
 *  duration  PT1H30M
 * </pre>
 *
 * Fractions are cut to microseconds. There is no second 60 and no hour 24. The calendar is the proleptic
 * Gregorian one of java.time; days are counted by H. Hinnant's algorithm ("chrono-Compatible Low-Level
 * Date Algorithms"), which needs no object.
 */
final class IsoText {
    private static final long MICROS_PER_SECOND = 1_000_000L;
    private static final long MICROS_PER_MINUTE = 60 * MICROS_PER_SECOND;
    private static final long MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND;
    private static final int DAYS_PER_ERA = 146_097;
    private static final int EPOCH_DAYS = 719_468;
    private static final int YEAR_DIGITS_MAX = 7;
    private static final int OFFSET_HOURS_MAX = 18;

    private IsoText() {}

    /** Whether {@link #parse} reads the kind. */
    static boolean reads(TypeKind kind) {
        return switch (kind) {
            case DATE, TIME, DATETIME, DURATION -> true;
            default -> false;
        };
    }

    /** The number that stands for the date, time, datetime or duration that {@code text} is. */
    static long parse(TypeKind kind, CharSequence text) {
        Reader reader = new Reader(text);
        long number = switch (kind) {
            case DATE -> reader.date();
            case TIME -> reader.time();
            case DATETIME -> reader.datetime();
            case DURATION -> duration(text);
            default -> throw new IllegalArgumentException(kind.label());
        };
        if (kind != TypeKind.DURATION && !reader.isSoundToTheEnd()) {
            throw ValueParser.unreadable(kind, text);
        }
        return KindValues.checkRange(kind, number);
    }

    private static long duration(CharSequence text) {
        try {
            return KindValues.toLong(TypeKind.DURATION, Duration.parse(text));
        } catch (DateTimeParseException e) {
            throw ValueParser.unreadable(TypeKind.DURATION, text, e);
        }
    }

    /** Appends what {@link #parse} reads back. */
    static void append(ByteSink sink, TypeKind kind, long number) {
        switch (kind) {
            case DATE -> appendDate(sink, number);
            case TIME -> appendTime(sink, number);
            case DATETIME -> {
                appendDate(sink, Math.floorDiv(number, MICROS_PER_DAY));
                sink.putByte('T');
                appendTime(sink, Math.floorMod(number, MICROS_PER_DAY));
                sink.putByte('Z');
            }
            case DURATION -> sink.putUtf8(Duration.of(number, ChronoUnit.MICROS).toString());
            default -> throw new IllegalArgumentException(kind.label());
        }
    }

    private static void appendDate(ByteSink sink, long epochDay) {
        long day = epochDay + EPOCH_DAYS;
        long era = Math.floorDiv(day, DAYS_PER_ERA);
        int dayOfEra = Math.floorMod(day, DAYS_PER_ERA);
        int yearOfEra =
                (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
        int dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
        int monthFromMarch = (5 * dayOfYear + 2) / 153;
        int month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
        long year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
        if (year < 0 || year > 9_999) {
            sink.putByte(year < 0 ? '-' : '+');
        }
        long magnitude = Math.abs(year);
        appendDigits(sink, magnitude, magnitude > 9_999 ? digitCount(magnitude) : 4);
        sink.putByte('-');
        appendDigits(sink, month, 2);
        sink.putByte('-');
        appendDigits(sink, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1, 2);
    }

    private static void appendTime(ByteSink sink, long micros) {
        long seconds = micros / MICROS_PER_SECOND;
        appendDigits(sink, seconds / 3_600, 2);
        sink.putByte(':');
        appendDigits(sink, seconds / 60 % 60, 2);
        sink.putByte(':');
        appendDigits(sink, seconds % 60, 2);
        long fraction = micros % MICROS_PER_SECOND;
        if (fraction != 0) {
            sink.putByte('.');
            boolean millis = fraction % 1_000 == 0;
            appendDigits(sink, millis ? fraction / 1_000 : fraction, millis ? 3 : 6);
        }
    }

    private static int digitCount(long number) {
        int count = 1;
        for (long rest = number; rest > 9; rest /= 10) {
            count++;
        }
        return count;
    }

    private static void appendDigits(ByteSink sink, long number, int count) {
        int at = sink.reserve(count);
        MemorySegment target = sink.segment();
        long rest = number;
        for (int i = count - 1; i >= 0; i--) {
            target.set(Bytes.U8, at + i, (byte) ('0' + rest % 10));
            rest /= 10;
        }
    }

    /** Appends a decimal number. */
    static void appendNumber(ByteSink sink, long number) {
        if (number == Long.MIN_VALUE) {
            sink.putUtf8(Long.toString(number));
            return;
        }
        if (number < 0) {
            sink.putByte('-');
        }
        long magnitude = Math.abs(number);
        appendDigits(sink, magnitude, digitCount(magnitude));
    }

    /** A cursor that remembers whether anything was wrong. */
    private static final class Reader {
        private final CharSequence text;
        private int at;
        private boolean sound = true;

        Reader(CharSequence text) {
            this.text = text;
        }

        boolean isSoundToTheEnd() {
            return sound && at == text.length();
        }

        long datetime() {
            long days = date();
            char separator = next();
            sound &= separator == 'T' || separator == 't' || separator == ' ';
            long micros = time();
            if (at < text.length()) {
                micros -= offsetMicros();
            }
            if (!sound) {
                return 0;
            }
            try {
                // one day up and back: the earliest datetime lies in a day that starts too early
                return days < 0
                        ? Math.addExact(
                                Math.multiplyExact(days + 1, MICROS_PER_DAY),
                                micros - MICROS_PER_DAY)
                        : Math.addExact(Math.multiplyExact(days, MICROS_PER_DAY), micros);
            } catch (ArithmeticException e) {
                throw new InvalidRequestException(
                        "%s is out of range for type datetime".formatted(Text.quoted(text)), e);
            }
        }

        long date() {
            char sign = peek();
            boolean signed = sign == '+' || sign == '-';
            if (signed) {
                at++;
            }
            int start = at;
            while (isDigit(peek()) && at - start < (signed ? YEAR_DIGITS_MAX : 4)) {
                at++;
            }
            sound &= at - start >= 4;
            long year = number(start, at);
            if (sign == '-') {
                year = -year;
            }
            expect('-');
            int month = twoDigits();
            expect('-');
            int day = twoDigits();
            sound &= month >= 1 && month <= 12 && day >= 1 && day <= lengthOfMonth(year, month);
            return sound ? epochDay(year, month, day) : 0;
        }

        private static int lengthOfMonth(long year, int month) {
            return switch (month) {
                case 2 -> year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
                case 4, 6, 9, 11 -> 30;
                default -> 31;
            };
        }

        private static long epochDay(long year, int month, int day) {
            long marchYear = month <= 2 ? year - 1 : year;
            long era = Math.floorDiv(marchYear, 400L);
            long yearOfEra = Math.floorMod(marchYear, 400L);
            int monthFromMarch = month > 2 ? month - 3 : month + 9;
            int dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1;
            long dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
            return era * DAYS_PER_ERA + dayOfEra - EPOCH_DAYS;
        }

        long time() {
            int hours = twoDigits();
            expect(':');
            int minutes = twoDigits();
            int seconds = 0;
            long micros = 0;
            if (peek() == ':') {
                at++;
                seconds = twoDigits();
                if (peek() == '.' || peek() == ',') {
                    at++;
                    micros = fractionMicros();
                }
            }
            sound &= hours < 24 && minutes < 60 && seconds < 60;
            return (hours * 3_600L + minutes * 60L + seconds) * MICROS_PER_SECOND + micros;
        }

        private long fractionMicros() {
            sound &= isDigit(peek());
            long micros = 0;
            for (long unit = MICROS_PER_SECOND / 10; isDigit(peek()); unit /= 10) {
                micros += unit * (next() - '0');
            }
            return micros;
        }

        private long offsetMicros() {
            char sign = next();
            if (sign == 'Z' || sign == 'z') {
                return 0;
            }
            sound &= sign == '+' || sign == '-';
            int hours = twoDigits();
            int minutes = 0;
            if (at < text.length()) {
                if (peek() == ':') {
                    at++;
                }
                minutes = twoDigits();
            }
            sound &= minutes < 60 && hours * 60 + minutes <= OFFSET_HOURS_MAX * 60;
            long micros = (hours * 60L + minutes) * MICROS_PER_MINUTE;
            return sign == '-' ? -micros : micros;
        }

        private int twoDigits() {
            int start = at;
            for (int i = 0; i < 2; i++) {
                sound &= isDigit(next());
            }
            return (int) number(start, at);
        }

        private long number(int from, int to) {
            long number = 0;
            for (int i = from; sound && i < to; i++) {
                number = number * 10 + (text.charAt(i) - '0');
            }
            return number;
        }

        private void expect(char wanted) {
            sound &= next() == wanted;
        }

        /** The next character, or NUL behind the end; steps over it. */
        private char next() {
            char c = peek();
            if (at < text.length()) {
                at++;
            }
            return c;
        }

        private char peek() {
            return at < text.length() ? text.charAt(at) : '\0';
        }

        private static boolean isDigit(char c) {
            return c >= '0' && c <= '9';
        }
    }
}
