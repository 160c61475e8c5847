package io.turbidite.ops.expression;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Arithmetic;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Function;
import io.turbidite.core.expr.Literal;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.Conditions;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * An expression over the records of a type, and the kind of its values. <em>Immutable.</em>
 *
 * @param expression in the language of fields
 * @param type of the records
 * @param kind of the values; whole numbers are int64 once they are calculated with
 */
public record TypedExpression(Expression expression, RecordType type, TypeKind kind) {
    /** Functions whose result is of the kind of what they are given. */
    private static final Set<String> OF_NUMBERS =
            Set.of("negative", "abs", "floor", "ceil", "round", "trunc", "sign");

    /**
     * Types an expression.
     *
     * @throws InvalidRequestException if a field is not declared, is an array, its elements or a
     *     nested record, or if values do not go together
     */
    public static TypedExpression of(Expression expression, RecordType type) {
        TypeKind kind = kindOf(expression, type);
        if (kind == null) {
            throw new InvalidRequestException(
                    "%s has no type: it is always null".formatted(expression.text()));
        }
        return new TypedExpression(expression, type, kind);
    }

    /** Evaluates it, for one thread. */
    public Computed computed() {
        return Computed.of(this);
    }

    /** The kind of a part; null of a constant null. */
    static @Nullable TypeKind kindOf(Expression expression, RecordType type) {
        return switch (expression) {
            case Expression.Name(String name) -> fieldKind(type, name, expression);
            case Expression.Constant(Literal literal) ->
                switch (literal) {
                    case Literal.Text _ -> TypeKind.STRING;
                    case Literal.Bool _ -> TypeKind.BOOL;
                    case Literal.Numeric number ->
                        isWhole(number.value()) ? TypeKind.INT64 : TypeKind.DECIMAL;
                    case Literal.Null _ -> null;
                };
            case Expression.Call(Function function, List<Expression> arguments) ->
                kindOf(function, arguments, type, expression);
            case Expression.Comparison _, Expression.And _, Expression.Or _ -> {
                checkFields(expression, type, expression);
                yield TypeKind.BOOL;
            }
            case Expression.Parameter(String name) ->
                throw new InvalidRequestException(
                        "parameter ':%s' may stand in conditions alone".formatted(name));
            case Expression.Path _ -> throw new IllegalArgumentException(expression.text());
        };
    }

    /** All fields of a condition have one simple value, but arrays where functions take them. */
    private static void checkFields(Expression part, RecordType type, Expression whole) {
        switch (part) {
            case Expression.Name(String name) -> {
                var _ = fieldKind(type, name, whole);
            }
            case Expression.Call(Function function, List<Expression> arguments) -> {
                if (function.takesArray()) {
                    var _ = ofArray(function, arguments, type, whole);
                } else {
                    arguments.forEach(argument -> checkFields(argument, type, whole));
                }
            }
            case Expression.Comparison(Expression left, var _, Expression right) -> {
                checkFields(left, type, whole);
                checkFields(right, type, whole);
            }
            case Expression.And(List<Expression> terms) ->
                terms.forEach(term -> checkFields(term, type, whole));
            case Expression.Or(List<Expression> terms) ->
                terms.forEach(term -> checkFields(term, type, whole));
            case Expression.Constant _, Expression.Parameter _, Expression.Path _ -> {}
        }
    }

    static boolean isWhole(BigDecimal number) {
        return number.scale() == 0 && number.unscaledValue().bitLength() < Long.SIZE;
    }

    private static TypeKind fieldKind(RecordType type, String name, Expression expression) {
        int field = Conditions.requireDeclared(type, name, expression.text());
        TypeKind kind = type.field(field).kind();
        if (type.isEach(field) || !kind.isScalar()) {
            throw new InvalidRequestException(
                    "expression names '%s', which has not one simple value: only fields of one are calculated with"
                            .formatted(name));
        }
        return kind;
    }

    private static @Nullable TypeKind kindOf(
            Function function, List<Expression> arguments, RecordType type, Expression whole) {
        Arithmetic sign = function.sign();
        if (function.equals(Function.CASE)) {
            List<Expression> values = new ArrayList<>();
            int last = arguments.size() - 1;
            for (int i = 0; i < last; i += 2) {
                Conditions.checkWhere(type, List.of(arguments.get(i)));
                values.add(arguments.get(i + 1));
            }
            if (last % 2 == 0) {
                values.add(arguments.get(last));
            }
            return commonKind(values, type, whole);
        }
        if (function.takesArray()) {
            return ofArray(function, arguments, type, whole);
        }
        if (function.functionName().equals(Function.OPEN_FIELD)) {
            // what it is differs from record to record: its text is what all have
            return TypeKind.STRING;
        }
        List<@Nullable TypeKind> kinds = new ArrayList<>();
        for (Expression argument : arguments) {
            kinds.add(kindOf(argument, type));
        }
        if (sign != null) {
            return calculated(sign, kinds.get(0), kinds.get(1), whole);
        }
        String name = function.functionName();
        if (OF_NUMBERS.contains(name)) {
            return numberOf(name, kinds.getFirst(), whole);
        }
        return switch (name) {
            case "coalesce", "greatest", "least" -> commonKind(arguments, type, whole);
            case "nullif", "only", "attempt" -> kinds.getFirst();
            default -> function.result();
        };
    }

    /** Of a function whose first argument is a whole array. */
    private static @Nullable TypeKind ofArray(
            Function function, List<Expression> arguments, RecordType type, Expression whole) {
        int array = arguments.getFirst() instanceof Expression.Name(String name)
                ? Conditions.requireDeclared(type, name, whole.text())
                : RecordType.TOP;
        if (array < 0 || type.isEach(array) || type.field(array).kind() != TypeKind.ARRAY) {
            throw new InvalidRequestException("%s takes a field that is an array, in: %s"
                    .formatted(function.functionName(), whole.text()));
        }
        for (Expression argument : arguments.subList(1, arguments.size())) {
            TypeKind number = kindOf(argument, type);
            if (number != null && wide(number) != TypeKind.INT64) {
                throw new InvalidRequestException(
                        "elements are counted by whole numbers, in: %s".formatted(whole.text()));
            }
        }
        return function.functionName().equals(Function.ITEM)
                ? type.field(array).elementKind()
                : function.result();
    }

    private static @Nullable TypeKind calculated(
            Arithmetic sign, @Nullable TypeKind left, @Nullable TypeKind right, Expression whole) {
        if (left == null || right == null) {
            return null;
        }
        TypeKind kind = sign.resultKind(wide(left), wide(right));
        if (kind == null) {
            throw new InvalidRequestException("'%s' does not go between %s and %s, in: %s"
                    .formatted(sign.symbol(), left.label(), right.label(), whole.text()));
        }
        return kind;
    }

    private static @Nullable TypeKind numberOf(
            String name, @Nullable TypeKind kind, Expression whole) {
        if (kind == null) {
            return null;
        }
        boolean isRounding = !name.equals("negative") && !name.equals("abs");
        TypeKind wide = wide(kind);
        if (!isNumber(wide) && (isRounding || wide != TypeKind.DURATION)) {
            throw new InvalidRequestException(
                    "%s takes numbers, not %s, in: %s".formatted(name, kind.label(), whole.text()));
        }
        return wide;
    }

    /** Of values of which one is taken: numbers have the widest kind, others must be of one. */
    private static @Nullable TypeKind commonKind(
            List<Expression> values, RecordType type, Expression whole) {
        TypeKind common = null;
        for (Expression value : values) {
            TypeKind kind = kindOf(value, type);
            if (kind == null || kind == common) {
                continue;
            }
            TypeKind wider = common == null ? kind : wider(common, kind);
            if (wider == null) {
                throw new InvalidRequestException("%s and %s are not of one type, in: %s"
                        .formatted(kind.label(), String.valueOf(common), whole.text()));
            }
            common = wider;
        }
        return common;
    }

    private static @Nullable TypeKind wider(TypeKind a, TypeKind b) {
        TypeKind sum = Arithmetic.PLUS.resultKind(wide(a), wide(b));
        return sum != null && isNumber(sum) ? sum : null;
    }

    private static boolean isNumber(TypeKind kind) {
        return kind == TypeKind.INT64 || kind == TypeKind.DOUBLE || kind == TypeKind.DECIMAL;
    }

    /** The kind that values of this one are calculated with. */
    static TypeKind wide(TypeKind kind) {
        return switch (kind) {
            case INT8, INT16, INT32, INT64 -> TypeKind.INT64;
            case FLOAT, DOUBLE -> TypeKind.DOUBLE;
            default -> kind;
        };
    }

    @Override
    public String toString() {
        return expression.text();
    }
}
