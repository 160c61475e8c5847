package io.turbidite.ops.plan;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.BoundAggregates;
import io.turbidite.ops.expr.Column;
import io.turbidite.ops.expression.TypedExpression;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a query looks at of the rows that it is over, so that who makes these rows need not put more
 * into them. Of what lies within an array or a nested record the field at the top counts.
 * <em>Confined to one thread.</em>
 */
final class UsedFields {
    private final RecordType type;
    private final Set<Integer> used = new TreeSet<>();

    private UsedFields(RecordType type) {
        this.type = type;
    }

    /**
     * The indexes of the fields; null: the rows are handed on whole.
     *
     * @param where the conditions of the query beside its predicates
     */
    static @Nullable Set<Integer> of(CheckedQuery query, List<Expression> where) {
        if (query.kind() == CheckedQuery.Kind.ROWS && query.columns().isEmpty()) {
            return null;
        }
        UsedFields fields = new UsedFields(query.type());
        query.conditions().predicates().forEach(predicate -> fields.add(predicate.field()));
        where.forEach(condition -> condition.forEachName(fields::add));
        query.columns().forEach(fields::add);
        for (GroupField group : query.groups()) {
            fields.add(group.field(), group.expression());
        }
        for (BoundAggregates.Argument argument : query.aggregates().arguments()) {
            fields.add(argument.field(), argument.expression());
        }
        if (query.kind() == CheckedQuery.Kind.ROWS) {
            query.order().stream()
                    .filter(by -> !by.isNewest())
                    .forEach(by -> fields.add(by.index()));
        }
        CheckedQuery.Near near = query.near();
        if (near != null) {
            fields.add(near.field());
        }
        if (query.cellField() >= 0) {
            fields.add(query.cellField());
        }
        return fields.used;
    }

    private void add(Column column) {
        switch (column) {
            case Column.Declared declared -> add(declared.field());
            case Column.Far far -> add(far.field());
            case Column.Similar similar -> add(similar.field());
            case Column.TokenCount count -> add(count.field());
            case Column.Computed computed ->
                Expression.value(computed.text(), Expression.Grammar.FIELDS).forEachName(this::add);
        }
    }

    private void add(int field, @Nullable TypedExpression expression) {
        if (expression == null) {
            add(field);
        } else {
            expression.expression().forEachName(this::add);
        }
    }

    private void add(String name) {
        add(type.indexOf(name));
    }

    private void add(int field) {
        int top = type.isEach(field) ? type.arrayOf(field) : field;
        while (type.parent(top) != RecordType.TOP) {
            top = type.parent(top);
        }
        used.add(top);
    }
}
