package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Values;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.TypeKind;
import io.turbidite.feeds.parse.Transform.Way;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/** A transform whose names are numbered. <em>Confined to the thread of its parser.</em> */
final class BoundTransform {
    private final Way way;
    private final Field field;
    private final List<BoundExpression> expressions;
    private final TransformAids aids;

    BoundTransform(Way way, Field field, List<BoundExpression> expressions, TransformAids aids) {
        this.way = way;
        this.field = field;
        this.expressions = List.copyOf(expressions);
        this.aids = aids;
    }

    /**
     * The value for a record; text is read by the field's type.
     *
     * @throws InvalidRequestException naming the field
     */
    @Nullable
    Object evaluate(BoundExpression.Row row) {
        try {
            Object result = plain(
                    switch (way) {
                        case Way.Expression() -> expressions.getFirst().evaluate(row);
                        case Way.Function(String name) -> aids.call(name, arguments(row));
                        case Way.LookUp(String dataset, String wanted) ->
                            lookUp(dataset, wanted, row);
                    });
            return result instanceof String value && field.kind() != TypeKind.STRING
                    ? ValueParser.parse(field.kind(), value)
                    : result;
        } catch (FunctionFailedException e) {
            throw e;
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "transform of '%s': %s".formatted(field.name(), e.getMessage()), e);
        }
    }

    private static @Nullable Object plain(@Nullable Object value) {
        return value instanceof Values.Numeral(String written) ? written : value;
    }

    private List<@Nullable Object> arguments(BoundExpression.Row row) {
        List<@Nullable Object> arguments = new ArrayList<>(expressions.size());
        for (BoundExpression expression : expressions) {
            arguments.add(plain(expression.evaluate(row)));
        }
        return arguments;
    }

    private @Nullable Object lookUp(String dataset, String wanted, BoundExpression.Row row) {
        List<Object> key = new ArrayList<>(expressions.size());
        for (BoundExpression expression : expressions) {
            Object part = plain(expression.evaluate(row));
            if (part == null) {
                return null;
            }
            key.add(part);
        }
        return aids.lookUp(dataset, wanted, key);
    }
}
