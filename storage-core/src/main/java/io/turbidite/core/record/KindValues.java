package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.TypeKind;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The Java values that each {@link TypeKind} takes, and the primitive that stands for them in
 * records and keys. Static functions without state.
 *
 * <p>Taken are the class that the kind names and what widens to it without loss: any integer class
 * whose value fits, an integer or a float where a double is declared, an integer where a decimal
 * is. Nothing else: a wrong class is an {@link InvalidRequestException} that names kind and class.
 * Times finer than a microsecond are cut (towards the past), in records, keys and predicates alike.
 */
public final class KindValues {
    private static final long MICROS_PER_SECOND = 1_000_000L;
    private static final long MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND;

    private KindValues() {}

    /**
     * Whether {@link #toLong} takes the kind: bool, the integers, date, time, datetime, duration.
     */
    public static boolean isLong(TypeKind kind) {
        return switch (kind) {
            case BOOL, INT8, INT16, INT32, INT64, DATE, TIME, DATETIME, DURATION -> true;
            case FLOAT,
                    DOUBLE,
                    DECIMAL,
                    STRING,
                    BINARY,
                    UUID,
                    POINT,
                    LONLAT,
                    RECTANGLE,
                    ARRAY,
                    RECORD -> false;
        };
    }

    /**
     * 0 or 1; the integer; days since 1970-01-01; microseconds of the day, since 1970, or as such.
     */
    public static long toLong(TypeKind kind, Object value) {
        long number = switch (kind) {
            case BOOL -> value instanceof Boolean b ? (b ? 1 : 0) : refuse(kind, value);
            case INT8, INT16, INT32, INT64 -> integer(kind, value);
            case DATE -> value instanceof LocalDate d ? d.toEpochDay() : refuse(kind, value);
            case TIME ->
                value instanceof LocalTime t ? t.toNanoOfDay() / 1_000 : refuse(kind, value);
            case DATETIME ->
                value instanceof Instant i
                        ? micros(kind, value, i.getEpochSecond(), i.getNano())
                        : refuse(kind, value);
            case DURATION ->
                value instanceof Duration d
                        ? micros(kind, value, d.getSeconds(), d.getNano())
                        : refuse(kind, value);
            default -> refuse(kind, value);
        };
        return checkRange(kind, number);
    }

    private static long integer(TypeKind kind, Object value) {
        return switch (value) {
            case Long l -> l;
            case Integer i -> i;
            case Short s -> s;
            case Byte b -> b;
            case BigInteger big when big.bitLength() < Long.SIZE -> big.longValue();
            case BigInteger big -> throw outOfRange(kind, Text.quoted(big.toString()));
            default -> refuse(kind, value);
        };
    }

    private static long micros(TypeKind kind, Object value, long seconds, int nanos) {
        try {
            // one second up and back: the earliest microseconds lie in a second that starts too
            // early
            return seconds < 0
                    ? Math.addExact(
                            Math.multiplyExact(seconds + 1, MICROS_PER_SECOND),
                            nanos / 1_000 - MICROS_PER_SECOND)
                    : Math.addExact(Math.multiplyExact(seconds, MICROS_PER_SECOND), nanos / 1_000L);
        } catch (ArithmeticException e) {
            throw new InvalidRequestException(
                    "%s is out of range for type %s".formatted(value, kind.label()), e);
        }
    }

    /** Returns {@code number} if the kind has such a value. */
    public static long checkRange(TypeKind kind, long number) {
        if (!inRange(kind, number)) {
            throw outOfRange(kind, number);
        }
        return number;
    }

    /** Whether {@link #fromLong} has a value for {@code number}. */
    public static boolean inRange(TypeKind kind, long number) {
        return switch (kind) {
            case BOOL -> number == 0 || number == 1;
            case INT8 -> number == (byte) number;
            case INT16 -> number == (short) number;
            case INT32, DATE -> number == (int) number;
            case TIME -> number >= 0 && number < MICROS_PER_DAY;
            default -> true;
        };
    }

    /** The Java value; {@code number} is in range. */
    public static Object fromLong(TypeKind kind, long number) {
        assert inRange(kind, number) : kind + " " + number;
        return switch (kind) {
            case BOOL -> number == 1;
            case INT8 -> (byte) number;
            case INT16 -> (short) number;
            case INT32 -> (int) number;
            case INT64 -> number;
            case DATE -> LocalDate.ofEpochDay(number);
            case TIME -> LocalTime.ofNanoOfDay(number * 1_000);
            case DATETIME -> Instant.EPOCH.plus(number, ChronoUnit.MICROS);
            case DURATION -> Duration.of(number, ChronoUnit.MICROS);
            default -> throw new IllegalArgumentException(kind.label());
        };
    }

    /** For float and double; NaN has one form. */
    public static double toDouble(TypeKind kind, Object value) {
        double number = switch (value) {
            case Double d -> d;
            case Float f -> f;
            case Byte b -> b;
            case Short s -> s;
            case Integer i -> i;
            case Long l when isExact(l) -> (double) l;
            case Long l -> throw outOfRange(kind, l);
            default -> refuse(kind, value);
        };
        return checkFloat(kind, number);
    }

    private static boolean isExact(long number) {
        // 2^63 rounds to itself but is no long: the cast back would saturate to a different one
        return (long) (double) number == number && number != Long.MAX_VALUE;
    }

    /** Returns {@code number} if the kind has it exactly. */
    static double checkFloat(TypeKind kind, double number) {
        if (kind == TypeKind.FLOAT && Double.compare((float) number, number) != 0) {
            throw new InvalidRequestException(
                    "%s is no exact value of type float".formatted(number));
        }
        return number;
    }

    /** For decimal. */
    public static BigDecimal toDecimal(Object value) {
        BigDecimal number = switch (value) {
            case BigDecimal d -> d;
            case BigInteger i -> new BigDecimal(i);
            case Byte b -> BigDecimal.valueOf(b);
            case Short s -> BigDecimal.valueOf(s);
            case Integer i -> BigDecimal.valueOf(i);
            case Long l -> BigDecimal.valueOf(l);
            default -> throw wrongClass(TypeKind.DECIMAL, value);
        };
        DecimalBytes.checkBounds(number);
        return number;
    }

    /** {@code value} as {@code javaClass}, for the kinds of a single class. */
    public static <T> T as(TypeKind kind, Class<T> javaClass, Object value) {
        if (!javaClass.isInstance(value)) {
            throw wrongClass(kind, value);
        }
        return javaClass.cast(value);
    }

    private static long refuse(TypeKind kind, Object value) {
        throw wrongClass(kind, value);
    }

    private static InvalidRequestException wrongClass(TypeKind kind, Object value) {
        return new InvalidRequestException("type %s takes %s, not %s"
                .formatted(
                        kind.label(),
                        javaClass(kind).getSimpleName(),
                        value.getClass().getName()));
    }

    private static InvalidRequestException outOfRange(TypeKind kind, Object number) {
        return new InvalidRequestException(
                "%s is out of range for type %s".formatted(number, kind.label()));
    }

    private static Class<?> javaClass(TypeKind kind) {
        return switch (kind) {
            case BOOL -> Boolean.class;
            case INT8 -> Byte.class;
            case INT16 -> Short.class;
            case INT32 -> Integer.class;
            case INT64 -> Long.class;
            case FLOAT -> Float.class;
            case DOUBLE -> Double.class;
            case DECIMAL -> BigDecimal.class;
            case STRING -> String.class;
            case BINARY -> byte[].class;
            case UUID -> UUID.class;
            case DATE -> LocalDate.class;
            case TIME -> LocalTime.class;
            case DATETIME -> Instant.class;
            case DURATION -> Duration.class;
            case POINT, LONLAT -> io.turbidite.core.type.Point.class;
            case RECTANGLE -> io.turbidite.core.type.Rectangle.class;
            case ARRAY -> List.class;
            case RECORD -> Map.class;
        };
    }
}
