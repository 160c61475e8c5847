package io.turbidite.feeds.parse;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A condition on encoded records of one type: on their declared fields, as they would be stored.
 * <em>Confined to one thread.</em>
 */
final class RecordFilter implements BoundExpression.Row {
    private final RecordType type;
    private final RecordView view;
    private final List<Integer> fields = new ArrayList<>();
    private final Map<String, Integer> indexByName = new HashMap<>();
    private final String text;
    private final BoundExpression condition;

    /**
     * Reads the condition.
     *
     * @throws InvalidRequestException saying where it goes wrong, or which field it can't read
     */
    RecordFilter(RecordType type, String text) {
        this.type = type;
        this.view = new RecordView(type);
        this.text = text;
        this.condition = BoundExpression.of(
                Expression.condition(text, Expression.Grammar.FIELDS),
                name -> indexByName.computeIfAbsent(name, this::number));
    }

    private int number(String name) {
        int field = type.require(name, "where");
        if (!type.field(field).kind().isScalar() || type.isEach(field)) {
            throw new InvalidRequestException(
                    "field '%s' is an array or a record: where compares single values"
                            .formatted(name));
        }
        fields.add(field);
        return fields.size() - 1;
    }

    /**
     * Whether the condition is true for a record.
     *
     * @throws InvalidRequestException if it can't be worked out for it
     */
    boolean takes(Slice record) {
        view.wrap(record);
        try {
            return Boolean.TRUE.equals(condition.evaluate(this));
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException("where %s: %s".formatted(text, e.getMessage()), e);
        }
    }

    @Override
    public @Nullable Object value(int index) {
        int field = fields.get(index);
        return view.isAbsent(field) ? null : view.get(field);
    }
}
