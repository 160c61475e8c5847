package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * An expression whose names are numbered: its meaning over the values of one record after another.
 * <em>Immutable;</em> as safe as the rows it is given.
 *
 * <p>The value of a condition is true, false, or null if it is unknown.
 */
public sealed interface BoundExpression {
    /** What an expression reads: the values of one record, by the number its name was bound to. */
    interface Row {
        /** A value of the record: text if it comes from text; null where there is none. */
        @Nullable
        Object value(int index);

        /** The value of a field at the top of the record, declared or not; null: there is none. */
        default @Nullable Object open(String name) {
            throw new InvalidRequestException(
                    "field '%s' is not declared: there are no others here".formatted(name));
        }
    }

    /** Numbers the names of an expression. */
    @FunctionalInterface
    interface Binding {
        /** The number of a field, or an exception that says what fields there are. */
        int field(String name);

        /** The number of a field that is an array, for the functions of whole arrays. */
        default int array(String name) {
            return field(name);
        }

        /**
         * The value that a parameter stands for.
         *
         * @throws InvalidRequestException if nobody gives it one
         */
        default @Nullable Object parameter(String name) {
            throw new InvalidRequestException(
                    "parameter ':%s' stands for a value that nobody gives here".formatted(name));
        }
    }

    /** The type of the result; STRING also for what is read from text; null if it depends. */
    @Nullable
    TypeKind kind();

    /**
     * The value for a record.
     *
     * @throws InvalidRequestException if a value isn't what a function takes
     */
    @Nullable
    Object evaluate(Row row);

    /**
     * Binds an expression over a flat record.
     *
     * @throws InvalidRequestException if it has a path
     */
    static BoundExpression of(Expression expression, Binding binding) {
        return switch (expression) {
            case Expression.Name(String name) -> new Value(binding.field(name));
            case Expression.Constant(Literal literal) -> constant(literal);
            case Expression.Call(Function function, List<Expression> arguments) ->
                new Result(
                        function,
                        all(arguments, function.takesArray() ? ofArray(binding) : binding));
            case Expression.Comparison(Expression left, Operator operator, Expression right) -> {
                BoundExpression other = side(right, binding);
                yield other instanceof Fixed(var value, var _) && value == null
                        ? absence(of(left, binding), operator, expression)
                        : new Compared(of(left, binding), operator, other);
            }
            case Expression.And(List<Expression> terms) -> new Joined(all(terms, binding), false);
            case Expression.Or(List<Expression> terms) -> new Joined(all(terms, binding), true);
            case Expression.Parameter(String name) -> new Fixed(binding.parameter(name), null);
            case Expression.Path _ ->
                throw new InvalidRequestException(
                        "%s is a path, but the record is flat".formatted(expression.text()));
        };
    }

    /** Where names stand for whole arrays. */
    private static Binding ofArray(Binding binding) {
        return new Binding() {
            @Override
            public int field(String name) {
                return binding.array(name);
            }

            @Override
            public @Nullable Object parameter(String name) {
                return binding.parameter(name);
            }
        };
    }

    /** A constant or parameter that is null asks whether there is a value. */
    private static Absence absence(BoundExpression left, Operator operator, Expression whole) {
        operator.requireTakesNull(whole);
        return new Absence(left, operator == Operator.EQUAL);
    }

    private static List<BoundExpression> all(List<Expression> expressions, Binding binding) {
        return expressions.stream().map(e -> of(e, binding)).toList();
    }

    /** The right side of a comparison: a constant number is worked out once. */
    private static BoundExpression side(Expression right, Binding binding) {
        return right instanceof Expression.Constant(Literal literal)
                        && literal instanceof Literal.Numeric number
                ? new Fixed(number.value(), null)
                : of(right, binding);
    }

    private static Fixed constant(Literal literal) {
        return switch (literal) {
            case Literal.Text(String value) -> new Fixed(value, TypeKind.STRING);
            case Literal.Numeric(String text) ->
                new Fixed(new Values.Numeral(text), TypeKind.STRING);
            case Literal.Bool(boolean value) -> new Fixed(value, TypeKind.BOOL);
            case Literal.Null _ -> new Fixed(null, null);
        };
    }

    /** A value of the record. */
    record Value(int index) implements BoundExpression {
        @Override
        public @Nullable TypeKind kind() {
            return null;
        }

        @Override
        public @Nullable Object evaluate(Row row) {
            return row.value(index);
        }
    }

    /** A constant. */
    record Fixed(@Nullable Object value, @Nullable TypeKind kind) implements BoundExpression {
        @Override
        public @Nullable Object evaluate(Row row) {
            return value;
        }
    }

    /** What a function makes. */
    record Result(Function function, List<BoundExpression> arguments) implements BoundExpression {
        @Override
        public @Nullable TypeKind kind() {
            return function.result();
        }

        @Override
        public @Nullable Object evaluate(Row row) {
            return function.apply(arguments, row);
        }
    }

    /** Whether there is no value, or whether there is one. */
    record Absence(BoundExpression operand, boolean isAbsent) implements BoundExpression {
        @Override
        public TypeKind kind() {
            return TypeKind.BOOL;
        }

        @Override
        public Object evaluate(Row row) {
            return (operand.evaluate(row) == null) == isAbsent;
        }
    }

    /** Two values compared. */
    record Compared(BoundExpression left, Operator operator, BoundExpression right)
            implements BoundExpression {
        @Override
        public TypeKind kind() {
            return TypeKind.BOOL;
        }

        @Override
        public @Nullable Object evaluate(Row row) {
            return Values.compare(left.evaluate(row), operator, right.evaluate(row));
        }
    }

    /**
     * Conditions of which all must hold, or one.
     *
     * @param decisive the truth of a term that settles it: true for one of them, false for all
     */
    record Joined(List<BoundExpression> terms, boolean decisive) implements BoundExpression {
        @Override
        public TypeKind kind() {
            return TypeKind.BOOL;
        }

        @Override
        public @Nullable Object evaluate(Row row) {
            boolean unknown = false;
            for (BoundExpression term : terms) {
                Object value = term.evaluate(row);
                if (value == null) {
                    unknown = true;
                } else if (value.equals(decisive)) {
                    return decisive;
                }
            }
            return unknown ? null : !decisive;
        }
    }
}
