package io.turbidite.ops.expr;

import io.turbidite.core.geo.Place;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** What a selected row has: fields of its record, and what the query finds out about it. */
public sealed interface Column {
    /** In the row. */
    String name();

    /** A declared field. */
    record Declared(String name, int field) implements Column {}

    /** How far a point or rectangle is from a place. */
    record Far(String name, int field, Place place) implements Column {}

    /** How many of the tokens of both a text has in common with another one, from 0 to 1. */
    record Similar(String name, int field, TextQuery.Jaccard asked) implements Column {}

    /** How many tokens of a question a text has. */
    record TokenCount(String name, int field, TextQuery asked) implements Column {}

    /** The type of rows of some columns. */
    static RecordType rowType(RecordType type, List<? extends Column> columns) {
        List<Field> fields = new ArrayList<>(columns.size());
        for (Column column : columns) {
            fields.add(column.rowField(type));
        }
        return RecordType.of(fields);
    }

    /**
     * What an expression comes to.
     *
     * @param text the expression
     * @param maker makes what works it out, for one thread
     */
    record Computed(String name, String text, TypeKind kind, Supplier<? extends ColumnValue> maker)
            implements Column {}

    /** The field of a row: every one is optional, because an older record may miss it. */
    default Field rowField(RecordType type) {
        return switch (this) {
            case Declared(String name, int field) -> type.field(field).as(name, true);
            case Far _, Similar _ -> new Field(name(), TypeKind.DOUBLE, true);
            case TokenCount _ -> new Field(name(), TypeKind.INT64, true);
            case Computed computed -> new Field(name(), computed.kind(), true);
        };
    }
}
