package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A field's value as an expression over the record's other values, or as what a function or another
 * dataset gives for some. <em>Immutable.</em>
 *
 * @param field a declared field
 * @param texts the expressions as they were written: one, the arguments, or the key's parts
 * @param way what becomes of their values
 */
public record Transform(String field, List<String> texts, Way way) {
    /** What becomes of the values of expressions. */
    public sealed interface Way {
        /** The only one is the field's value. */
        record Expression() implements Way {}

        /** A {@link RecordFunction} makes the value of them. */
        record Function(String name) implements Way {}

        /** They are the primary key of a record in a dataset of the store, which has the value. */
        record LookUp(String dataset, String field) implements Way {}
    }

    public Transform {
        texts = List.copyOf(texts);
    }

    /** The value of an expression. */
    public Transform(String field, String text) {
        this(field, List.of(text), new Way.Expression());
    }

    private static final Set<TypeKind> WHOLE =
            EnumSet.of(TypeKind.INT8, TypeKind.INT16, TypeKind.INT32, TypeKind.INT64);

    /**
     * Checks the expression's grammar and that its result fits {@code declared}, as far as can be
     * told without a record.
     *
     * @throws InvalidRequestException saying where in the text it goes wrong
     */
    public void check(Field declared) {
        List<BoundExpression> bound = bindAll(name -> 0);
        TypeKind result = way instanceof Way.Expression ? bound.getFirst().kind() : null;
        if (result != null && !fits(result, declared.kind())) {
            throw new InvalidRequestException("%s gives %s, but field '%s' is declared as %s"
                    .formatted(
                            texts.getFirst(),
                            result.label(),
                            field,
                            declared.kind().label()));
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
     * The expressions with their names numbered.
     *
     * @param binding the number of a name, or an exception that says what names there are
     */
    List<BoundExpression> bindAll(BoundExpression.Binding binding) {
        return texts.stream()
                .map(text -> BoundExpression.of(
                        Expression.value(text, Expression.Grammar.TRANSFORM), binding))
                .toList();
    }

    /** As {@link #bindAll}, to be worked out for the field of a type. */
    BoundTransform bind(RecordType type, BoundExpression.Binding binding, TransformAids aids) {
        return new BoundTransform(way, type.field(type.indexOf(field)), bindAll(binding), aids);
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
