package io.turbidite.core.record;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.type.TypeKind;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * Prints the numbers that stand for dates and times as ISO 8601 text. Static functions without
 * state; a duration makes garbage, nothing else does. {@link IsoReader} reads them back.
 *
 * <p>The calendar is the proleptic Gregorian one of java.time; days are counted by H. Hinnant's
 * algorithm ("chrono-Compatible Low-Level Date Algorithms"), which needs no object.
 */
final class IsoText {
    static final long MICROS_PER_SECOND = 1_000_000L;
    static final long MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND;
    static final int DAYS_PER_ERA = 146_097;
    /** From 0000-03-01, where an era of 400 years begins, to 1970-01-01. */
    static final int EPOCH_DAYS = 719_468;

    private IsoText() {}

    /** Appends what {@link IsoReader} reads back. */
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
}
