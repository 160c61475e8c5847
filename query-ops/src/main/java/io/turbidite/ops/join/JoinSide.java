package io.turbidite.ops.join;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;

import java.util.List;

/**
 * One side of a join: its rows, and their keys. <em>Confined to one thread.</em> Owns the rows.
 */
public final class JoinSide implements AutoCloseable {
    private final Rows rows;
    private final RecordType type;
    private final int[] fields;
    private final FieldKey[] keys;
    private final OperatorMeter meter;
    private final ByteSink keyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();
    private final Slice row = new Slice();

    /**
     * @param fields what its keys are made of
     * @param meter counts its rows
     */
    public JoinSide(Rows rows, RecordType type, List<Integer> fields, OperatorMeter meter) {
        this.meter = meter;
        this.rows = rows;
        this.type = type;
        this.fields = fields.stream().mapToInt(Integer::intValue).toArray();
        this.keys = fields.stream()
                .map(field -> new FieldKey(type, field, false))
                .toArray(FieldKey[]::new);
    }

    RecordType type() {
        return type;
    }

    /** Whether its keys have fields; without any, all are one. */
    boolean hasFields() {
        return fields.length > 0;
    }

    boolean next() {
        boolean found = rows.next();
        if (found) {
            meter.add(1);
        }
        return found;
    }

    /** Whether there is no next row yet. */
    boolean isPaused() {
        return rows.isPaused();
    }

    /** The row that it stands on; valid until the next move. */
    Slice row() {
        return rows.row().record(row);
    }

    /** Makes the key of the row; false if a null is in it. */
    boolean makeKey() {
        RecordView view = rows.row();
        keyBytes.clear();
        for (int i = 0; i < fields.length; i++) {
            if (view.isAbsent(fields[i])) {
                return false;
            }
            keys[i].append(view, keyBytes);
        }
        keyBytes.asSlice(key);
        return true;
    }

    /** The key that was made last. */
    Slice key() {
        return key;
    }

    @Override
    public void close() {
        rows.close();
    }
}
