package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.util.List;

/** The bodies of functions of text, numbers and time. Static, without state. */
final class Functions {
    private Functions() {}

    /** Characters, as people count them who do not count code units: code points. */
    static @Nullable Object length(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.getFirst().evaluate(row);
        if (value == null) {
            return null;
        }
        String text = Values.text(value);
        return (long) text.codePointCount(0, text.length());
    }

    /** From a character, counted from 1, so many characters or all; what is not there is not. */
    static @Nullable Object substring(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object from = arguments.get(1).evaluate(row);
        Object count =
                arguments.size() > 2 ? arguments.get(2).evaluate(row) : (Object) Long.MAX_VALUE;
        if (value == null || from == null || count == null) {
            return null;
        }
        int[] codePoints = Values.text(value).codePoints().toArray();
        long first = whole("substring", from);
        long length = whole("substring", count);
        long begin = Math.clamp(first - 1, 0, codePoints.length);
        long behind = first > Long.MAX_VALUE - Math.max(0, length)
                ? Long.MAX_VALUE
                : first - 1 + Math.max(0, length);
        long end = Math.clamp(behind, begin, codePoints.length);
        return new String(codePoints, (int) begin, (int) (end - begin));
    }

    static @Nullable Object replace(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object old = arguments.get(1).evaluate(row);
        Object by = arguments.get(2).evaluate(row);
        if (value == null || old == null || by == null) {
            return null;
        }
        String wanted = Values.text(old);
        return wanted.isEmpty()
                ? Values.text(value)
                : Values.text(value).replace(wanted, Values.text(by));
    }

    private static long whole(String function, Object value) {
        if (Arithmetic.plain(value) instanceof Long number) {
            return number;
        }
        throw wrong(function, "whole numbers", value);
    }

    static @Nullable Object negative(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.getFirst().evaluate(row);
        if (value == null) {
            return null;
        }
        return switch (Arithmetic.plain(value)) {
            case Long number -> Arithmetic.MINUS.ofLongs(0, number);
            case Double number -> -number;
            case Float number -> (double) -number;
            case BigDecimal number -> number.negate();
            case Duration duration -> duration.negated();
            default -> throw wrong("negative", "numbers and durations", value);
        };
    }

    static @Nullable Object abs(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.getFirst().evaluate(row);
        if (value == null) {
            return null;
        }
        return switch (Arithmetic.plain(value)) {
            case Long number -> number < 0 ? Arithmetic.MINUS.ofLongs(0, number) : number;
            case Double number -> Math.abs(number);
            case Float number -> (double) Math.abs(number);
            case BigDecimal number -> number.abs();
            case Duration duration -> duration.abs();
            default -> throw wrong("abs", "numbers and durations", value);
        };
    }

    /** To a whole number of the same type; half is rounded away from zero. */
    static Function.Body rounding(RoundingMode mode) {
        return (arguments, row) -> {
            Object value = arguments.getFirst().evaluate(row);
            if (value == null) {
                return null;
            }
            return switch (Arithmetic.plain(value)) {
                case Long number -> number;
                case Double number -> rounded(number, mode);
                case Float number -> rounded(number, mode);
                case BigDecimal number -> number.setScale(0, mode);
                default -> throw wrong("rounding", "numbers", value);
            };
        };
    }

    private static double rounded(double number, RoundingMode mode) {
        // all from 2^52 on are whole, and those that are not finite have nothing to round
        return Math.abs(number) < 1L << 52
                ? BigDecimal.valueOf(number).setScale(0, mode).doubleValue()
                : number;
    }

    /** A part of a date, a time, or a moment in UTC. */
    static Function.Body part(ChronoField field) {
        return (arguments, row) -> {
            Object value = arguments.getFirst().evaluate(row);
            if (value == null) {
                return null;
            }
            TemporalAccessor time = switch (value) {
                case Instant at -> at.atOffset(ZoneOffset.UTC);
                case LocalDate day -> day;
                case LocalTime of -> of;
                default -> throw wrong(name(field), "dates, times and moments", value);
            };
            if (!time.isSupported(field)) {
                throw wrong(name(field), "values that have one", value);
            }
            return time.getLong(field);
        };
    }

    private static String name(ChronoField field) {
        return switch (field) {
            case YEAR -> "year";
            case MONTH_OF_YEAR -> "month";
            case DAY_OF_MONTH -> "day";
            case DAY_OF_WEEK -> "weekday";
            case HOUR_OF_DAY -> "hour";
            case MINUTE_OF_HOUR -> "minute";
            default -> "second";
        };
    }

    private static InvalidRequestException wrong(String function, String taken, Object value) {
        String text = String.valueOf(value);
        return new InvalidRequestException("%s takes %s, not '%s'"
                .formatted(
                        function, taken, text.length() > 40 ? text.substring(0, 40) + "…" : text));
    }
}
