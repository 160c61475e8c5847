package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.TypeKind;

import java.time.Duration;
import java.time.format.DateTimeParseException;

/**
 * Reads dates and times, written as ISO 8601 text, as the numbers that stand for them. <em>Confined
 * to one thread</em>, reusable; a duration makes garbage, nothing else does.
 *
 * <pre>
 *  date      2013-07-04            years of more than four digits, and negative ones, carry a sign
 *  time      10:15, 10:15:30, 10:15:30.25
 *  datetime  2013-07-04T10:15:30Z  also with an offset as +02:00, +0200 or +02; without one it is UTC
 *  duration  PT1H30M
 * </pre>
 *
 * Fractions are cut to microseconds. There is no second 60 and no hour 24.
 *
 * <p>A cursor goes once over the text and remembers whether anything was wrong, instead of leaving
 * at each of twenty places where something may be.
 */
final class IsoReader {
    private static final long MICROS_PER_MINUTE = 60_000_000L;
    private static final int YEAR_DIGITS_MAX = 7;
    private static final int OFFSET_HOURS_MAX = 18;

    private CharSequence text = "";
    private int at;
    private boolean sound;

    /**
     * The number that stands for the date, time, datetime or duration that {@code newText} is.
     *
     * @throws InvalidRequestException if it is none, or one out of range
     */
    long read(TypeKind kind, CharSequence newText) {
        text = newText;
        at = 0;
        sound = true;
        long number = switch (kind) {
            case DATE -> date();
            case TIME -> time();
            case DATETIME -> datetime();
            case DURATION -> duration();
            default -> throw new IllegalArgumentException(kind.label());
        };
        if (!sound || at < text.length()) {
            throw ValueParser.unreadable(kind, text);
        }
        return KindValues.checkRange(kind, number);
    }

    private long duration() {
        try {
            at = text.length();
            return KindValues.toLong(TypeKind.DURATION, Duration.parse(text));
        } catch (DateTimeParseException e) {
            throw ValueParser.unreadable(TypeKind.DURATION, text, e);
        }
    }

    private long datetime() {
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
                            Math.multiplyExact(days + 1, IsoText.MICROS_PER_DAY),
                            micros - IsoText.MICROS_PER_DAY)
                    : Math.addExact(Math.multiplyExact(days, IsoText.MICROS_PER_DAY), micros);
        } catch (ArithmeticException e) {
            throw new InvalidRequestException(
                    "%s is out of range for type datetime".formatted(Text.quoted(text)), e);
        }
    }

    private long date() {
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
        return era * IsoText.DAYS_PER_ERA + dayOfEra - IsoText.EPOCH_DAYS;
    }

    private long time() {
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
        return (hours * 3_600L + minutes * 60L + seconds) * IsoText.MICROS_PER_SECOND + micros;
    }

    private long fractionMicros() {
        sound &= isDigit(peek());
        long micros = 0;
        for (long unit = IsoText.MICROS_PER_SECOND / 10; isDigit(peek()); unit /= 10) {
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
