package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleUnaryOperator;
import java.util.function.ToDoubleFunction;

/**
 * The bodies of functions that SQL is compiled to: casts that round, whole quotients, patterns.
 * Static, without state.
 */
final class MoreFunctions {
    /** More digits than a decimal of SQL has. */
    private static final int DIGITS_MAX = 1_000;

    private MoreFunctions() {}

    /** To a whole number of a type; a fraction is rounded, half away from zero. */
    static Function.Body toWhole(TypeKind kind) {
        return (arguments, row) -> {
            Object value = arguments.getFirst().evaluate(row);
            if (value == null) {
                return null;
            }
            BigInteger number =
                    decimalOf(kind, value).setScale(0, RoundingMode.HALF_UP).toBigInteger();
            int bits = switch (kind) {
                case INT8 -> Byte.SIZE;
                case INT16 -> Short.SIZE;
                case INT32 -> Integer.SIZE;
                default -> Long.SIZE;
            };
            if (number.bitLength() >= bits) {
                throw unfit(kind.label(), value);
            }
            return switch (kind) {
                case INT8 -> (Object) number.byteValueExact();
                case INT16 -> number.shortValueExact();
                case INT32 -> number.intValueExact();
                default -> number.longValueExact();
            };
        };
    }

    /** {@code item(array, number)}: null where the array has no such element. */
    static @Nullable Object item(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object array = arguments.get(0).evaluate(row);
        Object number = arguments.get(1).evaluate(row);
        if (array == null || number == null) {
            return null;
        }
        return at(elements("item", array), decimalOf(TypeKind.INT64, number));
    }

    static @Nullable Object cardinality(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object array = arguments.get(0).evaluate(row);
        return array == null ? null : (long) elements("cardinality", array).size();
    }

    /**
     * {@code open_field(name, name or number, …)}: names lead into nested records, numbers, from 1,
     * to elements of arrays; null where there is no such thing.
     */
    static @Nullable Object openField(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object name = arguments.getFirst().evaluate(row);
        Object value = name == null ? null : row.open(Values.text(name));
        for (int i = 1; i < arguments.size() && value != null; i++) {
            Object step = arguments.get(i).evaluate(row);
            value = switch (step) {
                case null -> null;
                case String member ->
                    value instanceof Map<?, ?> members ? members.get(member) : null;
                default ->
                    value instanceof List<?> elements
                            ? at(elements, decimalOf(TypeKind.INT64, step))
                            : null;
            };
        }
        return value;
    }

    /** The element of a number, from 1; null where there is none. */
    private static @Nullable Object at(List<?> elements, BigDecimal place) {
        boolean isThere =
                place.signum() > 0 && place.compareTo(BigDecimal.valueOf(elements.size())) <= 0;
        return isThere ? elements.get(place.intValue() - 1) : null;
    }

    private static List<?> elements(String function, Object array) {
        if (array instanceof List<?> elements) {
            return elements;
        }
        throw new InvalidRequestException("%s takes an array, not %s".formatted(function, array));
    }

    /** {@code to_decimal(value, digits, fraction digits)}, rounded half away from zero. */
    static @Nullable Object toDecimal(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object precision = arguments.get(1).evaluate(row);
        Object scale = arguments.get(2).evaluate(row);
        if (value == null || precision == null || scale == null) {
            return null;
        }
        int digits = digits(precision);
        int fraction = digits(scale);
        BigDecimal number =
                decimalOf(TypeKind.DECIMAL, value).setScale(fraction, RoundingMode.HALF_UP);
        if (number.precision() - number.scale() > digits - fraction) {
            throw unfit("decimal(%d, %d)".formatted(digits, fraction), value);
        }
        return number;
    }

    /** A number, a text that is one, or a truth value as 1 or 0. */
    private static BigDecimal decimalOf(TypeKind kind, Object value) {
        Object plain = value instanceof String ? value : plain(value);
        return switch (plain) {
            case Boolean truth -> truth ? BigDecimal.ONE : BigDecimal.ZERO;
            case Double d when !Double.isFinite(d) -> throw unfit(kind.label(), value);
            case Float f when !Float.isFinite(f) -> throw unfit(kind.label(), value);
            case Number number -> bounded(kind, Values.decimal(number));
            case String text -> {
                try {
                    yield bounded(
                            kind, (BigDecimal) ValueParser.parse(TypeKind.DECIMAL, text.strip()));
                } catch (InvalidRequestException e) {
                    throw unfit(kind.label(), value, e);
                }
            }
            default -> throw unfit(kind.label(), value);
        };
    }

    private static BigDecimal bounded(TypeKind kind, BigDecimal number) {
        if (Math.abs((long) number.scale()) > DIGITS_MAX || number.precision() > DIGITS_MAX) {
            throw unfit(kind.label(), number);
        }
        return number;
    }

    private static Object plain(Object value) {
        return value instanceof Number || value instanceof Values.Numeral
                ? Arithmetic.plain(value)
                : value;
    }

    /** As text, at most so long. */
    static @Nullable Object toText(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object most =
                arguments.size() > 1 ? arguments.get(1).evaluate(row) : (Object) Long.MAX_VALUE;
        if (value == null || most == null) {
            return null;
        }
        if (value instanceof byte[] || value instanceof Point || value instanceof Rectangle) {
            throw new InvalidRequestException(
                    "to_text takes no values like this: " + value.getClass().getSimpleName());
        }
        String text = Values.text(plain(value));
        if (most instanceof Long limit && limit == Long.MAX_VALUE) {
            return text;
        }
        if (text.codePointCount(0, text.length()) > small("to_text", most)) {
            throw unfit("text of at most %s characters".formatted(most), value);
        }
        return text;
    }

    /** A moment: of a date its beginning, of a text with a blank or a T before its time. */
    static @Nullable Object toMoment(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.getFirst().evaluate(row);
        return switch (value) {
            case null -> null;
            case Instant _ -> value;
            case LocalDate _ -> Values.cast(TypeKind.DATETIME, value);
            case String text -> moment(text);
            default -> throw unfit("datetime", value);
        };
    }

    /** A moment as SQL writes it, in UTC where it names no zone. */
    static Instant moment(String text) {
        String iso = text.strip();
        if (iso.length() > 10 && iso.charAt(10) == ' ') {
            iso = iso.substring(0, 10) + 'T' + iso.substring(11);
        }
        if (iso.length() == 10) {
            iso += "T00:00:00Z";
        } else if (iso.indexOf('Z') < 0 && iso.indexOf('+', 11) < 0 && iso.indexOf('-', 11) < 0) {
            iso += "Z";
        }
        return (Instant) ValueParser.parse(TypeKind.DATETIME, iso);
    }

    /** The whole part of a quotient of whole numbers, rounded towards zero. */
    static @Nullable Object quotient(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object left = arguments.get(0).evaluate(row);
        Object right = arguments.get(1).evaluate(row);
        if (left == null || right == null) {
            return null;
        }
        if (!(Arithmetic.plain(left) instanceof Long a)
                || !(Arithmetic.plain(right) instanceof Long b)) {
            throw new InvalidRequestException(
                    "div takes whole numbers, not '%s' and '%s'".formatted(left, right));
        }
        if (b == 0) {
            throw new InvalidRequestException("%d / 0: division by zero".formatted(a));
        }
        if (a == Long.MIN_VALUE && b == -1) {
            throw new InvalidRequestException(
                    "%d / %d is out of range for type int64".formatted(a, b));
        }
        return a / b;
    }

    /** Texts one behind the other; null if one is. */
    static @Nullable Object append(List<BoundExpression> arguments, BoundExpression.Row row) {
        StringBuilder joined = new StringBuilder();
        for (BoundExpression argument : arguments) {
            Object value = argument.evaluate(row);
            if (value == null) {
                return null;
            }
            joined.append(Values.text(plain(value)));
        }
        return joined.toString();
    }

    /** A value, or null where it can't be worked out. */
    static @Nullable Object attempt(List<BoundExpression> arguments, BoundExpression.Row row) {
        try {
            return arguments.getFirst().evaluate(row);
        } catch (InvalidRequestException _) {
            // null is what is asked for then
            return null;
        }
    }

    /** A value, if it is of one row at most. */
    static @Nullable Object only(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object rows = arguments.get(1).evaluate(row);
        if (rows != null && Values.number(rows) > 1) {
            throw new InvalidRequestException(
                    "a subquery that stands for one value has %s rows".formatted(rows));
        }
        return arguments.get(0).evaluate(row);
    }

    /** Without the blanks at both ends; other white space stays, as SQL has it. */
    static String trimmed(String text) {
        int start = 0;
        int end = text.length();
        while (start < end && text.charAt(start) == ' ') {
            start++;
        }
        while (end > start && text.charAt(end - 1) == ' ') {
            end--;
        }
        return text.substring(start, end);
    }

    /** Where a text begins in another, counted from 1; 0 if it is not there. */
    static @Nullable Object position(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object wanted = arguments.get(0).evaluate(row);
        Object value = arguments.get(1).evaluate(row);
        if (wanted == null || value == null) {
            return null;
        }
        String text = Values.text(value);
        int at = text.indexOf(Values.text(wanted));
        return at < 0 ? 0L : 1L + text.codePointCount(0, at);
    }

    /** Whether a text fits a pattern: % is any text, _ any character, behind the escape itself. */
    static @Nullable Object like(List<BoundExpression> arguments, BoundExpression.Row row) {
        return like(arguments, row, false);
    }

    /** The same, whatever the case of letters. */
    static @Nullable Object likeOfAnyCase(
            List<BoundExpression> arguments, BoundExpression.Row row) {
        return like(arguments, row, true);
    }

    private static @Nullable Object like(
            List<BoundExpression> arguments, BoundExpression.Row row, boolean isOfAnyCase) {
        Object value = arguments.get(0).evaluate(row);
        Object pattern = arguments.get(1).evaluate(row);
        Object escape = arguments.size() > 2 ? arguments.get(2).evaluate(row) : "";
        if (value == null || pattern == null || escape == null) {
            return null;
        }
        String mark = Values.text(escape);
        if (mark.codePointCount(0, mark.length()) > 1) {
            throw new InvalidRequestException(
                    "like takes one character as escape, not '%s'".formatted(mark));
        }
        return fits(
                Values.text(value).codePoints().toArray(),
                Values.text(pattern).codePoints().toArray(),
                mark.isEmpty() ? -1 : mark.codePointAt(0),
                isOfAnyCase);
    }

    /** Two places that move on, and the last % to go back to: no pattern takes more than n * m. */
    private static boolean fits(int[] text, int[] pattern, int escape, boolean isOfAnyCase) {
        int at = 0;
        int in = 0;
        int back = -1;
        int backText = -1;
        while (at < text.length) {
            int width = in < pattern.length ? width(pattern, in, escape) : 0;
            if (width == 1 && pattern[in] == '%') {
                back = in++;
                backText = at;
            } else if (width > 0
                    && ((width == 1 && pattern[in] == '_')
                            || isSame(pattern[in + width - 1], text[at], isOfAnyCase))) {
                in += width;
                at++;
            } else if (back >= 0) {
                in = back + 1;
                at = ++backText;
            } else {
                checkRest(pattern, in, escape);
                return false;
            }
        }
        boolean fits = true;
        for (int rest = in; rest < pattern.length; rest += width(pattern, rest, escape)) {
            fits &= width(pattern, rest, escape) == 1 && pattern[rest] == '%';
        }
        return fits;
    }

    private static boolean isSame(int a, int b, boolean isOfAnyCase) {
        return a == b || (isOfAnyCase && folded(a) == folded(b));
    }

    private static int folded(int character) {
        return Character.toLowerCase(Character.toUpperCase(character));
    }

    private static void checkRest(int[] pattern, int in, int escape) {
        int rest = in;
        while (rest < pattern.length) {
            rest += width(pattern, rest, escape);
        }
    }

    /** How many characters of a pattern stand for the next one: 2 behind an escape. */
    private static int width(int[] pattern, int in, int escape) {
        if (pattern[in] != escape) {
            return 1;
        }
        if (in + 1 == pattern.length) {
            throw new InvalidRequestException("a pattern of like ends with its escape character");
        }
        return 2;
    }

    /** A function of one number, in doubles; what is no number is an error. */
    static Function.Body math(String name, DoubleUnaryOperator function) {
        return (arguments, row) -> {
            Object value = arguments.getFirst().evaluate(row);
            return value == null
                    ? null
                    : checked(name, value, function.applyAsDouble(Values.number(plain(value))));
        };
    }

    static @Nullable Object power(List<BoundExpression> arguments, BoundExpression.Row row) {
        Object base = arguments.get(0).evaluate(row);
        Object exponent = arguments.get(1).evaluate(row);
        return base == null || exponent == null
                ? null
                : checked(
                        "power",
                        base,
                        Math.pow(Values.number(plain(base)), Values.number(plain(exponent))));
    }

    private static Object checked(String name, Object of, double value) {
        boolean wasFinite = Double.isFinite(Values.number(plain(of)));
        if (wasFinite && !Double.isFinite(value)) {
            throw new InvalidRequestException("%s of '%s' is no number".formatted(name, of));
        }
        return value;
    }

    /** A coordinate of a point. */
    static Function.Body coordinate(String name, ToDoubleFunction<Point> which) {
        return (arguments, row) -> {
            Object value = arguments.getFirst().evaluate(row);
            return switch (value) {
                case null -> null;
                case Point point -> which.applyAsDouble(point);
                default ->
                    throw new InvalidRequestException(
                            "%s takes a point, not '%s'".formatted(name, value));
            };
        };
    }

    private static int small(String function, Object value) {
        if (Arithmetic.plain(value) instanceof Long number
                && number >= 0
                && number <= Integer.MAX_VALUE) {
            return number.intValue();
        }
        throw new InvalidRequestException(
                "%s takes a number of characters, not '%s'".formatted(function, value));
    }

    /** A rescaled number has so many digits, which a text of ten characters asks for. */
    private static int digits(Object value) {
        int count = small("to_decimal", value);
        if (count > DIGITS_MAX) {
            throw new InvalidRequestException(
                    "a decimal of %d digits is over the limit of %d".formatted(count, DIGITS_MAX));
        }
        return count;
    }

    private static InvalidRequestException unfit(String type, Object value) {
        return unfit(type, value, null);
    }

    private static InvalidRequestException unfit(
            String type, Object value, @Nullable Throwable cause) {
        String text = Objects.toString(value);
        return new InvalidRequestException(
                "'%s' does not fit %s"
                        .formatted(text.length() > 40 ? text.substring(0, 40) + "…" : text, type),
                cause);
    }
}
