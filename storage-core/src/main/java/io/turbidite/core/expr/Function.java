package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.text.WordCursor;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.RoundingMode;
import java.time.temporal.ChronoField;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.UnaryOperator;

/**
 * A function of the language. <em>Immutable; the bodies have no state.</em> A function of null is
 * null; {@code concat}, {@code coalesce} and {@code nullif} say otherwise.
 *
 * @param functionName as texts write it; no two functions share one
 * @param result what it returns, or null if that is what it was given
 */
public record Function(
        String functionName,
        @Nullable TypeKind result,
        int argumentCountMin,
        int argumentCountMax,
        Body body) {
    /** Whether a text has all words of another. */
    public static final String CONTAINS = "contains";

    /** Whether a text has one word of another or more. */
    public static final String CONTAINS_ANY = "contains_any";

    /** Whether a text has a word that begins as the one word of another. */
    public static final String CONTAINS_PREFIX = "contains_prefix";

    /** Whether a point lies in a window, or a rectangle meets it. */
    public static final String WITHIN = "within";

    /** The first value whose condition is true: conditions and values in turn, then the rest's. */
    public static final Function CASE =
            new Function("case", null, 2, Integer.MAX_VALUE, (arguments, row) -> {
                int last = arguments.size() - 1;
                for (int i = 0; i < last; i += 2) {
                    if (Boolean.TRUE.equals(arguments.get(i).evaluate(row))) {
                        return arguments.get(i + 1).evaluate(row);
                    }
                }
                return last % 2 == 0 ? arguments.get(last).evaluate(row) : null;
            });

    /** An element of an array by its number, from 1. */
    public static final String ITEM = "item";

    /** How many elements an array has. */
    public static final String CARDINALITY = "cardinality";

    /** What lies at a path of names, and of numbers of elements, whatever is declared. */
    public static final String OPEN_FIELD = "open_field";

    private static final int ARGUMENT_COUNT_MAX = 32;
    private static final Map<Arithmetic, Function> BY_SIGN = bySign();
    private static final Map<String, Function> BY_NAME = byName();

    /** The work itself; arguments come unevaluated, so that it may stop early. */
    @FunctionalInterface
    public interface Body {
        /** The value for a row; null if it is null or unknown. */
        @Nullable
        Object apply(List<BoundExpression> arguments, BoundExpression.Row row);
    }

    /** The function of a name; null if there is none. */
    public static @Nullable Function named(String name) {
        return BY_NAME.get(name);
    }

    /** What a sign of arithmetic stands for. */
    public static Function of(Arithmetic sign) {
        return Objects.requireNonNull(BY_SIGN.get(sign));
    }

    /** The sign that it is written by; null if it is written by its name. */
    public @Nullable Arithmetic sign() {
        for (Map.Entry<Arithmetic, Function> entry : BY_SIGN.entrySet()) {
            if (entry.getValue().equals(this)) {
                return entry.getKey();
            }
        }
        return null;
    }

    private static Map<Arithmetic, Function> bySign() {
        Map<Arithmetic, Function> functions = new EnumMap<>(Arithmetic.class);
        for (Arithmetic sign : Arithmetic.values()) {
            functions.put(sign, new Function(sign.symbol(), null, 2, 2, (arguments, row) -> {
                Object left = arguments.get(0).evaluate(row);
                return left == null ? null : sign.apply(left, arguments.get(1).evaluate(row));
            }));
        }
        return functions;
    }

    /** All names. */
    static Set<String> names() {
        return Collections.unmodifiableSet(BY_NAME.keySet());
    }

    /** All there are: a cast for each type that text can be read as, then the named ones. */
    private static Map<String, Function> byName() {
        Map<String, Function> functions = new LinkedHashMap<>();
        add(functions, "point", TypeKind.POINT, 2, 2, Function::point);
        add(functions, "rectangle", TypeKind.RECTANGLE, 4, 4, Function::rectangle);
        for (TypeKind kind : TypeKind.values()) {
            if (kind.isScalar() && !kind.isSpatial()) {
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
        add(functions, "length", TypeKind.INT64, 1, 1, Functions::length);
        add(functions, "substring", TypeKind.STRING, 2, 3, Functions::substring);
        add(functions, "replace", TypeKind.STRING, 3, 3, Functions::replace);
        add(functions, "negative", null, 1, 1, Functions::negative);
        add(functions, "abs", null, 1, 1, Functions::abs);
        add(functions, "floor", null, 1, 1, Functions.rounding(RoundingMode.FLOOR));
        add(functions, "ceil", null, 1, 1, Functions.rounding(RoundingMode.CEILING));
        add(
                functions,
                "round",
                null,
                1,
                2,
                NumberFunctions.rounding("round", RoundingMode.HALF_UP));
        add(functions, "year", TypeKind.INT64, 1, 1, Functions.part(ChronoField.YEAR));
        add(functions, "month", TypeKind.INT64, 1, 1, Functions.part(ChronoField.MONTH_OF_YEAR));
        add(functions, "day", TypeKind.INT64, 1, 1, Functions.part(ChronoField.DAY_OF_MONTH));
        add(functions, "weekday", TypeKind.INT64, 1, 1, Functions.part(ChronoField.DAY_OF_WEEK));
        add(functions, "hour", TypeKind.INT64, 1, 1, Functions.part(ChronoField.HOUR_OF_DAY));
        add(functions, "minute", TypeKind.INT64, 1, 1, Functions.part(ChronoField.MINUTE_OF_HOUR));
        add(
                functions,
                "second",
                TypeKind.INT64,
                1,
                1,
                Functions.part(ChronoField.SECOND_OF_MINUTE));
        add(functions, "nullif", null, 2, 2, Function::nullIf);
        add(functions, "coalesce", null, 1, ARGUMENT_COUNT_MAX, Function::coalesce);
        add(functions, CONTAINS, TypeKind.BOOL, 2, 2, words(List::containsAll));
        add(
                functions,
                CONTAINS_ANY,
                TypeKind.BOOL,
                2,
                2,
                words((text, asked) -> !Collections.disjoint(text, asked)));
        add(
                functions,
                CONTAINS_PREFIX,
                TypeKind.BOOL,
                2,
                2,
                words((text, asked) -> asked.size() == 1
                        && text.stream().anyMatch(word -> word.startsWith(asked.getFirst()))));
        add(functions, WITHIN, TypeKind.BOOL, 5, 5, Function::within);
        addMore(functions);
        addTexts(functions);
        addTimesAndNumbers(functions);
        return functions;
    }

    /** What SQL is compiled to. */
    private static void addMore(Map<String, Function> functions) {
        for (TypeKind kind :
                List.of(TypeKind.INT8, TypeKind.INT16, TypeKind.INT32, TypeKind.INT64)) {
            add(functions, "to_" + kind.label(), kind, 1, 1, MoreFunctions.toWhole(kind));
        }
        add(functions, "to_decimal", TypeKind.DECIMAL, 3, 3, MoreFunctions::toDecimal);
        add(functions, "to_text", TypeKind.STRING, 1, 2, MoreFunctions::toText);
        add(functions, "to_datetime", TypeKind.DATETIME, 1, 1, MoreFunctions::toMoment);
        add(functions, "div", TypeKind.INT64, 2, 2, MoreFunctions::quotient);
        add(functions, "trim_blanks", TypeKind.STRING, 1, 1, text(MoreFunctions::trimmed));
        add(functions, "append", TypeKind.STRING, 1, ARGUMENT_COUNT_MAX, MoreFunctions::append);
        add(functions, "attempt", null, 1, 1, MoreFunctions::attempt);
        add(functions, "only", null, 2, 2, MoreFunctions::only);
        add(functions, ITEM, null, 2, 2, MoreFunctions::item);
        add(functions, CARDINALITY, TypeKind.INT64, 1, 1, MoreFunctions::cardinality);
        add(functions, OPEN_FIELD, null, 1, ARGUMENT_COUNT_MAX, MoreFunctions::openField);
        add(functions, "position", TypeKind.INT64, 2, 2, MoreFunctions::position);
        add(functions, "like", TypeKind.BOOL, 2, 3, MoreFunctions::like);
        add(functions, "sqrt", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("sqrt", Math::sqrt));
        add(functions, "ln", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("ln", Math::log));
        add(functions, "log10", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("log10", Math::log10));
        add(functions, "exp", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("exp", Math::exp));
        add(functions, "sin", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("sin", Math::sin));
        add(functions, "cos", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("cos", Math::cos));
        add(functions, "tan", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("tan", Math::tan));
        add(functions, "asin", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("asin", Math::asin));
        add(functions, "acos", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("acos", Math::acos));
        add(functions, "atan", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("atan", Math::atan));
        add(functions, "cbrt", TypeKind.DOUBLE, 1, 1, MoreFunctions.math("cbrt", Math::cbrt));
        add(
                functions,
                "degrees",
                TypeKind.DOUBLE,
                1,
                1,
                MoreFunctions.math("degrees", Math::toDegrees));
        add(
                functions,
                "radians",
                TypeKind.DOUBLE,
                1,
                1,
                MoreFunctions.math("radians", Math::toRadians));
        add(functions, "power", TypeKind.DOUBLE, 2, 2, MoreFunctions::power);
        add(functions, "x_of", TypeKind.DOUBLE, 1, 1, MoreFunctions.coordinate("x_of", Point::x));
        add(functions, "y_of", TypeKind.DOUBLE, 1, 1, MoreFunctions.coordinate("y_of", Point::y));
        add(functions, "cell_of", TypeKind.POINT, 3, 3, CellFunction::corner);
    }

    private static void addTexts(Map<String, Function> functions) {
        TypeKind string = TypeKind.STRING;
        add(functions, "left", string, 2, 2, TextFunctions::left);
        add(functions, "right", string, 2, 2, TextFunctions::right);
        add(functions, "lpad", string, 2, 3, TextFunctions.padding(true));
        add(functions, "rpad", string, 2, 3, TextFunctions.padding(false));
        add(functions, "repeat", string, 2, 2, TextFunctions::repeat);
        add(functions, "reverse", string, 1, 1, TextFunctions::reverse);
        add(functions, "split_part", string, 3, 3, TextFunctions::part);
        add(functions, "concat_ws", string, 2, ARGUMENT_COUNT_MAX, TextFunctions::joined);
        add(functions, "trim_of", string, 3, 3, TextFunctions::trimmed);
        add(functions, "ilike", TypeKind.BOOL, 2, 3, MoreFunctions::likeOfAnyCase);
        add(functions, "regexp_like", TypeKind.BOOL, 2, 3, RegularExpressions::like);
        add(functions, "regexp_replace", string, 3, 4, RegularExpressions::replace);
    }

    private static void addTimesAndNumbers(Map<String, Function> functions) {
        add(functions, "part", TypeKind.INT64, 2, 2, TimeFunctions::part);
        add(functions, "date_trunc", TypeKind.DATETIME, 2, 2, TimeFunctions::truncated);
        add(functions, "sign", null, 1, 1, NumberFunctions::sign);
        add(functions, "trunc", null, 1, 2, NumberFunctions.rounding("trunc", RoundingMode.DOWN));
        add(
                functions,
                "greatest",
                null,
                1,
                ARGUMENT_COUNT_MAX,
                NumberFunctions.extreme("greatest", Operator.GREATER));
        add(
                functions,
                "least",
                null,
                1,
                ARGUMENT_COUNT_MAX,
                NumberFunctions.extreme("least", Operator.LESS));
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

    @Nullable
    Object apply(List<BoundExpression> arguments, BoundExpression.Row row) {
        return body.apply(arguments, row);
    }

    /** Whether its first argument is a whole array. */
    public boolean takesArray() {
        return functionName.equals(ITEM) || functionName.equals(CARDINALITY);
    }

    boolean takes(int argumentCount) {
        return argumentCount >= argumentCountMin && argumentCount <= argumentCountMax;
    }

    String argumentCounts() {
        if (argumentCountMin == argumentCountMax) {
            return argumentCountMin == 1 ? "1 argument" : argumentCountMin + " arguments";
        }
        return "%d to %d arguments".formatted(argumentCountMin, argumentCountMax);
    }

    private static @Nullable Object point(
            List<BoundExpression> arguments, BoundExpression.Row row) {
        Object x = arguments.get(0).evaluate(row);
        Object y = arguments.get(1).evaluate(row);
        return x == null || y == null ? null : new Point(Values.number(x), Values.number(y));
    }

    private static @Nullable Object rectangle(
            List<BoundExpression> arguments, BoundExpression.Row row) {
        double[] sides = numbers(arguments, row);
        return sides == null ? null : new Rectangle(sides[0], sides[1], sides[2], sides[3]);
    }

    private static double @Nullable [] numbers(
            List<BoundExpression> arguments, BoundExpression.Row row) {
        double[] numbers = new double[arguments.size()];
        for (int i = 0; i < numbers.length; i++) {
            Object value = arguments.get(i).evaluate(row);
            if (value == null) {
                return null;
            }
            numbers[i] = Values.number(value);
        }
        return numbers;
    }

    private static Body text(UnaryOperator<String> change) {
        return (arguments, row) -> {
            Object value = arguments.getFirst().evaluate(row);
            return value == null ? null : change.apply(Values.text(value));
        };
    }

    /** Null counts as the empty text. */
    private static Object concat(List<BoundExpression> arguments, BoundExpression.Row row) {
        StringBuilder joined = new StringBuilder();
        for (BoundExpression argument : arguments) {
            Object value = argument.evaluate(row);
            joined.append(value == null ? "" : Values.text(value));
        }
        return joined.toString();
    }

    /** The first value, or null if its text is the second's: {@code nullif(delay, 'NA')}. */
    private static @Nullable Object nullIf(
            List<BoundExpression> arguments, BoundExpression.Row row) {
        Object value = arguments.get(0).evaluate(row);
        Object unwanted = arguments.get(1).evaluate(row);
        boolean same = value != null
                && unwanted != null
                && Values.text(value).equals(Values.text(unwanted));
        return same ? null : value;
    }

    private static @Nullable Object coalesce(
            List<BoundExpression> arguments, BoundExpression.Row row) {
        for (BoundExpression argument : arguments) {
            Object value = argument.evaluate(row);
            if (value != null) {
                return value;
            }
        }
        return null;
    }

    /** Compares the words of a text with those that are asked for. */
    private static Body words(BiPredicate<List<String>, List<String>> holds) {
        return (arguments, row) -> {
            Object text = arguments.get(0).evaluate(row);
            Object asked = arguments.get(1).evaluate(row);
            return (text == null || asked == null)
                    ? null
                    : holds.test(
                            WordCursor.wordsOf(Values.text(text)),
                            WordCursor.wordsOf(Values.text(asked)));
        };
    }

    private static @Nullable Object within(
            List<BoundExpression> arguments, BoundExpression.Row row) {
        Object place = arguments.getFirst().evaluate(row);
        double[] sides = numbers(arguments.subList(1, arguments.size()), row);
        if (place == null || sides == null) {
            return null;
        }
        Rectangle window = new Rectangle(sides[0], sides[1], sides[2], sides[3]);
        Rectangle box = switch (place) {
            case Point(double x, double y) -> new Rectangle(x, y, x, y);
            case Rectangle rectangle -> rectangle;
            default ->
                throw new InvalidRequestException(
                        "within takes a point or a rectangle, not %s".formatted(place));
        };
        return box.minX() <= window.maxX()
                && box.maxX() >= window.minX()
                && box.minY() <= window.maxY()
                && box.maxY() >= window.minY();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Function function && function.functionName.equals(functionName);
    }

    @Override
    public int hashCode() {
        return functionName.hashCode();
    }

    @Override
    public String toString() {
        return functionName;
    }
}
