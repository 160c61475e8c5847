package io.turbidite.ops.expr;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import java.util.ArrayList;
import java.util.List;

/**
 * Rows of some fields, as records of a type of their own: null stays null, missing stays missing.
 * <em>Confined to one thread.</em>
 */
public final class Projection implements TupleMaker {
    private final int[] fields;
    private final TypeKind[] kinds;

    /** Where each goes: behind what lies in nested records before it. */
    private final int[] targets;

    private final RecordWriter writer;
    private final Slice bytes = new Slice();
    private final Slice[] tuple = new Slice[1];

    private Projection(RecordType type, List<Integer> fields, RecordType rowType) {
        this.fields = new int[fields.size()];
        this.kinds = new TypeKind[fields.size()];
        this.targets = new int[fields.size()];
        for (int i = 0; i < kinds.length; i++) {
            this.fields[i] = fields.get(i);
            kinds[i] = type.field(fields.get(i)).kind();
            targets[i] = rowType.indexOf(type.field(fields.get(i)).name());
        }
        this.writer = new RecordWriter(rowType);
    }

    /** Takes these fields, which are different, in this order. */
    public static Projection of(RecordType type, List<Integer> fields) {
        return of(type, fields, rowType(type, fields));
    }

    /**
     * As {@link #of(RecordType, List)}.
     *
     * @param rowType what {@link #rowType} gives for them
     */
    public static Projection of(RecordType type, List<Integer> fields, RecordType rowType) {
        return new Projection(type, fields, rowType);
    }

    /** The type of the rows: every field optional, because an older record may miss it. */
    public static RecordType rowType(RecordType type, List<Integer> fields) {
        List<Field> rowFields = new ArrayList<>();
        for (int field : fields) {
            Field declared = type.field(field);
            rowFields.add(declared.as(declared.name(), true));
        }
        return RecordType.of(rowFields);
    }

    @Override
    public int fieldCount() {
        return 1;
    }

    @Override
    public Slice[] make(RecordStream at, RecordView view) {
        tuple[0] = row(view);
        return tuple;
    }

    /** The row of a record; valid until the next one is made. */
    public Slice row(RecordView view) {
        writer.begin();
        for (int i = 0; i < fields.length; i++) {
            int field = fields[i];
            if (view.isNull(field)) {
                writer.setNull(targets[i]);
            } else if (!view.isMissing(field)) {
                copy(view, field, kinds[i], targets[i]);
            }
        }
        return writer.finish();
    }

    private void copy(RecordView view, int field, TypeKind kind, int to) {
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
