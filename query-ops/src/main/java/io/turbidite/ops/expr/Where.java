package io.turbidite.ops.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Function;
import io.turbidite.core.expr.Literal;
import io.turbidite.core.expr.Operator;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The binding of conditions to encoded records of one type. <em>Immutable.</em>
 *
 * <p>A comparison of a field with a constant becomes a {@link Predicate} with the same meaning, so
 * that indexes, filters and compiled forms serve it. Fields have types: what no value of the type
 * can be compared with is refused. A number that the type does not have is put between two that it
 * has: {@code n > 2.5} of an integer is {@code n >= 3}. Anything else is evaluated over the decoded
 * values of a record.
 */
final class Where {
    private final RecordType type;
    private final Map<String, ? extends @Nullable Object> parameters;

    /**
     * The binding to a type.
     *
     * @param parameters what parameters stand for; others have no value
     */
    Where(RecordType type, Map<String, ? extends @Nullable Object> parameters) {
        this.type = type;
        this.parameters = parameters;
    }

    /** A condition as it is tested. */
    sealed interface Test {}

    /** The predicate holds; of a negated one the field has a value, and it does not hold. */
    record Is(Predicate predicate, boolean negated) implements Test {}

    /** No record can match. */
    record Never() implements Test {}

    /** Its value is true. */
    record Evaluated(BoundExpression expression) implements Test {}

    record AllOf(List<Test> tests) implements Test {}

    record AnyOf(List<Test> tests) implements Test {}

    /** Whether a condition calls a function, or compares two values of a record. */
    static boolean callsFunctions(Test test) {
        return switch (test) {
            case Is _, Never _ -> false;
            case Evaluated _ -> true;
            case AllOf(List<Test> tests) -> tests.stream().anyMatch(Where::callsFunctions);
            case AnyOf(List<Test> tests) -> tests.stream().anyMatch(Where::callsFunctions);
        };
    }

    /**
     * What a condition means for records of the type.
     *
     * @throws InvalidRequestException if a field is not declared, or the condition can be true of
     *     no record of the type whatever it holds
     */
    Test bind(Expression condition) {
        return switch (condition) {
            case Expression.And(List<Expression> terms) -> new AllOf(all(terms));
            case Expression.Or(List<Expression> terms) -> any(all(terms));
            case Expression.Comparison comparison -> compared(comparison);
            case Expression.Name _,
                    Expression.Path _,
                    Expression.Constant _,
                    Expression.Parameter _,
                    Expression.Call _ -> throw new IllegalArgumentException(condition.text());
        };
    }

    /** What no record can match, such as 2.5 among whole numbers, is left out. */
    private static Test any(List<Test> tests) {
        List<Test> possible =
                tests.stream().filter(test -> !(test instanceof Never)).toList();
        return possible.isEmpty() ? tests.getFirst() : new AnyOf(possible);
    }

    private List<Test> all(List<Expression> terms) {
        List<Test> tests = new ArrayList<>(terms.size());
        for (Expression term : terms) {
            tests.add(bind(term));
        }
        return tests;
    }

    /** Checks that the fields of a condition are declared. */
    void checkFields(Expression condition) {
        condition.forEachName(name -> declared(name, condition));
    }

    /** Adds the parameters of a condition that are not yet there, in their order. */
    static void collectParameters(Expression expression, List<String> names) {
        switch (expression) {
            case Expression.Parameter(String name) -> {
                if (!names.contains(name)) {
                    names.add(name);
                }
            }
            case Expression.Call(var _, List<Expression> arguments) ->
                arguments.forEach(a -> collectParameters(a, names));
            case Expression.Comparison(Expression left, var _, Expression right) -> {
                collectParameters(left, names);
                collectParameters(right, names);
            }
            case Expression.And(List<Expression> terms) ->
                terms.forEach(t -> collectParameters(t, names));
            case Expression.Or(List<Expression> terms) ->
                terms.forEach(t -> collectParameters(t, names));
            case Expression.Constant _, Expression.Name _, Expression.Path _ -> {}
        }
    }

    private int declared(String name, Expression use) {
        int field = type.indexOf(name);
        return field >= 0
                ? field
                : Conditions.requireDeclared(type, name, "condition " + use.text());
    }

    private Test compared(Expression.Comparison comparison) {
        if (comparison.left() instanceof Expression.Name(String name)) {
            Field field = new Field(name, type.field(declared(name, comparison)).kind());
            if (comparison.right() instanceof Expression.Constant(Literal literal)) {
                return compared(field, comparison, literal);
            }
            if (comparison.right() instanceof Expression.Parameter(String parameter)) {
                return compared(field, comparison, value(parameter));
            }
        }
        Test search = search(comparison);
        return search != null ? search : evaluated(comparison);
    }

    /** A declared field. */
    private record Field(String name, TypeKind kind) {}

    private Test compared(Field field, Expression.Comparison comparison, Literal literal) {
        Operator operator = comparison.operator();
        if (!field.kind.isScalar() && !(literal instanceof Literal.Null)) {
            throw whole(field, comparison);
        }
        return switch (literal) {
            case Literal.Null _ -> nullTest(field, operator);
            case Literal.Bool(boolean value) -> {
                require(field.kind == TypeKind.BOOL, field, comparison);
                yield matching(field, operator, value);
            }
            case Literal.Text(String text) -> {
                boolean fits = takesText(field.kind)
                        && (field.kind == TypeKind.STRING || !operator.isPrefix())
                        && !(operator.isOrder() && isShape(field.kind));
                require(fits, field, comparison);
                yield matching(field, operator, read(field, comparison, text));
            }
            case Literal.Numeric number -> {
                require(isNumber(field.kind), field, comparison);
                yield number(field, operator, number.value());
            }
        };
    }

    /** A parameter stands for a constant: one that is null asks whether there is a value. */
    private static Test compared(
            Field field, Expression.Comparison comparison, @Nullable Object value) {
        Operator operator = comparison.operator();
        if (value != null && !field.kind.isScalar()) {
            throw whole(field, comparison);
        }
        if (value != null) {
            require(
                    (!operator.isPrefix() || field.kind == TypeKind.STRING)
                            && !(operator.isOrder() && isShape(field.kind)),
                    field,
                    comparison);
            checkClass(field, comparison, value);
            return matching(field, operator, canonical(field.kind, value));
        }
        operator.requireTakesNull(comparison);
        return nullTest(field, operator);
    }

    /** In the class of the kind: equal values are equal objects. */
    private static Object canonical(TypeKind kind, Object value) {
        return KindValues.isLong(kind)
                ? KindValues.fromLong(kind, KindValues.toLong(kind, value))
                : value;
    }

    private static InvalidRequestException whole(Field field, Expression.Comparison comparison) {
        return new InvalidRequestException("condition %s: %s"
                .formatted(comparison.text(), PredicateCheck.wholeField(field.name, field.kind)));
    }

    private static void checkClass(Field field, Expression.Comparison comparison, Object value) {
        try {
            FieldRange.encode(field.kind, value);
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "condition %s: %s".formatted(comparison.text(), e.getMessage()), e);
        }
    }

    private @Nullable Object value(String parameter) {
        if (!parameters.containsKey(parameter)) {
            throw new InvalidRequestException(
                    "parameter '%s' has no value: prepare the query and run it with one"
                            .formatted(parameter));
        }
        return parameters.get(parameter);
    }

    private static void require(boolean fits, Field field, Expression.Comparison comparison) {
        if (!fits) {
            throw new InvalidRequestException(
                    "condition %s: field '%s' is of type %s, which does not compare so; it takes %s"
                            .formatted(
                                    comparison.text(),
                                    field.name,
                                    field.kind.label(),
                                    expected(field.kind)));
        }
    }

    private static String expected(TypeKind kind) {
        if (isNumber(kind)) {
            return "numbers";
        }
        return switch (kind) {
            case BOOL -> "= and != with true or false";
            case POINT, LONLAT, RECTANGLE ->
                "= and != with '[x,y]' or '[minX,minY,maxX,maxY]', and within";
            default -> "strings";
        };
    }

    private static boolean isNumber(TypeKind kind) {
        return switch (kind) {
            case INT8, INT16, INT32, INT64, FLOAT, DOUBLE, DECIMAL -> true;
            default -> false;
        };
    }

    private static boolean isShape(TypeKind kind) {
        return kind.isSpatial();
    }

    private static boolean takesText(TypeKind kind) {
        return kind != TypeKind.BOOL && !isNumber(kind);
    }

    private static Object read(Field field, Expression.Comparison comparison, String text) {
        try {
            return ValueParser.parse(field.kind, text);
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "condition %s: %s".formatted(comparison.text(), e.getMessage()), e);
        }
    }

    private static Is nullTest(Field field, Operator operator) {
        return operator == Operator.EQUAL
                ? new Is(new Predicate.Eq(field.name, null), false)
                : present(field);
    }

    private static Is present(Field field) {
        return new Is(new Predicate.Range(field.name, null, null), false);
    }

    private static Is from(Field field, Object low) {
        return new Is(new Predicate.Range(field.name, low, null), false);
    }

    private static Is upTo(Field field, Object high) {
        return new Is(new Predicate.Range(field.name, null, high), false);
    }

    /** A value of the field's type. */
    private static Test matching(Field field, Operator operator, Object value) {
        return switch (operator) {
            case EQUAL -> new Is(new Predicate.Eq(field.name, value), false);
            case NOT_EQUAL -> new Is(new Predicate.Eq(field.name, value), true);
            case LESS -> upTo(field, new Predicate.Excluded(value));
            case AT_MOST -> upTo(field, value);
            case GREATER -> from(field, new Predicate.Excluded(value));
            case AT_LEAST -> from(field, value);
            case STARTS_WITH -> starting(field, (String) value, false);
            case STARTS_NOT_WITH -> starting(field, (String) value, true);
        };
    }

    private static Test starting(Field field, String prefix, boolean negated) {
        if (prefix.isEmpty()) {
            return negated ? new Never() : present(field);
        }
        String behind = behind(prefix);
        return new Is(
                new Predicate.Range(
                        field.name, prefix, behind == null ? null : new Predicate.Excluded(behind)),
                negated);
    }

    /** The first string behind all that start with a prefix; null if there is none. */
    private static @Nullable String behind(String prefix) {
        int end = prefix.length();
        while (end > 0) {
            int last = prefix.codePointBefore(end);
            int start = end - Character.charCount(last);
            if (last < Character.MAX_CODE_POINT) {
                // no string has a surrogate by itself
                int next = last + 1 == Character.MIN_SURROGATE ? 0xE000 : last + 1;
                return prefix.substring(0, start) + Character.toString(next);
            }
            end = start;
        }
        return null;
    }

    private static Test number(Field field, Operator operator, BigDecimal value) {
        return switch (field.kind) {
            case FLOAT -> real(field, operator, value, Float.parseFloat(value.toString()));
            case DOUBLE -> real(field, operator, value, Double.parseDouble(value.toString()));
            case DECIMAL -> matching(field, operator, value);
            default -> integer(field, operator, value);
        };
    }

    /** The field has {@code nearest} and its neighbours, which may lie beside the number. */
    private static Test real(Field field, Operator operator, BigDecimal value, Number nearest) {
        double number = nearest.doubleValue();
        int order = Double.isInfinite(number)
                ? (int) Math.signum(number)
                : new BigDecimal(nearest.toString()).compareTo(value);
        return switch (operator) {
            case EQUAL -> order == 0 ? matching(field, operator, nearest) : new Never();
            case NOT_EQUAL -> order == 0 ? matching(field, operator, nearest) : present(field);
            case LESS -> matching(field, order < 0 ? Operator.AT_MOST : operator, nearest);
            case AT_MOST -> matching(field, order > 0 ? Operator.LESS : operator, nearest);
            case GREATER -> matching(field, order > 0 ? Operator.AT_LEAST : operator, nearest);
            case AT_LEAST -> matching(field, order < 0 ? Operator.GREATER : operator, nearest);
            case STARTS_WITH, STARTS_NOT_WITH -> throw new IllegalStateException(operator.name());
        };
    }

    private static Test integer(Field field, Operator operator, BigDecimal value) {
        BigInteger floor = value.setScale(0, RoundingMode.FLOOR).unscaledValue();
        boolean isWhole = new BigDecimal(floor).compareTo(value) == 0;
        BigInteger ceiling = isWhole ? floor : floor.add(BigInteger.ONE);
        return switch (operator) {
            case EQUAL, NOT_EQUAL ->
                isWhole && has(field.kind, floor)
                        ? matching(field, operator, of(field.kind, floor))
                        : operator == Operator.EQUAL ? new Never() : present(field);
            case LESS -> atMost(field, ceiling.subtract(BigInteger.ONE));
            case AT_MOST -> atMost(field, floor);
            case GREATER -> atLeast(field, floor.add(BigInteger.ONE));
            case AT_LEAST -> atLeast(field, ceiling);
            case STARTS_WITH, STARTS_NOT_WITH -> throw new IllegalStateException(operator.name());
        };
    }

    private static Test atMost(Field field, BigInteger high) {
        if (has(field.kind, high)) {
            return upTo(field, of(field.kind, high));
        }
        return high.signum() < 0 ? new Never() : present(field);
    }

    private static Test atLeast(Field field, BigInteger low) {
        if (has(field.kind, low)) {
            return from(field, of(field.kind, low));
        }
        return low.signum() > 0 ? new Never() : present(field);
    }

    private static boolean has(TypeKind kind, BigInteger number) {
        return number.bitLength() < Long.SIZE && KindValues.inRange(kind, number.longValue());
    }

    private static Object of(TypeKind kind, BigInteger number) {
        return KindValues.fromLong(kind, number.longValue());
    }

    /** {@code contains} and its like, {@code within}, of a field and constants; else null. */
    private @Nullable Test search(Expression.Comparison comparison) {
        boolean isEquality = comparison.operator() == Operator.EQUAL
                || comparison.operator() == Operator.NOT_EQUAL;
        if (!isEquality
                || !(comparison.left()
                        instanceof Expression.Call(Function function, List<Expression> arguments))
                || !(comparison.right() instanceof Expression.Constant(Literal literal))
                || !(literal instanceof Literal.Bool(boolean wanted))
                || !(arguments.getFirst() instanceof Expression.Name(String name))) {
            return null;
        }
        boolean negated = wanted != (comparison.operator() == Operator.EQUAL);
        Predicate predicate = switch (function.functionName()) {
            case Function.CONTAINS -> words(name, arguments);
            case Function.CONTAINS_ANY -> {
                String words = constantText(arguments);
                yield words == null
                        ? null
                        : new Predicate.Matches(name, new TextQuery.Any(Tokenizer.WORD, words));
            }
            case Function.CONTAINS_PREFIX -> {
                String beginning = constantText(arguments);
                yield beginning == null
                        ? null
                        : new Predicate.Matches(
                                name, new TextQuery.Prefix(Tokenizer.WORD, beginning));
            }
            case Function.WITHIN -> window(name, arguments);
            default -> null;
        };
        if (predicate == null) {
            return null;
        }
        PredicateCheck.checkKind(
                predicate, type.field(declared(name, comparison)).kind());
        return new Is(predicate, negated);
    }

    private static @Nullable Predicate words(String name, List<Expression> arguments) {
        String words = constantText(arguments);
        return words == null ? null : new Predicate.Contains(name, words);
    }

    private static @Nullable String constantText(List<Expression> arguments) {
        return arguments.get(1) instanceof Expression.Constant(Literal literal)
                        && literal instanceof Literal.Text(String text)
                ? text
                : null;
    }

    private static @Nullable Predicate window(String name, List<Expression> arguments) {
        double[] sides = new double[4];
        for (int i = 0; i < sides.length; i++) {
            if (!(arguments.get(i + 1) instanceof Expression.Constant(Literal literal))
                    || !(literal instanceof Literal.Numeric(String text))) {
                return null;
            }
            sides[i] = (double) ValueParser.parse(TypeKind.DOUBLE, text);
        }
        return Predicate.window(name, sides[0], sides[1], sides[2], sides[3]);
    }

    private Test evaluated(Expression.Comparison comparison) {
        TypeKind left = kind(comparison.left(), comparison);
        TypeKind right = kind(comparison.right(), comparison);
        if (left != null && right != null && !comparable(left, comparison, right)) {
            throw new InvalidRequestException("condition %s compares %s with %s"
                    .formatted(comparison.text(), left.label(), right.label()));
        }
        return new Evaluated(BoundExpression.of(comparison, new BoundExpression.Binding() {
            @Override
            public int field(String name) {
                int field = declared(name, comparison);
                TypeKind kind = type.field(field).kind();
                if (type.isEach(field) || !kind.isScalar()) {
                    throw new InvalidRequestException("condition %s: %s"
                            .formatted(
                                    comparison.text(),
                                    type.isEach(field)
                                            ? "'%s' compares with constants alone".formatted(name)
                                            : PredicateCheck.wholeField(name, kind)));
                }
                return field;
            }

            @Override
            public int array(String name) {
                return declared(name, comparison);
            }

            @Override
            public @Nullable Object parameter(String name) {
                return value(name);
            }
        }));
    }

    private static boolean comparable(
            TypeKind left, Expression.Comparison comparison, TypeKind right) {
        if (left == right || (isNumber(left) && isNumber(right))) {
            return true;
        }
        if (comparison.right() instanceof Expression.Constant(Literal literal)
                && literal instanceof Literal.Text(String text)
                && takesText(left)) {
            ValueParser.parse(left, text);
            return true;
        }
        return false;
    }

    /** The type of a value; null if it depends, or is not known before there is a record. */
    private @Nullable TypeKind kind(Expression expression, Expression whole) {
        return switch (expression) {
            case Expression.Name(String name) ->
                type.field(declared(name, whole)).kind();
            case Expression.Call(Function function, var _) -> function.result();
            case Expression.Constant(Literal literal) ->
                switch (literal) {
                    case Literal.Text _ -> TypeKind.STRING;
                    case Literal.Numeric _ -> TypeKind.DECIMAL;
                    case Literal.Bool _ -> TypeKind.BOOL;
                    case Literal.Null _ -> null;
                };
            case Expression.Parameter _, Expression.Path _ -> null;
            case Expression.Comparison _, Expression.And _, Expression.Or _ -> TypeKind.BOOL;
        };
    }
}
