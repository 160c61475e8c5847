package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Utf8;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.Base64;
import java.util.UUID;

/**
 * Reads a value of a kind from text: a column of a CSV file, an argument of the command. Static
 * functions without state.
 *
 * <pre>
 *  bool                    true, false
 *  int8, … int64           -17
 *  float, double           2.5, 1e-3, NaN, Infinity, -Infinity
 *  decimal                 12.50
 *  string                  as it is
 *  bytes                   base64
 *  uuid                    123e4567-e89b-12d3-a456-426614174000
 *  date                    2013-07-04
 *  time                    10:15:30.25
 *  datetime                2013-07-04T10:15:30Z, any offset; without one it is UTC
 *  duration                PT1H30M
 *  point                   [x,y]
 *  rectangle               [minX,minY,maxX,maxY]
 * </pre>
 *
 * No white space around a value is taken; fractions of seconds are cut to microseconds.
 */
public final class ValueParser {
    private static final int UUID_CHARS = 36;

    /**
     * A double needs at most 17 digits to be told from its neighbours; more are taken, not any
     * number.
     */
    private static final int NUMBER_CHARS_MAX = 1_100;

    private ValueParser() {}

    /**
     * The Java value of {@code kind} that {@code text} says; never null.
     *
     * @throws InvalidRequestException with type, text and what is expected, if it says none
     */
    public static Object parse(TypeKind kind, String text) {
        return switch (kind) {
            case BOOL ->
                switch (text) {
                    case "true" -> true;
                    case "false" -> false;
                    default -> throw unreadable(kind, text);
                };
            case INT8, INT16, INT32, INT64 -> KindValues.fromLong(kind, integer(kind, text));
            case FLOAT -> (float) real(kind, text);
            case DOUBLE -> real(kind, text);
            case DECIMAL -> decimal(text);
            case STRING -> string(text);
            case BINARY -> base64(text);
            case UUID -> uuid(text);
            case DATE, TIME, DATETIME, DURATION ->
                KindValues.fromLong(kind, new IsoReader().read(kind, text));
            case POINT, LONLAT -> {
                double[] xy = coordinates(kind, text, 2);
                if (kind == TypeKind.LONLAT) {
                    Point.requireLonLat(xy[0], xy[1]);
                }
                yield new Point(xy[0], xy[1]);
            }
            case RECTANGLE -> {
                double[] box = coordinates(kind, text, 4);
                yield new Rectangle(box[0], box[1], box[2], box[3]);
            }
            case ARRAY, RECORD -> throw unreadable(kind, text);
        };
    }

    static long integer(TypeKind kind, String text) {
        if (!isInteger(text)) {
            throw unreadable(kind, text); // Long.parseLong takes digits of every script
        }
        long number;
        try {
            number = Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new InvalidRequestException(
                    "%s is out of range for type %s".formatted(Text.quoted(text), kind.label()), e);
        }
        return KindValues.checkRange(kind, number);
    }

    private static boolean isInteger(String text) {
        int start = text.startsWith("-") || text.startsWith("+") ? 1 : 0;
        return text.length() > start
                && text.chars().skip(start).allMatch(c -> c >= '0' && c <= '9');
    }

    /** A float or double; for a float the nearest one, widened. */
    static double real(TypeKind kind, String text) {
        switch (text) {
            case "NaN" -> {
                return Double.NaN;
            }
            case "Infinity" -> {
                return Double.POSITIVE_INFINITY;
            }
            case "-Infinity" -> {
                return Double.NEGATIVE_INFINITY;
            }
            default -> {}
        }
        if (!isPlainNumber(text)) {
            throw unreadable(kind, text);
        }
        try {
            double number =
                    kind == TypeKind.FLOAT ? Float.parseFloat(text) : Double.parseDouble(text);
            if (Double.isInfinite(number)) {
                throw outOfRange(kind, text);
            }
            return number;
        } catch (NumberFormatException e) {
            throw unreadable(kind, text, e);
        }
    }

    /** What to throw for a number too large for its kind, which would become an infinity. */
    static InvalidRequestException outOfRange(TypeKind kind, CharSequence text) {
        return new InvalidRequestException(
                "%s is out of range for type %s".formatted(Text.quoted(text), kind.label()));
    }

    /** Keeps out what only Java takes: hexadecimal, type suffixes, white space. */
    private static boolean isPlainNumber(String text) {
        if (text.isEmpty() || text.length() > NUMBER_CHARS_MAX) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean plain = (c >= '0' && c <= '9')
                    || c == '.'
                    || c == '-'
                    || c == '+'
                    || c == 'e'
                    || c == 'E';
            if (!plain) {
                return false;
            }
        }
        return true;
    }

    private static BigDecimal decimal(String text) {
        if (!isPlainNumber(text)) {
            throw unreadable(TypeKind.DECIMAL, text);
        }
        try {
            return KindValues.toDecimal(new BigDecimal(text));
        } catch (NumberFormatException e) {
            throw unreadable(TypeKind.DECIMAL, text, e);
        }
    }

    private static String string(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                // throws if one stands alone; a text without any needs no second look
                Utf8.append(new ByteSink(text.length(), Integer.MAX_VALUE), text);
                break;
            }
        }
        return text;
    }

    private static byte[] base64(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw unreadable(TypeKind.BINARY, text, e);
        }
    }

    private static UUID uuid(String text) {
        try {
            if (text.length() == UUID_CHARS) {
                return UUID.fromString(text);
            }
        } catch (IllegalArgumentException e) {
            throw unreadable(TypeKind.UUID, text, e);
        }
        throw unreadable(TypeKind.UUID, text);
    }

    private static double[] coordinates(TypeKind kind, String text, int count) {
        if (!text.startsWith("[") || !text.endsWith("]")) {
            throw unreadable(kind, text);
        }
        String[] parts = text.substring(1, text.length() - 1).split(",", count + 1);
        if (parts.length != count) {
            throw unreadable(kind, text);
        }
        double[] coordinates = new double[count];
        for (int i = 0; i < count; i++) {
            coordinates[i] = real(kind, parts[i].strip());
        }
        return coordinates;
    }

    static InvalidRequestException unreadable(TypeKind kind, CharSequence text) {
        return unreadable(kind, text, null);
    }

    static InvalidRequestException unreadable(
            TypeKind kind, CharSequence text, @Nullable Throwable cause) {
        return new InvalidRequestException(
                "%s is not of type %s; expected %s"
                        .formatted(Text.quoted(text), kind.label(), example(kind)),
                cause);
    }

    private static String example(TypeKind kind) {
        return switch (kind) {
            case BOOL -> "true or false";
            case INT8, INT16, INT32, INT64 -> "an integer";
            case FLOAT, DOUBLE, DECIMAL -> "a number";
            case STRING -> "text";
            case BINARY -> "base64";
            case UUID -> "36 characters like 123e4567-e89b-12d3-a456-426614174000";
            case DATE -> "a date like 2013-07-04";
            case TIME -> "a time like 10:15:30";
            case DATETIME -> "a datetime like 2013-07-04T10:15:30Z";
            case DURATION -> "a duration like PT1H30M";
            case POINT, LONLAT -> "[x,y]";
            case RECTANGLE -> "[minX,minY,maxX,maxY]";
            case ARRAY -> "a path to its elements, with [] behind its name";
            case RECORD -> "a path to what lies in it, like user.lang";
        };
    }
}
