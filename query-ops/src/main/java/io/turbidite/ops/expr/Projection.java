package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.SpareSinks;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Rows of some fields and of what the query finds out, as records of a type of their own: null
 * stays null, missing stays missing. <em>Confined to one thread.</em>
 */
public final class Projection implements TupleMaker {
    private final int[] fields;
    private final TypeKind[] kinds;

    /** What is no field; null where there is none. */
    private final ColumnValue @Nullable [] values;

    private final int[] valueTargets;

    /** Where each goes: behind what lies in nested records before it. */
    private final int[] targets;

    private final RecordType rowType;

    /** Whether the columns are the declared fields as they are, so that a record is its row. */
    private final boolean isWhole;

    private @Nullable RecordWriter writer;

    /** What {@link #writer} writes into, taken for the length of a query. */
    private @Nullable ByteSink target;

    private final Slice bytes = new Slice();
    private final Slice[] tuple = new Slice[1];

    private Projection(RecordType type, List<? extends Column> columns, RecordType rowType) {
        int fieldCount = 0;
        for (int i = 0; i < columns.size(); i++) {
            fieldCount += columns.get(i) instanceof Column.Declared ? 1 : 0;
        }
        this.fields = new int[fieldCount];
        this.kinds = new TypeKind[fieldCount];
        this.targets = new int[fieldCount];
        int valueCount = columns.size() - fieldCount;
        ColumnValue[] others = valueCount == 0 ? null : new ColumnValue[valueCount];
        this.valueTargets = valueCount == 0 ? targets : new int[valueCount];
        int field = 0;
        int value = 0;
        for (int i = 0; i < columns.size(); i++) {
            Column column = columns.get(i);
            int target = rowType.indexOf(column.name());
            if (column instanceof Column.Declared(var _, int of)) {
                fields[field] = of;
                kinds[field] = type.field(of).kind();
                targets[field++] = target;
            } else if (others != null) {
                others[value] = ColumnValue.of(type, column);
                valueTargets[value++] = target;
            }
        }
        this.values = others;
        this.rowType = rowType;
        this.isWhole = isWhole(type, columns);
    }

    private static boolean isWhole(RecordType type, List<? extends Column> columns) {
        if (!type.isFlat() || columns.size() != type.declared().size()) {
            return false;
        }
        for (int i = 0; i < columns.size(); i++) {
            // names are no part of a record
            if (!(columns.get(i) instanceof Column.Declared(var _, int field)) || field != i) {
                return false;
            }
        }
        return true;
    }

    /** Takes these fields, which are different, in this order. */
    public static Projection of(RecordType type, List<Integer> fields) {
        List<Column> columns = columns(type, fields);
        return of(type, columns, Column.rowType(type, columns));
    }

    /**
     * Makes rows of these columns, which are different.
     *
     * @param rowType what {@link Column#rowType} gives for them
     */
    public static Projection of(
            RecordType type, List<? extends Column> columns, RecordType rowType) {
        return new Projection(type, columns, rowType);
    }

    /** The type of rows of some fields. */
    public static RecordType rowType(RecordType type, List<Integer> fields) {
        return Column.rowType(type, columns(type, fields));
    }

    private static List<Column> columns(RecordType type, List<Integer> fields) {
        List<Column> columns = new ArrayList<>(fields.size());
        for (int field : fields) {
            columns.add(new Column.Declared(type.field(field).name(), field));
        }
        return columns;
    }

    @Override
    public int fieldCount() {
        return 1;
    }

    @Override
    public boolean readsStream() {
        return false;
    }

    @Override
    public Slice[] make(RecordStream at, RecordView view) {
        tuple[0] = row(view);
        return tuple;
    }

    /** The row of a record; valid until the next one is made. */
    public Slice row(RecordView view) {
        if (isWhole && !view.hasOpenFields()) {
            return view.record(bytes);
        }
        RecordWriter writer = begun();
        for (int i = 0; i < fields.length; i++) {
            int field = fields[i];
            if (view.isNull(field)) {
                writer.setNull(targets[i]);
            } else if (!view.isMissing(field)) {
                copy(view, field, kinds[i], targets[i], writer);
            }
        }
        ColumnValue[] others = values;
        if (others != null) {
            for (int i = 0; i < others.length; i++) {
                others[i].set(view, writer, valueTargets[i]);
            }
        }
        return writer.finish();
    }

    private RecordWriter begun() {
        RecordWriter known = writer;
        if (known != null) {
            return known.begin();
        }
        ByteSink taken = SpareSinks.take();
        target = taken;
        known = new RecordWriter(rowType, taken);
        writer = known;
        return known;
    }

    @Override
    public void release() {
        ByteSink used = target;
        if (used != null) {
            target = null;
            writer = null;
            SpareSinks.give(used);
        }
    }

    private void copy(RecordView view, int field, TypeKind kind, int to, RecordWriter writer) {
        if (KindValues.isLong(kind)) {
            writer.setLong(to, view.getLong(field));
            return;
        }
        switch (kind) {
            case FLOAT, DOUBLE -> writer.setDouble(to, view.getDouble(field));
            case STRING -> writer.setString(to, view.getBytes(field, bytes));
            case BINARY -> writer.setBinary(to, view.getBytes(field, bytes));
            case POINT, LONLAT ->
                writer.setPoint(to, view.getCoordinate(field, 0), view.getCoordinate(field, 1));
            case ARRAY, RECORD -> writer.copy(to, view, field);
            // rare kinds are worth no setter of their own
            default -> writer.setObject(to, view.get(field));
        }
    }
}
