package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;

/** The bodies of functions that round to digits, and choose among values. Static, no state. */
final class NumberFunctions {
    /** Digits before or behind the point, more than any number has. */
    private static final int DIGITS_MAX = 400;

    private NumberFunctions() {}

    /** -1, 0 or 1, of the type of the number. */
    static @Nullable Object sign(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.getFirst().evaluate(row);
        if (value == null) {
            return null;
        }
        return switch (Arithmetic.plain(value)) {
            case Long number -> (long) Long.signum(number);
            case Double number -> Math.signum(number) + 0.0;
            case Float number -> Math.signum((double) number) + 0.0;
            case BigDecimal number -> BigDecimal.valueOf(number.signum());
            default -> throw wrong("sign", value);
        };
    }

    /** Rounded to so many digits behind the point, or before it below 0. */
    static Function.Body rounding(String name, RoundingMode mode) {
        return (arguments, row) -> {
            Object value = arguments.get(0).evaluate(row);
            Object count = arguments.size() > 1 ? arguments.get(1).evaluate(row) : (Object) 0L;
            if (value == null || count == null) {
                return null;
            }
            int digits = Math.clamp(TextFunctions.whole(name, count), -DIGITS_MAX, DIGITS_MAX);
            return switch (Arithmetic.plain(value)) {
                case Long number -> rounded(name, number, digits, mode);
                case Double number -> rounded(number, digits, mode);
                case Float number -> rounded((double) number, digits, mode);
                case BigDecimal number ->
                    digits >= number.scale()
                            ? number
                            : number.setScale(digits, mode).setScale(Math.max(0, digits));
                default -> throw wrong(name, value);
            };
        };
    }

    private static long rounded(String name, long number, int digits, RoundingMode mode) {
        if (digits >= 0) {
            return number;
        }
        try {
            return BigDecimal.valueOf(number).setScale(digits, mode).longValueExact();
        } catch (ArithmeticException e) {
            throw new InvalidRequestException(
                    "%s(%d, %d) is out of range for type int64".formatted(name, number, digits), e);
        }
    }

    private static double rounded(double number, int digits, RoundingMode mode) {
        return Double.isFinite(number)
                ? BigDecimal.valueOf(number).setScale(digits, mode).doubleValue() + 0.0
                : number;
    }

    /** The greatest or least of the values that are not null. */
    static Function.Body extreme(String name, Operator better) {
        return (arguments, row) -> {
            Object best = null;
            for (BoundExpression argument : arguments) {
                Object value = argument.evaluate(row);
                if (value == null) {
                    continue;
                }
                if (best == null) {
                    best = value;
                    continue;
                }
                Boolean isBetter = Values.compare(value, better, best);
                if (isBetter == null) {
                    throw new InvalidRequestException("%s takes values that have an order, not '%s'"
                            .formatted(name, TextFunctions.shown(value.toString())));
                }
                best = isBetter ? value : best;
            }
            return best;
        };
    }

    private static InvalidRequestException wrong(String name, Object value) {
        return new InvalidRequestException("%s takes numbers, not '%s'"
                .formatted(name, TextFunctions.shown(value.toString())));
    }
}
