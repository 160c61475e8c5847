package io.turbidite.ops.jdbc;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Literal;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.sql.Date;
import java.sql.SQLException;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Base64;
import java.util.Calendar;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Conversions between the values of records and those that JDBC's getters and setters name. A
 * moment of time is an instant: {@link Timestamp} is the same instant, {@link LocalDateTime} what a
 * clock in UTC shows then. {@link Date} and {@link Time} of a moment are those of a zone, by
 * default the one of the JVM. Static.
 */
final class Conversions {
    private Conversions() {}

    private static SQLException wrong(Object value, String target) {
        return Errors.of(
                "a %s can't be read as %s".formatted(named(value), target),
                Errors.WRONG_CONVERSION);
    }

    private static String named(Object value) {
        return value instanceof byte[] ? "byte[]" : value.getClass().getSimpleName();
    }

    private static SQLException unreadable(Object value, String target) {
        return Errors.of("'%s' is no %s".formatted(value, target), Errors.UNREADABLE);
    }

    static String text(Object value) {
        return switch (value) {
            case BigDecimal number -> number.toPlainString();
            case byte[] bytes -> Base64.getEncoder().encodeToString(bytes);
            case List<?> _, Map<?, ?> _, Point _, Rectangle _ -> {
                StringBuilder out = new StringBuilder();
                json(value, out);
                yield out.toString();
            }
            default -> value.toString();
        };
    }

    static boolean truth(Object value) throws SQLException {
        if (value instanceof Boolean truth) {
            return truth;
        }
        if (value instanceof Number) {
            BigDecimal number = decimal(value, "boolean");
            // 1.00 is 1, and -0.0 is 0
            if (number.signum() == 0 || number.compareTo(BigDecimal.ONE) == 0) {
                return number.signum() != 0;
            }
            throw unreadable(value, "boolean");
        }
        if (!(value instanceof String text)) {
            throw wrong(value, "boolean");
        }
        return switch (text) {
            case "0", "0.0", "false" -> false;
            case "1", "1.0", "true" -> true;
            default -> throw unreadable(value, "boolean");
        };
    }

    /** A whole number; a fraction is cut. */
    static long whole(Object value, long least, long most, String target) throws SQLException {
        BigDecimal number = decimal(value, target);
        BigInteger whole = tooLong(number)
                ? BigInteger.ONE.shiftLeft(Long.SIZE)
                : number.setScale(0, RoundingMode.DOWN).toBigInteger();
        if (whole.bitLength() >= Long.SIZE
                || whole.longValue() < least
                || whole.longValue() > most) {
            throw Errors.of(
                    "%s is out of range for %s".formatted(text(value), target),
                    Errors.OUT_OF_RANGE);
        }
        return whole.longValue();
    }

    private static boolean tooLong(BigDecimal number) {
        return number.precision() - (long) number.scale() > Long.SIZE;
    }

    static double real(Object value, String target) throws SQLException {
        if (value instanceof Double || value instanceof Float) {
            return ((Number) value).doubleValue();
        }
        return decimal(value, target).doubleValue();
    }

    static BigDecimal decimal(Object value, String target) throws SQLException {
        try {
            return switch (value) {
                case BigDecimal number -> number;
                case Double number -> new BigDecimal(number.toString());
                case Float number -> new BigDecimal(number.toString());
                case Number number -> BigDecimal.valueOf(number.longValue());
                case Boolean truth -> truth ? BigDecimal.ONE : BigDecimal.ZERO;
                case String text -> (BigDecimal) ValueParser.parse(TypeKind.DECIMAL, text.strip());
                default -> throw wrong(value, target);
            };
        } catch (NumberFormatException | InvalidRequestException e) {
            throw unreadable(value, target);
        }
    }

    static byte[] bytes(Object value) throws SQLException {
        return switch (value) {
            case byte[] bytes -> bytes.clone();
            case String text -> text.getBytes(StandardCharsets.UTF_8);
            default -> throw wrong(value, "bytes");
        };
    }

    private static ZoneId zone(@Nullable Calendar calendar) {
        return calendar == null
                ? ZoneId.systemDefault()
                : calendar.getTimeZone().toZoneId();
    }

    static LocalDate date(Object value, ZoneId zone) throws SQLException {
        return switch (value) {
            case LocalDate date -> date;
            case Instant at -> at.atZone(zone).toLocalDate();
            case String text -> (LocalDate) read(TypeKind.DATE, text, "date");
            default -> throw wrong(value, "a date");
        };
    }

    static LocalTime time(Object value, ZoneId zone) throws SQLException {
        return switch (value) {
            case LocalTime time -> time;
            case Instant at -> at.atZone(zone).toLocalTime();
            case String text -> (LocalTime) read(TypeKind.TIME, text, "time");
            default -> throw wrong(value, "a time");
        };
    }

    static Instant instant(Object value, ZoneId zone) throws SQLException {
        return switch (value) {
            case Instant at -> at;
            case LocalDate date -> date.atStartOfDay(zone).toInstant();
            case String text -> (Instant) read(TypeKind.DATETIME, text.replace(' ', 'T'), "moment");
            default -> throw wrong(value, "a moment");
        };
    }

    private static Object read(TypeKind kind, String text, String target) throws SQLException {
        try {
            return ValueParser.parse(kind, text.strip());
        } catch (InvalidRequestException e) {
            throw unreadable(text, target);
        }
    }

    static Date sqlDate(Object value, @Nullable Calendar calendar) throws SQLException {
        ZoneId zone = zone(calendar);
        LocalDate date = date(value, zone);
        return calendar == null
                ? Date.valueOf(date)
                : new Date(date.atStartOfDay(zone).toInstant().toEpochMilli());
    }

    static Time sqlTime(Object value, @Nullable Calendar calendar) throws SQLException {
        ZoneId zone = zone(calendar);
        LocalTime time = time(value, zone);
        return new Time(LocalDate.EPOCH.atTime(time).atZone(zone).toInstant().toEpochMilli());
    }

    static Timestamp timestamp(Object value, @Nullable Calendar calendar) throws SQLException {
        return Timestamp.from(instant(value, zone(calendar)));
    }

    /** As {@code getObject} gives a value by itself. */
    static Object natural(Object value) throws SQLException {
        return switch (value) {
            case Byte number -> number.intValue();
            case Short number -> number.intValue();
            case LocalDate _ -> sqlDate(value, null);
            case LocalTime _ -> sqlTime(value, null);
            case Instant _ -> timestamp(value, null);
            default -> value;
        };
    }

    /** As an object of a class. */
    static Object as(Object value, Class<?> type) throws SQLException {
        if (type == Object.class) {
            return natural(value);
        }
        if (type.isInstance(value)) {
            return value;
        }
        return switch (type.getName()) {
            case "java.lang.String" -> text(value);
            case "java.lang.Boolean" -> truth(value);
            case "java.lang.Byte" -> (byte) whole(value, Byte.MIN_VALUE, Byte.MAX_VALUE, "byte");
            case "java.lang.Short" ->
                (short) whole(value, Short.MIN_VALUE, Short.MAX_VALUE, "short");
            case "java.lang.Integer" ->
                (int) whole(value, Integer.MIN_VALUE, Integer.MAX_VALUE, "int");
            case "java.lang.Long" -> whole(value, Long.MIN_VALUE, Long.MAX_VALUE, "long");
            case "java.lang.Float" -> (float) real(value, "float");
            case "java.lang.Double" -> real(value, "double");
            case "java.math.BigDecimal" -> decimal(value, "a decimal");
            case "java.math.BigInteger" ->
                BigInteger.valueOf(whole(value, Long.MIN_VALUE, Long.MAX_VALUE, "BigInteger"));
            case "[B" -> bytes(value);
            case "java.sql.Date" -> sqlDate(value, null);
            case "java.sql.Time" -> sqlTime(value, null);
            case "java.sql.Timestamp" -> timestamp(value, null);
            case "java.time.LocalDate" -> date(value, ZoneOffset.UTC);
            case "java.time.LocalTime" -> time(value, ZoneOffset.UTC);
            case "java.time.Instant" -> instant(value, ZoneOffset.UTC);
            case "java.time.LocalDateTime" ->
                LocalDateTime.ofInstant(instant(value, ZoneOffset.UTC), ZoneOffset.UTC);
            case "java.time.OffsetDateTime" ->
                instant(value, ZoneOffset.UTC).atOffset(ZoneOffset.UTC);
            case "java.time.ZonedDateTime" -> instant(value, ZoneOffset.UTC).atZone(ZoneOffset.UTC);
            case "java.util.UUID" -> read(TypeKind.UUID, text(value), "UUID");
            default -> throw wrong(value, type.getName());
        };
    }

    /**
     * The value of a parameter: of its own class, or what setters give for it.
     *
     * @param calendar whose zone a {@link Date} or a {@link Time} is of; null: the JVM's
     */
    static Object parameter(TypeKind kind, Object value, @Nullable Calendar calendar)
            throws SQLException {
        ZoneId zone = zone(calendar);
        return switch (kind) {
            case BOOL -> truth(value);
            case STRING ->
                value instanceof Number || value instanceof Boolean ? text(value) : value;
            case BINARY -> bytes(value);
            case UUID -> as(value, UUID.class);
            case INT8, INT16, INT32, INT64, FLOAT, DOUBLE, DECIMAL ->
                value instanceof String || value instanceof Boolean
                        ? decimal(value, "number")
                        : value;
            // the day that it shows: long ago its calendar was another than that of records
            case DATE ->
                switch (value) {
                    case Date day when calendar == null -> day.toLocalDate();
                    // they show a day of their own
                    case LocalDateTime at -> at.toLocalDate();
                    case OffsetDateTime at -> at.toLocalDate();
                    case ZonedDateTime at -> at.toLocalDate();
                    default -> date(moment(value), zone);
                };
            case TIME ->
                switch (value) {
                    case LocalDateTime at -> at.toLocalTime();
                    case OffsetDateTime at -> at.toLocalTime();
                    case ZonedDateTime at -> at.toLocalTime();
                    default -> time(moment(value), zone);
                };
            case DATETIME -> instant(moment(value), zone);
            default -> value instanceof String text ? read(kind, text, kind.label()) : value;
        };
    }

    /** What a class of time of JDBC stands for. */
    private static Object moment(Object value) {
        return switch (value) {
            case Date date -> Instant.ofEpochMilli(date.getTime());
            case Time time -> Instant.ofEpochMilli(time.getTime());
            case java.util.Date at -> at.toInstant();
            case Calendar at -> at.toInstant();
            case OffsetDateTime at -> at.toInstant();
            case ZonedDateTime at -> at.toInstant();
            case LocalDateTime utc -> utc.toInstant(ZoneOffset.UTC);
            default -> value;
        };
    }

    /** Lists and records as JSON. */
    private static void json(@Nullable Object value, StringBuilder out) {
        switch (value) {
            case List<?> list -> {
                String between = "[";
                for (Object element : list) {
                    json(element, out.append(between));
                    between = ",";
                }
                out.append(list.isEmpty() ? "[]" : "]");
            }
            case Map<?, ?> map -> {
                String between = "{";
                for (Map.Entry<?, ?> member : map.entrySet()) {
                    out.append(between);
                    json(String.valueOf(member.getKey()), out);
                    json(member.getValue(), out.append(':'));
                    between = ",";
                }
                out.append(map.isEmpty() ? "{}" : "}");
            }
            case Point at -> json(List.of(at.x(), at.y()), out);
            case Rectangle box ->
                json(List.of(box.minX(), box.minY(), box.maxX(), box.maxY()), out);
            case null -> out.append("null");
            case Number _, Boolean _ -> out.append(text(value));
            default -> out.append(new Literal.Text(text(value)).text());
        }
    }
}
