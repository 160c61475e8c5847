package io.turbidite.ops.window;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.KindValues;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

/** A copy of one field of a row, used again and again. <em>Confined to one thread.</em> */
final class Cell {
    private final TypeKind kind;
    private final Slice slice = new Slice();
    private @Nullable ByteSink bytes;
    private @Nullable Object object;
    private long number;
    private double fraction;
    private boolean isNull = true;

    Cell(RecordType type, int field) {
        this.kind = type.field(field).kind();
    }

    void clear() {
        isNull = true;
        object = null;
    }

    /** Takes a field of the kind that it is for. */
    void take(RecordView row, int field) {
        isNull = row.isAbsent(field);
        if (isNull) {
            return;
        }
        if (KindValues.isLong(kind)) {
            number = row.getLong(field);
            return;
        }
        switch (kind) {
            case FLOAT, DOUBLE -> fraction = row.getDouble(field);
            case STRING, BINARY -> {
                ByteSink sink = bytes;
                if (sink == null) {
                    sink = new ByteSink(64, Integer.MAX_VALUE - 8);
                    bytes = sink;
                }
                sink.clear().putBytes(row.getBytes(field, slice));
            }
            default -> object = row.get(field);
        }
    }

    void set(RecordWriter row, int field) {
        if (isNull) {
            row.setNull(field);
        } else if (KindValues.isLong(kind)) {
            row.setLong(field, number);
        } else {
            ByteSink text = bytes;
            switch (kind) {
                case FLOAT, DOUBLE -> row.setDouble(field, fraction);
                case STRING -> row.setString(field, text == null ? slice : text.asSlice(slice));
                case BINARY -> row.setBinary(field, text == null ? slice : text.asSlice(slice));
                default -> row.setObject(field, object);
            }
        }
    }
}
