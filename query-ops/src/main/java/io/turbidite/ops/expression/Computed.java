package io.turbidite.ops.expression;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.expr.Arithmetic;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Function;
import io.turbidite.core.expr.Literal;
import io.turbidite.core.expr.Values;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.ColumnValue;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.RecordPredicate;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The value of an expression, worked out for one record after another and kept here until the next:
 * as a whole number, a double, bytes of a text, or an object, by its kind. <em>Confined to one
 * thread.</em>
 */
public abstract sealed class Computed implements ColumnValue {
    private final TypeKind kind;
    private final Slice bytes = new Slice();
    private @Nullable ByteSink textBytes;
    private @Nullable Object object;
    private long number;
    private double fraction;

    private Computed(TypeKind kind) {
        this.kind = kind;
    }

    static Computed of(TypedExpression typed) {
        return of(typed.expression(), typed.type(), typed.kind());
    }

    /** As {@code kind}, to which the expression's own kind widens. */
    private static Computed of(Expression expression, RecordType type, TypeKind kind) {
        TypeKind own = TypedExpression.kindOf(expression, type);
        if (own != null && own != kind && kind == TypeKind.DOUBLE && isWhole(own)) {
            return new Widened(of(expression, type, own));
        }
        return switch (expression) {
            case Expression.Name(String name)
            when own == kind || (own != null && TypedExpression.wide(own) == kind) ->
                new OfField(type.indexOf(name), kind);
            case Expression.Constant(Literal literal)
            when own != null -> new Constant(literal, kind);
            case Expression.Call(Function function, List<Expression> arguments)
            when function.equals(Function.CASE) -> new Choice(arguments, type, kind);
            case Expression.Call(Function function, List<Expression> arguments)
            when own == kind && isOfNumbers(function, kind) ->
                calculated(
                        Objects.requireNonNull(function.sign()), arguments, type, kind, expression);
            case Expression.Call(Function function, List<Expression> arguments)
            when function.functionName().equals(Function.ITEM)
                    && own == kind
                    && arguments.get(0) instanceof Expression.Name(String array)
                    && arguments.get(1) instanceof Expression.Constant(Literal literal)
                    && literal instanceof Literal.Numeric number ->
                new OfElement(type, type.indexOf(array), number.value(), kind);
            default -> new Evaluated(expression, type, kind);
        };
    }

    private static boolean isOfNumbers(Function function, TypeKind kind) {
        return function.sign() != null && (KindValues.isLong(kind) || kind == TypeKind.DOUBLE);
    }

    private static boolean isWhole(TypeKind kind) {
        return TypedExpression.wide(kind) == TypeKind.INT64;
    }

    private static Computed calculated(
            Arithmetic sign,
            List<Expression> arguments,
            RecordType type,
            TypeKind kind,
            Expression whole) {
        TypeKind left = Objects.requireNonNull(TypedExpression.kindOf(arguments.get(0), type));
        TypeKind right = Objects.requireNonNull(TypedExpression.kindOf(arguments.get(1), type));
        if (kind == TypeKind.DOUBLE) {
            return new DoubleMath(
                    sign,
                    of(arguments.get(0), type, TypeKind.DOUBLE),
                    of(arguments.get(1), type, TypeKind.DOUBLE),
                    whole);
        }
        return new LongMath(
                sign,
                of(arguments.get(0), type, TypedExpression.wide(left)),
                of(arguments.get(1), type, TypedExpression.wide(right)),
                kind,
                whole);
    }

    /** The kind of its values. */
    public final TypeKind kind() {
        return kind;
    }

    /**
     * Works it out.
     *
     * @return whether there is a value; false: it is null
     * @throws InvalidRequestException if it has none for this record: it overflows, divides by zero
     *     or can't be read as a type
     */
    public abstract boolean compute(RecordView record);

    /** The value, of the kinds of {@link KindValues#isLong}. */
    public final long number() {
        return number;
    }

    /** The value, of floats and doubles. */
    public final double fraction() {
        return fraction;
    }

    /** The value, of strings and binary values; valid until the next, and as long as the record. */
    public final Slice bytes() {
        return bytes;
    }

    /** The value, of all other kinds. */
    public final Object object() {
        return Objects.requireNonNull(object);
    }

    @Override
    public final void set(RecordView record, RecordWriter row, int field) {
        if (!compute(record)) {
            row.setNull(field);
        } else if (KindValues.isLong(kind)) {
            row.setLong(field, number);
        } else {
            switch (kind) {
                case FLOAT, DOUBLE -> row.setDouble(field, fraction);
                case STRING -> row.setString(field, bytes);
                case BINARY -> row.setBinary(field, bytes);
                default -> row.setObject(field, object());
            }
        }
    }

    /** Takes over a value of the same kind. */
    final void take(Computed other) {
        number = other.number;
        fraction = other.fraction;
        object = other.object;
        bytes.set(other.bytes);
    }

    final boolean setNumber(long value) {
        number = value;
        return true;
    }

    final boolean setFraction(double value) {
        fraction = value;
        return true;
    }

    /** Takes a decoded value, or one that is read as the kind. */
    final boolean setObject(@Nullable Object value) {
        if (value == null) {
            return false;
        }
        if (KindValues.isLong(kind)) {
            number = KindValues.toLong(kind, value instanceof Values.Numeral n ? whole(n) : value);
            return true;
        }
        switch (kind) {
            case FLOAT, DOUBLE ->
                fraction = value instanceof Values.Numeral(String text)
                        ? Double.parseDouble(text)
                        : ((Number) value).doubleValue();
            case STRING -> {
                ByteSink sink = textBytes;
                if (sink == null) {
                    sink = new ByteSink(64, Integer.MAX_VALUE - 8);
                    textBytes = sink;
                }
                sink.clear().putUtf8(Values.text(value)).asSlice(bytes);
            }
            case BINARY -> bytes.set(Slice.of((byte[]) value));
            case DECIMAL ->
                object = KindValues.toDecimal(
                        value instanceof Values.Numeral(String text)
                                ? new BigDecimal(text)
                                : value);
            default -> object = value;
        }
        return true;
    }

    private static Long whole(Values.Numeral numeral) {
        return new BigDecimal(numeral.text()).longValueExact();
    }

    /** Reads a field. */
    private static final class OfField extends Computed {
        private final int field;
        private final boolean isLong;

        OfField(int field, TypeKind kind) {
            super(kind);
            this.field = field;
            this.isLong = KindValues.isLong(kind);
        }

        @Override
        public boolean compute(RecordView record) {
            if (record.isAbsent(field)) {
                return false;
            }
            if (isLong) {
                return setNumber(record.getLong(field));
            }
            return switch (kind()) {
                // the sum of -0.0 and 0.0 is 0.0: one value, as decoding has it
                case FLOAT, DOUBLE -> setFraction(record.getDouble(field) + 0.0);
                case STRING, BINARY -> {
                    record.getBytes(field, bytes());
                    yield true;
                }
                default -> setObject(record.get(field));
            };
        }
    }

    /** Reads the element of an array that has a certain number. */
    private static final class OfElement extends Computed {
        private final int each;
        private final OfField element;

        /** Counted from 1; 0 where no array has such an element. */
        private final int number;

        OfElement(RecordType type, int array, BigDecimal number, TypeKind kind) {
            super(kind);
            this.each = type.eachOf(array);
            this.element = new OfField(each, kind);
            boolean isPlace =
                    number.signum() > 0 && number.compareTo(new BigDecimal(Integer.MAX_VALUE)) < 0;
            this.number = isPlace ? number.intValue() : 0;
        }

        @Override
        public boolean compute(RecordView record) {
            int left = number;
            boolean isThere = left > 0 && record.firstElement(each);
            while (isThere && --left > 0) {
                isThere = record.nextElement(each);
            }
            if (!isThere || !element.compute(record)) {
                return false;
            }
            take(element);
            return true;
        }
    }

    /** A constant but null. */
    private static final class Constant extends Computed {
        Constant(Literal literal, TypeKind kind) {
            super(kind);
            switch (literal) {
                case Literal.Bool(boolean value) -> setObject(value);
                case Literal.Numeric numeric -> setObject(new Values.Numeral(numeric.text()));
                case Literal.Text(String value) -> setObject(value);
                case Literal.Null _ -> throw new IllegalArgumentException(literal.text());
            }
        }

        @Override
        public boolean compute(RecordView record) {
            return true;
        }
    }

    /** A whole number as a double. */
    private static final class Widened extends Computed {
        private final Computed whole;

        Widened(Computed whole) {
            super(TypeKind.DOUBLE);
            this.whole = whole;
        }

        @Override
        public boolean compute(RecordView record) {
            return whole.compute(record) && setFraction((double) whole.number());
        }
    }

    /** Whole numbers, days and microseconds. */
    private static final class LongMath extends Computed {
        private final Arithmetic sign;
        private final Computed left;
        private final Computed right;
        private final Expression whole;

        LongMath(Arithmetic sign, Computed left, Computed right, TypeKind kind, Expression whole) {
            super(kind);
            this.sign = sign;
            this.left = left;
            this.right = right;
            this.whole = whole;
        }

        @Override
        public boolean compute(RecordView record) {
            if (!left.compute(record) || !right.compute(record)) {
                return false;
            }
            try {
                return setNumber(
                        KindValues.checkRange(kind(), sign.ofLongs(left.number(), right.number())));
            } catch (InvalidRequestException e) {
                throw in(whole, e);
            }
        }
    }

    /** Doubles. */
    private static final class DoubleMath extends Computed {
        private final Arithmetic sign;
        private final Computed left;
        private final Computed right;
        private final Expression whole;

        DoubleMath(Arithmetic sign, Computed left, Computed right, Expression whole) {
            super(TypeKind.DOUBLE);
            this.sign = sign;
            this.left = left;
            this.right = right;
            this.whole = whole;
        }

        @Override
        public boolean compute(RecordView record) {
            if (!left.compute(record) || !right.compute(record)) {
                return false;
            }
            try {
                return setFraction(sign.ofDoubles(left.fraction(), right.fraction()));
            } catch (InvalidRequestException e) {
                throw in(whole, e);
            }
        }
    }

    private static InvalidRequestException in(Expression whole, InvalidRequestException e) {
        return new InvalidRequestException("%s, in: %s".formatted(e.getMessage(), whole.text()), e);
    }

    /** The first value whose condition is true. */
    private static final class Choice extends Computed {
        private final RecordPredicate[][] conditions;
        private final @Nullable Computed[] values;

        Choice(List<Expression> arguments, RecordType type, TypeKind kind) {
            super(kind);
            int count = arguments.size() / 2;
            this.conditions = new RecordPredicate[count][];
            this.values = new Computed[count + 1];
            for (int i = 0; i < count; i++) {
                conditions[i] = Conditions.of(
                                type, List.of(), List.of(arguments.get(2 * i)), Map.of())
                        .compile();
                values[i] = value(arguments.get(2 * i + 1), type, kind);
            }
            values[count] =
                    arguments.size() % 2 == 0 ? null : value(arguments.getLast(), type, kind);
        }

        /** Null for a constant null. */
        private static @Nullable Computed value(Expression value, RecordType type, TypeKind kind) {
            return TypedExpression.kindOf(value, type) == null
                    ? null
                    : Computed.of(value, type, kind);
        }

        @Override
        public boolean compute(RecordView record) {
            int chosen = 0;
            while (chosen < conditions.length && !holds(conditions[chosen], record)) {
                chosen++;
            }
            Computed value = values[chosen];
            if (value == null || !value.compute(record)) {
                return false;
            }
            take(value);
            return true;
        }

        private static boolean holds(RecordPredicate[] terms, RecordView record) {
            for (RecordPredicate term : terms) {
                if (!term.matches(record)) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Anything else, over decoded values: objects for each record. */
    private static final class Evaluated extends Computed implements BoundExpression.Row {
        private final BoundExpression bound;
        private final Expression whole;
        private @Nullable RecordView record;

        Evaluated(Expression expression, RecordType type, TypeKind kind) {
            super(kind);
            this.whole = expression;
            this.bound = BoundExpression.of(
                    expression, name -> Conditions.requireDeclared(type, name, expression.text()));
        }

        @Override
        public boolean compute(RecordView view) {
            record = view;
            try {
                return setObject(bound.evaluate(this));
            } catch (InvalidRequestException e) {
                throw in(whole, e);
            }
        }

        @Override
        public @Nullable Object value(int index) {
            return record == null ? null : record.get(index);
        }

        @Override
        public @Nullable Object open(String name) {
            return record == null ? null : record.get(name);
        }
    }
}
