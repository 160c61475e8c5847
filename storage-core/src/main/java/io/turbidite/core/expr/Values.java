package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * What values mean to each other: the comparisons of the language, and its conversions. Static
 * functions without state.
 *
 * <p>Numbers of all types compare as exact decimals; a double or float stands for the shortest
 * decimal that reads back as it, as JSON writes it, and NaN for a number above all. Texts compare
 * by their bytes of UTF-8, binary values and uuids by theirs. A text beside a date, a time, a
 * duration, a uuid, bytes, a point or a rectangle is read as one. All other values of different
 * types are not equal and have no order; nor have booleans, points and rectangles.
 */
public final class Values {
    private Values() {}

    /** A number as a text wrote it: text to functions, a number to comparisons. */
    public record Numeral(String text) {
        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * Whether a comparison holds; null: that is unknown.
     *
     * @throws InvalidRequestException if a text is to be read as a type, and can't be
     */
    static @Nullable Boolean compare(
            @Nullable Object left, Operator operator, @Nullable Object right) {
        if (left == null || right == null) {
            return null;
        }
        if (isNumber(left) && isNumber(right)) {
            return operator.isPrefix() ? null : operator.holds(compareNumbers(left, right));
        }
        if (left instanceof String a && right instanceof String b) {
            return compareTexts(a, operator, b);
        }
        TypeKind typed = left instanceof String ? kindOf(right) : kindOf(left);
        if (left instanceof String text && typed != null) {
            return compareTyped(ValueParser.parse(typed, text), operator, right);
        }
        if (right instanceof String text && typed != null) {
            return compareTyped(left, operator, ValueParser.parse(typed, text));
        }
        return compareTyped(left, operator, right);
    }

    private static Boolean compareTexts(String a, Operator operator, String b) {
        return switch (operator) {
            case EQUAL -> a.equals(b);
            case NOT_EQUAL -> !a.equals(b);
            case STARTS_WITH -> a.startsWith(b);
            case STARTS_NOT_WITH -> !a.startsWith(b);
            case LESS, AT_MOST, GREATER, AT_LEAST ->
                operator.holds(Arrays.compareUnsigned(utf8(a), utf8(b)));
        };
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static @Nullable Boolean compareTyped(Object left, Operator operator, Object right) {
        boolean isEquality = operator == Operator.EQUAL || operator == Operator.NOT_EQUAL;
        if (!left.getClass().equals(right.getClass())) {
            return operator == Operator.NOT_EQUAL ? Boolean.TRUE : isEquality ? false : null;
        }
        return switch (left) {
            case LocalDate date -> ordered(operator, date.compareTo((LocalDate) right));
            case LocalTime time -> ordered(operator, time.compareTo((LocalTime) right));
            case Instant instant -> ordered(operator, instant.compareTo((Instant) right));
            case Duration duration -> ordered(operator, duration.compareTo((Duration) right));
            case byte[] bytes -> ordered(operator, Arrays.compareUnsigned(bytes, (byte[]) right));
            case UUID uuid -> ordered(operator, compare(uuid, (UUID) right));
            default ->
                isEquality ? Boolean.valueOf(operator.holds(left.equals(right) ? 0 : 1)) : null;
        };
    }

    private static @Nullable Boolean ordered(Operator operator, int order) {
        return operator.isPrefix() ? null : operator.holds(order);
    }

    private static int compare(UUID a, UUID b) {
        int high = Long.compareUnsigned(a.getMostSignificantBits(), b.getMostSignificantBits());
        return high != 0
                ? high
                : Long.compareUnsigned(a.getLeastSignificantBits(), b.getLeastSignificantBits());
    }

    /** The type that a text beside this value is read as; null: none. */
    private static @Nullable TypeKind kindOf(Object value) {
        return switch (value) {
            case LocalDate _ -> TypeKind.DATE;
            case LocalTime _ -> TypeKind.TIME;
            case Instant _ -> TypeKind.DATETIME;
            case Duration _ -> TypeKind.DURATION;
            case UUID _ -> TypeKind.UUID;
            case byte[] _ -> TypeKind.BINARY;
            case Point _ -> TypeKind.POINT;
            case Rectangle _ -> TypeKind.RECTANGLE;
            default -> null;
        };
    }

    private static boolean isNumber(Object value) {
        return value instanceof Number || value instanceof Numeral;
    }

    private static int compareNumbers(Object a, Object b) {
        if (a instanceof Long x && b instanceof Long y) {
            return Long.compare(x, y);
        }
        double rankA = rank(a);
        double rankB = rank(b);
        return rankA != 0 || rankB != 0
                ? Double.compare(rankA, rankB)
                : decimal(a).compareTo(decimal(b));
    }

    /** 0 for what is finite. */
    private static double rank(Object number) {
        double value = switch (number) {
            case Double d -> d;
            case Float f -> f;
            default -> 0;
        };
        return Double.isFinite(value) ? 0 : value;
    }

    /** The exact decimal that a finite number stands for. */
    static BigDecimal decimal(Object number) {
        return switch (number) {
            case BigDecimal decimal -> decimal;
            case BigInteger integer -> new BigDecimal(integer);
            case Double d -> BigDecimal.valueOf(d);
            case Float f -> new BigDecimal(Float.toString(f));
            case Numeral(String text) -> new BigDecimal(text);
            case Number integer -> BigDecimal.valueOf(integer.longValue());
            default -> throw new IllegalArgumentException(number.getClass().getName());
        };
    }

    /** A number, or text that is one. */
    static double number(Object value) {
        if (value instanceof Number number) {
            return number.doubleValue();
        }
        return (double) ValueParser.parse(TypeKind.DOUBLE, text(value));
    }

    /** The value itself, a part of it, or what its text reads as. */
    static Object cast(TypeKind kind, Object value) {
        if (kind == TypeKind.STRING) {
            return text(value);
        }
        if (value instanceof Instant at && kind == TypeKind.DATE) {
            return LocalDate.ofInstant(at, ZoneOffset.UTC);
        }
        if (value instanceof Instant at && kind == TypeKind.TIME) {
            return LocalTime.ofInstant(at, ZoneOffset.UTC);
        }
        if (value instanceof LocalDate day && kind == TypeKind.DATETIME) {
            return day.atStartOfDay().toInstant(ZoneOffset.UTC);
        }
        boolean hasText = value instanceof String
                || value instanceof Number
                || value instanceof Numeral
                || value instanceof Boolean;
        // its own type already, or refused with both types named when it is written
        return hasText ? ValueParser.parse(kind, text(value)) : value;
    }

    /** A value as text: numbers without exponents, arrays and nested records as JSON. */
    public static String text(Object value) {
        return switch (value) {
            case BigDecimal decimal -> decimal.toPlainString();
            case List<?> _, Map<?, ?> _ -> json(value);
            default -> value.toString();
        };
    }

    /** As the one open field of a record, without what stands around it. */
    private static String json(Object value) {
        RecordType nothing = RecordType.of(List.of());
        RecordWriter writer = new RecordWriter(nothing).begin();
        writer.openField("v", value);
        ByteSink utf8 = new ByteSink(256, Integer.MAX_VALUE - 8);
        new RecordView(nothing).wrap(writer.finish()).toJson(utf8);
        String object = new String(utf8.asSlice(new Slice()).toByteArray(), StandardCharsets.UTF_8);
        return object.substring("{\"v\":".length(), object.length() - 1);
    }
}
