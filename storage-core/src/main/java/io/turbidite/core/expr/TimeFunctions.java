package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.time.temporal.IsoFields;
import java.time.temporal.TemporalAdjusters;
import java.util.List;
import java.util.Locale;

/**
 * Parts of dates, times, moments in UTC and durations, by the names of PostgreSQL, as whole numbers
 * rounded down. Static, without state.
 */
final class TimeFunctions {
    private static final long SECOND_MICROS = 1_000_000;
    private static final int NANOS_OF_MICRO = 1_000;

    private TimeFunctions() {}

    /** {@code part('dow', time)}. */
    static @Nullable Object part(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object unit = arguments.get(0).evaluate(row);
        Object value = arguments.get(1).evaluate(row);
        if (unit == null || value == null) {
            return null;
        }
        String name = Values.text(unit).toLowerCase(Locale.ROOT);
        Long part = switch (value) {
            case Instant at -> {
                LocalDateTime time = LocalDateTime.ofInstant(at, ZoneOffset.UTC);
                Long ofDay = ofDate(name, time.toLocalDate());
                yield name.equals("epoch")
                        ? (Long) at.getEpochSecond()
                        : ofDay != null ? ofDay : ofTime(name, time.toLocalTime());
            }
            case LocalDate day ->
                name.equals("epoch")
                        ? (Long) Math.multiplyExact(day.toEpochDay(), 86_400L)
                        : ofDate(name, day);
            case LocalTime time ->
                name.equals("epoch") ? (Long) (long) time.toSecondOfDay() : ofTime(name, time);
            case Duration duration -> ofDuration(name, duration);
            default ->
                throw new InvalidRequestException(
                        "part takes dates, times, moments and durations, not '%s'"
                                .formatted(TextFunctions.shown(value.toString())));
        };
        if (part == null) {
            throw new InvalidRequestException("'%s' has no part '%s'"
                    .formatted(TextFunctions.shown(value.toString()), TextFunctions.shown(name)));
        }
        return part;
    }

    private static @Nullable Long ofDate(String unit, LocalDate day) {
        long year = day.getYear();
        return switch (unit) {
            case "year" -> year;
            case "month" -> (long) day.getMonthValue();
            case "day" -> (long) day.getDayOfMonth();
            case "quarter" -> (day.getMonthValue() + 2) / 3L;
            case "week" -> day.getLong(IsoFields.WEEK_OF_WEEK_BASED_YEAR);
            case "isoyear" -> day.getLong(IsoFields.WEEK_BASED_YEAR);
            case "dow" -> day.getDayOfWeek().getValue() % 7L;
            case "isodow" -> (long) day.getDayOfWeek().getValue();
            case "doy" -> (long) day.getDayOfYear();
            case "decade" -> Math.floorDiv(year, 10L);
            case "century" -> counted(year, 100);
            case "millennium" -> counted(year, 1000);
            default -> null;
        };
    }

    /** The first century has the years 1 to 100, the one before it is -1: there is none of 0. */
    private static long counted(long year, int years) {
        return year > 0 ? (year + years - 1) / years : -((years - year) / years);
    }

    private static @Nullable Long ofTime(String unit, LocalTime time) {
        long micros = time.getSecond() * SECOND_MICROS + time.getNano() / NANOS_OF_MICRO;
        return switch (unit) {
            case "hour" -> (long) time.getHour();
            case "minute" -> (long) time.getMinute();
            case "second" -> (long) time.getSecond();
            case "millisecond", "milliseconds" -> micros / 1_000;
            case "microsecond", "microseconds" -> micros;
            default -> null;
        };
    }

    /** Towards zero, so that all parts of a duration have its sign. */
    private static @Nullable Long ofDuration(String unit, Duration duration) {
        boolean isNegative = duration.isNegative();
        Duration size = duration.abs();
        long micros = size.toSecondsPart() * SECOND_MICROS + size.toNanosPart() / NANOS_OF_MICRO;
        Long part = switch (unit) {
            case "day" -> (Long) size.toDaysPart();
            case "hour" -> (Long) (long) size.toHoursPart();
            case "minute" -> (Long) (long) size.toMinutesPart();
            case "second" -> (Long) (long) size.toSecondsPart();
            case "millisecond", "milliseconds" -> (Long) (micros / 1_000);
            case "microsecond", "microseconds" -> (Long) micros;
            case "epoch" -> (Long) size.toSeconds();
            default -> null;
        };
        return part == null || !isNegative ? part : (Long) (-part);
    }

    /** The beginning of the unit of time that a moment or a date lies in. */
    static @Nullable Object truncated(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object unit = arguments.get(0).evaluate(row);
        Object value = arguments.get(1).evaluate(row);
        if (unit == null || value == null) {
            return null;
        }
        LocalDateTime time = switch (value) {
            case Instant at -> LocalDateTime.ofInstant(at, ZoneOffset.UTC);
            case LocalDate day -> day.atStartOfDay();
            default ->
                throw new InvalidRequestException("date_trunc takes moments and dates, not '%s'"
                        .formatted(TextFunctions.shown(value.toString())));
        };
        try {
            return truncated(Values.text(unit).toLowerCase(Locale.ROOT), time)
                    .toInstant(ZoneOffset.UTC);
        } catch (DateTimeException e) {
            throw new InvalidRequestException(
                    "date_trunc of '%s' is out of range".formatted(value), e);
        }
    }

    private static LocalDateTime truncated(String unit, LocalDateTime time) {
        LocalDate day = time.toLocalDate();
        int year = day.getYear();
        return switch (unit) {
            case "microsecond", "microseconds" -> time.truncatedTo(ChronoUnit.MICROS);
            case "millisecond", "milliseconds" -> time.truncatedTo(ChronoUnit.MILLIS);
            case "second" -> time.truncatedTo(ChronoUnit.SECONDS);
            case "minute" -> time.truncatedTo(ChronoUnit.MINUTES);
            case "hour" -> time.truncatedTo(ChronoUnit.HOURS);
            case "day" -> day.atStartOfDay();
            case "week" ->
                day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY)).atStartOfDay();
            case "month" -> day.withDayOfMonth(1).atStartOfDay();
            case "quarter" ->
                LocalDate.of(year, (day.getMonthValue() - 1) / 3 * 3 + 1, 1).atStartOfDay();
            case "year" -> startOf(year);
            case "decade" -> startOf(Math.floorDiv(year, 10) * 10);
            case "century" -> startOf(Math.floorDiv(year - 1, 100) * 100 + 1);
            case "millennium" -> startOf(Math.floorDiv(year - 1, 1000) * 1000 + 1);
            default ->
                throw new InvalidRequestException(
                        "date_trunc knows no unit '%s'".formatted(TextFunctions.shown(unit)));
        };
    }

    private static LocalDateTime startOf(int year) {
        return LocalDate.of(ChronoField.YEAR.checkValidIntValue(year), 1, 1).atStartOfDay();
    }
}
