package io.turbidite.feeds.parse;

import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;
import io.turbidite.feeds.parse.Expression.Row;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * A function of the transform language. <em>Immutable; the bodies have no state.</em>
 *
 * @param result what it returns, or null if that is what it was given
 */
record Function(
        String name,
        @Nullable TypeKind result,
        int argumentCountMin,
        int argumentCountMax,
        Body body) {
    private static final int ARGUMENT_COUNT_MAX = 32;

    /** The work itself; arguments come unevaluated, so that it may stop early. */
    @FunctionalInterface
    interface Body {
        @Nullable
        Object apply(List<Expression> arguments, Row row);
    }

    /** All there are: a cast for each type that text can be read as, then the named ones. */
    static Map<String, Function> byName() {
        Map<String, Function> functions = new LinkedHashMap<>();
        add(functions, "point", TypeKind.POINT, 2, 2, Function::point);
        add(functions, "rectangle", TypeKind.RECTANGLE, 4, 4, Function::rectangle);
        for (TypeKind kind : TypeKind.values()) {
            if (kind != TypeKind.POINT && kind != TypeKind.RECTANGLE) {
                add(functions, kind.label(), kind, 1, 1, (arguments, row) -> {
                    Object value = arguments.getFirst().evaluate(row);
                    return value == null ? null : Values.cast(kind, value);
                });
            }
        }
        add(functions, "lower", TypeKind.STRING, 1, 1, text(s -> s.toLowerCase(Locale.ROOT)));
        add(functions, "upper", TypeKind.STRING, 1, 1, text(s -> s.toUpperCase(Locale.ROOT)));
        add(functions, "trim", TypeKind.STRING, 1, 1, text(String::strip));
        add(functions, "concat", TypeKind.STRING, 1, ARGUMENT_COUNT_MAX, Function::concat);
        add(functions, "nullif", null, 2, 2, Function::nullIf);
        add(functions, "coalesce", null, 1, ARGUMENT_COUNT_MAX, Function::coalesce);
        return functions;
    }

    @Nullable
    Object apply(List<Expression> arguments, Row row) {
        return body.apply(arguments, row);
    }

    String argumentCounts() {
        if (argumentCountMin == argumentCountMax) {
            return argumentCountMin == 1 ? "1 argument" : argumentCountMin + " arguments";
        }
        return "%d to %d arguments".formatted(argumentCountMin, argumentCountMax);
    }

    private static void add(
            Map<String, Function> functions,
            String name,
            @Nullable TypeKind result,
            int min,
            int max,
            Body body) {
        functions.put(name, new Function(name, result, min, max, body));
    }

    private static @Nullable Object point(List<Expression> arguments, Row row) {
        Object x = arguments.get(0).evaluate(row);
        Object y = arguments.get(1).evaluate(row);
        return x == null || y == null ? null : new Point(Values.number(x), Values.number(y));
    }

    private static @Nullable Object rectangle(List<Expression> arguments, Row row) {
        double[] sides = new double[4];
        for (int i = 0; i < sides.length; i++) {
            Object side = arguments.get(i).evaluate(row);
            if (side == null) {
                return null;
            }
            sides[i] = Values.number(side);
        }
        return new Rectangle(sides[0], sides[1], sides[2], sides[3]);
    }

    private static Body text(UnaryOperator<String> change) {
        return (arguments, row) -> {
            Object value = arguments.getFirst().evaluate(row);
            return value == null ? null : change.apply(Values.text(value));
        };
    }

    /** Null counts as the empty text. */
    private static Object concat(List<Expression> arguments, Row row) {
        StringBuilder joined = new StringBuilder();
        for (Expression argument : arguments) {
            Object value = argument.evaluate(row);
            joined.append(value == null ? "" : Values.text(value));
        }
        return joined.toString();
    }

    /** The first value, or null if its text is the second's: {@code nullif(delay, 'NA')}. */
    private static @Nullable Object nullIf(List<Expression> arguments, Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object unwanted = arguments.get(1).evaluate(row);
        boolean same = value != null
                && unwanted != null
                && Values.text(value).equals(Values.text(unwanted));
        return same ? null : value;
    }

    private static @Nullable Object coalesce(List<Expression> arguments, Row row) {
        for (Expression argument : arguments) {
            Object value = argument.evaluate(row);
            if (value != null) {
                return value;
            }
        }
        return null;
    }

    /** Conversions between the values that expressions meet. */
    static final class Values {
        private Values() {}

        /** A number, or text that is one. */
        static double number(Object value) {
            if (value instanceof Number number) {
                return number.doubleValue();
            }
            return (double) ValueParser.parse(TypeKind.DOUBLE, text(value));
        }

        /** The value itself, or what its text reads as. */
        static Object cast(TypeKind kind, Object value) {
            if (kind == TypeKind.STRING) {
                return text(value);
            }
            if (value instanceof String || value instanceof Number || value instanceof Boolean) {
                return ValueParser.parse(kind, text(value));
            }
            return value; // its own type already, or refused with both types named when it is
            // written
        }

        static String text(Object value) {
            return value instanceof BigDecimal decimal ? decimal.toPlainString() : value.toString();
        }
    }
}
