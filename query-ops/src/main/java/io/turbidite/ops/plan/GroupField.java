package io.turbidite.ops.plan;

import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.expr.OrderKey;
import io.turbidite.ops.expression.ComputedKey;
import io.turbidite.ops.expression.TypedExpression;

import org.jspecify.annotations.Nullable;

/**
 * Something that is grouped by. <em>Immutable.</em>
 *
 * @param row the field of the rows
 * @param field index of a declared field; of an expression -1
 * @param expression null where it is a declared field
 */
record GroupField(Field row, int field, @Nullable TypedExpression expression) {
    static GroupField of(RecordType type, int field) {
        return new GroupField(type.field(field), field, null);
    }

    static GroupField of(String name, TypedExpression expression) {
        return new GroupField(new Field(name, expression.kind(), true), -1, expression);
    }

    /** Its part of the key of a group, for one thread. */
    OrderKey newKey(RecordType type) {
        return expression == null ? new FieldKey(type, field, false) : new ComputedKey(expression);
    }
}
