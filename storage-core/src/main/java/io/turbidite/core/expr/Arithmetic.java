package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.DecimalBytes;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.MathContext;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;

/**
 * What the signs of arithmetic mean. Static functions without state.
 *
 * <p>Whole numbers give whole numbers of 64 bits, but a quotient, which is a double; a float or
 * double makes the result a double, else a decimal makes it a decimal. A number that does not fit
 * and a division by zero are errors that name both values: nothing wraps round, and nothing becomes
 * infinite. Moments have durations between them, dates have days. Null with anything is null.
 */
public enum Arithmetic {
    /** A sum. */
    PLUS("+"),
    /** A difference. */
    MINUS("-"),
    /** A product. */
    TIMES("*"),
    /** A quotient. */
    DIVIDED("/"),
    /** What a division of whole numbers leaves. */
    REMAINDER("%");

    /** Longer text is none of the numbers that a field could hold. */
    private static final int NUMBER_CHARS_MAX = 1_100;

    private final String symbol;

    Arithmetic(String symbol) {
        this.symbol = symbol;
    }

    /** As a text writes it. */
    public String symbol() {
        return symbol;
    }

    /** Whether products bind more closely. */
    boolean isSum() {
        return this == PLUS || this == MINUS;
    }

    /**
     * The type of the result; null if there is none: such values don't go together.
     *
     * @param left INT64 for all whole numbers, DOUBLE for floats too
     */
    public @Nullable TypeKind resultKind(TypeKind left, TypeKind right) {
        if (isNumber(left) && isNumber(right)) {
            if (left == TypeKind.DOUBLE || right == TypeKind.DOUBLE) {
                return TypeKind.DOUBLE;
            }
            if (left == TypeKind.DECIMAL || right == TypeKind.DECIMAL) {
                return TypeKind.DECIMAL;
            }
            return this == DIVIDED ? TypeKind.DOUBLE : TypeKind.INT64;
        }
        boolean isSum = isSum();
        return switch (left) {
            case DATETIME ->
                this == MINUS && right == TypeKind.DATETIME
                        ? TypeKind.DURATION
                        : isSum && right == TypeKind.DURATION ? TypeKind.DATETIME : null;
            case DATE ->
                this == MINUS && right == TypeKind.DATE
                        ? TypeKind.INT64
                        : isSum && right == TypeKind.INT64 ? TypeKind.DATE : null;
            case DURATION ->
                isSum && right == TypeKind.DURATION
                        ? TypeKind.DURATION
                        : this == PLUS && right == TypeKind.DATETIME
                                ? TypeKind.DATETIME
                                : this == TIMES && right == TypeKind.INT64
                                        ? TypeKind.DURATION
                                        : null;
            case INT64 ->
                this == TIMES && right == TypeKind.DURATION
                        ? TypeKind.DURATION
                        : this == PLUS && right == TypeKind.DATE ? TypeKind.DATE : null;
            default -> null;
        };
    }

    private static boolean isNumber(TypeKind kind) {
        return kind == TypeKind.INT64 || kind == TypeKind.DOUBLE || kind == TypeKind.DECIMAL;
    }

    /**
     * The result for whole numbers, dates in days, moments and durations in microseconds; not for
     * quotients.
     *
     * @throws InvalidRequestException if it does not fit 64 bits, or divides by zero
     */
    public long ofLongs(long a, long b) {
        try {
            return switch (this) {
                case PLUS -> Math.addExact(a, b);
                case MINUS -> Math.subtractExact(a, b);
                case TIMES -> Math.multiplyExact(a, b);
                case DIVIDED -> throw new IllegalStateException("a quotient is a double");
                case REMAINDER -> {
                    if (b == 0) {
                        throw byZero(a);
                    }
                    yield a % b;
                }
            };
        } catch (ArithmeticException e) {
            throw new InvalidRequestException(
                    "%d %s %d is out of range for type int64".formatted(a, symbol, b), e);
        }
    }

    /**
     * The result for doubles.
     *
     * @throws InvalidRequestException if finite numbers give none that is finite
     */
    public double ofDoubles(double a, double b) {
        double result = switch (this) {
            case PLUS -> a + b;
            case MINUS -> a - b;
            case TIMES -> a * b;
            case DIVIDED -> a / b;
            case REMAINDER -> a % b;
        };
        if (!Double.isFinite(result) && Double.isFinite(a) && Double.isFinite(b)) {
            if (b == 0 && (this == DIVIDED || this == REMAINDER)) {
                throw byZero(a);
            }
            throw new InvalidRequestException(
                    "%s %s %s is out of range for type double".formatted(a, symbol, b));
        }
        return result;
    }

    private InvalidRequestException byZero(Object a) {
        return new InvalidRequestException("%s %s 0: division by zero".formatted(a, symbol));
    }

    private BigDecimal ofDecimals(BigDecimal a, BigDecimal b) {
        if (b.signum() == 0 && (this == DIVIDED || this == REMAINDER)) {
            throw byZero(a);
        }
        BigDecimal result = switch (this) {
            case PLUS -> a.add(b);
            case MINUS -> a.subtract(b);
            case TIMES -> a.multiply(b);
            case DIVIDED -> a.divide(b, MathContext.DECIMAL128);
            case REMAINDER -> a.remainder(b);
        };
        DecimalBytes.checkBounds(result);
        return result;
    }

    /** The result for any values; text that is a number is taken for one. */
    @Nullable
    Object apply(@Nullable Object left, @Nullable Object right) {
        if (left == null || right == null) {
            return null;
        }
        Object a = plain(left);
        Object b = plain(right);
        try {
            if (a instanceof Number x && b instanceof Number y) {
                return ofNumbers(x, y);
            }
            Object result = ofTimes(a, b);
            if (result != null) {
                return result;
            }
        } catch (ArithmeticException | DateTimeException e) {
            throw new InvalidRequestException(
                    "%s %s %s is out of range".formatted(a, symbol, b), e);
        }
        throw new InvalidRequestException(
                "'%s' does not go between %s and %s".formatted(symbol, shown(a), shown(b)));
    }

    private Object ofNumbers(Number a, Number b) {
        boolean isReal = isReal(a) || isReal(b);
        if (isReal || (this == DIVIDED && a instanceof Long && b instanceof Long)) {
            return ofDoubles(a.doubleValue(), b.doubleValue());
        }
        return a instanceof Long x && b instanceof Long y
                ? (Object) ofLongs(x, y)
                : ofDecimals(Values.decimal(a), Values.decimal(b));
    }

    private static boolean isReal(Number number) {
        return number instanceof Double || number instanceof Float;
    }

    private @Nullable Object ofTimes(Object a, Object b) {
        return switch (a) {
            case Instant at
            when b instanceof Instant from && this == MINUS -> Duration.between(from, at);
            case Instant at when b instanceof Duration d && this == PLUS -> at.plus(d);
            case Instant at when b instanceof Duration d && this == MINUS -> at.minus(d);
            case Duration d when b instanceof Instant at && this == PLUS -> at.plus(d);
            case Duration d when b instanceof Duration e && this == PLUS -> d.plus(e);
            case Duration d when b instanceof Duration e && this == MINUS -> d.minus(e);
            case Duration d when b instanceof Long times && this == TIMES -> d.multipliedBy(times);
            case Long times when b instanceof Duration d && this == TIMES -> d.multipliedBy(times);
            case LocalDate day
            when b instanceof LocalDate from && this == MINUS -> ChronoUnit.DAYS.between(from, day);
            case LocalDate day when b instanceof Long days && this == PLUS -> day.plusDays(days);
            case LocalDate day when b instanceof Long days && this == MINUS -> day.minusDays(days);
            case Long days when b instanceof LocalDate day && this == PLUS -> day.plusDays(days);
            default -> null;
        };
    }

    /** Whole numbers as 64 bits, and numbers of texts as what they look like. */
    static Object plain(Object value) {
        return switch (value) {
            case Byte _, Short _, Integer _ -> ((Number) value).longValue();
            case Values.Numeral(String text) -> ofText(text);
            case String text -> ofText(text.strip());
            default -> value;
        };
    }

    /**
     * A number that no decimal field could hold is refused: {@code 1e300000000 + 1} would be a
     * number of 300 million digits.
     */
    private static Object ofText(String text) {
        if (text.length() > NUMBER_CHARS_MAX) {
            return text;
        }
        try {
            BigDecimal number = new BigDecimal(text);
            DecimalBytes.checkBounds(number);
            return number.scale() == 0 && number.unscaledValue().bitLength() < Long.SIZE
                    ? (Object) number.longValue()
                    : number;
        } catch (NumberFormatException e) {
            return text;
        }
    }

    private static String shown(Object value) {
        String text = String.valueOf(value);
        return "'%s'".formatted(text.length() > 40 ? text.substring(0, 40) + "…" : text);
    }
}
