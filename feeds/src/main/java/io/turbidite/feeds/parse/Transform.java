package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.Values;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.EnumSet;
import java.util.Set;

/**
 * A field's value as an expression over the record's other values. <em>Immutable.</em>
 *
 * @param field a declared field
 * @param text the expression as it was written
 */
public record Transform(String field, String text) {
    private static final Set<TypeKind> WHOLE =
            EnumSet.of(TypeKind.INT8, TypeKind.INT16, TypeKind.INT32, TypeKind.INT64);

    /**
     * Checks the expression's grammar and that its result fits {@code declared}, as far as can be
     * told without a record.
     *
     * @throws InvalidRequestException saying where in the text it goes wrong
     */
    public void check(Field declared) {
        TypeKind result = bind(name -> 0).kind();
        if (result != null && !fits(result, declared.kind())) {
            throw new InvalidRequestException("%s gives %s, but field '%s' is declared as %s"
                    .formatted(text, result.label(), field, declared.kind().label()));
        }
    }

    /** As {@link #check(Field)}, for the field of a type. */
    public void check(RecordType type) {
        Field declared = type.field(type.require(field, "transform"));
        if (!declared.kind().isScalar() || type.memberOf(RecordType.TOP, field) < 0) {
            throw new InvalidRequestException(
                    "field '%s' is an array, a record or lies in one: a transform makes one value at the top of a record"
                            .formatted(field));
        }
        check(declared);
    }

    /**
     * The expression with its names numbered.
     *
     * @param binding the number of a name, or an exception that says what names there are
     */
    BoundExpression bind(BoundExpression.Binding binding) {
        return BoundExpression.of(Expression.value(text, Expression.Grammar.TRANSFORM), binding);
    }

    /**
     * The value of an expression for {@code declared}: text is read by the field's type.
     *
     * @throws InvalidRequestException naming the field
     */
    static @Nullable Object evaluate(
            BoundExpression expression, Field declared, BoundExpression.Row row) {
        try {
            Object result = expression.evaluate(row);
            Object read = result instanceof Values.Numeral(String written) ? written : result;
            return read instanceof String value && declared.kind() != TypeKind.STRING
                    ? ValueParser.parse(declared.kind(), value)
                    : read;
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "transform of '%s': %s".formatted(declared.name(), e.getMessage()), e);
        }
    }

    /** Text is read by the declared type, and a whole number may be given where a wider one is. */
    private static boolean fits(TypeKind result, TypeKind declared) {
        if (result == declared || result == TypeKind.STRING) {
            return true;
        }
        boolean wider = WHOLE.contains(declared) && declared.compareTo(result) > 0;
        boolean toFraction = declared == TypeKind.DOUBLE || declared == TypeKind.DECIMAL;
        return (WHOLE.contains(result) && (wider || toFraction))
                || (result == TypeKind.FLOAT && declared == TypeKind.DOUBLE);
    }
}
