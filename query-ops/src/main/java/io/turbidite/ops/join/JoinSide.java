package io.turbidite.ops.join;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.batch.BatchedRows;
import io.turbidite.ops.batch.ColumnBatch;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;

/**
 * One side of a join: its rows, and their keys. <em>Confined to one thread at a
 * time.</em> Owns the rows.
 */
public final class JoinSide implements AutoCloseable {
    private Rows rows;
    private final @Nullable Narrowing narrowing;
    private final RecordType type;
    private final int[] fields;
    private final FieldKey[] keys;
    private final OperatorMeter meter;
    private final ByteSink keyBytes = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();
    private final Slice row = new Slice();

    /** The row of a batch that it stands on; null: where its rows stand. */
    private @Nullable RecordView ofBatch;

    /** Reads less of a side, once it is known which keys the other one has. */
    @FunctionalInterface
    public interface Narrowing {
        /**
         * All rows of the side with one of some values in its only key field, and perhaps others;
         * null where that saves nothing.
         *
         * @param values of the class that the field's kind has, each once
         */
        @Nullable
        Rows to(List<Object> values);
    }

    /**
     * One whose rows are read whatever the other one has.
     *
     * @param fields what its keys are made of
     * @param meter counts its rows, and those of nobody else
     */
    public JoinSide(Rows rows, RecordType type, List<Integer> fields, OperatorMeter meter) {
        this(rows, type, fields, meter, null);
    }

    /**
     * As {@link #JoinSide(Rows, RecordType, List, OperatorMeter)}.
     *
     * @param narrowing asked before the first row, if there is one
     */
    public JoinSide(
            Rows rows,
            RecordType type,
            List<Integer> fields,
            OperatorMeter meter,
            @Nullable Narrowing narrowing) {
        this.narrowing = narrowing;
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

    /** Counts its rows. */
    OperatorMeter meter() {
        return meter;
    }

    /** The kind of its key, of which there may be less to read; null: all is read. */
    @Nullable
    TypeKind narrowedBy() {
        return narrowing == null || fields.length != 1
                ? null
                : type.field(fields[0]).kind();
    }

    /**
     * Reads no more than it must for these values of its key; before the first row. Says whether
     * that is less.
     */
    boolean narrow(List<Object> values) {
        Rows fewer = narrowing == null ? null : narrowing.to(values);
        if (fewer == null) {
            return false;
        }
        Rows all = rows;
        rows = fewer;
        all.close();
        return true;
    }

    /** The fields that its keys are made of. */
    int[] fields() {
        return fields.clone();
    }

    /** Their kinds. */
    TypeKind[] keyKinds() {
        return Arrays.stream(fields)
                .mapToObj(field -> type.field(field).kind())
                .toArray(TypeKind[]::new);
    }

    /** Whether its keys have fields; without any, all are one. */
    boolean hasFields() {
        return fields.length > 0;
    }

    boolean next() {
        boolean found = rows.next();
        if (found) {
            meter.addAlone();
        }
        return found;
    }

    /** Whether rows come by batches; known once it is not narrowed any more. */
    boolean hasBatches() {
        return rows instanceof BatchedRows batched && batched.hasBatches();
    }

    /** Moves to a batch, or to a row where {@link #batch} is null; as {@link #next}. */
    boolean nextBatch() {
        return batched().nextBatch();
    }

    @Nullable
    ColumnBatch batch() {
        return batched().batch();
    }

    /** Says that a failure is one of a close, where it is; else does nothing. */
    void failIfClosed(RuntimeException seen) {
        if (hasBatches()) {
            batched().failIfClosed(seen);
        }
    }

    private BatchedRows batched() {
        return (BatchedRows) rows;
    }

    /** Stands on a row of the batch until it stands on another; null: where its rows stand. */
    void standOn(@Nullable RecordView record) {
        ofBatch = record;
    }

    /** Whether there is no next row yet. */
    boolean isPaused() {
        return rows.isPaused();
    }

    /** The row that it stands on, where it lies. */
    RecordView view() {
        RecordView of = ofBatch;
        return of == null ? rows.row() : of;
    }

    /** The bytes of the row that it stands on; valid until the next move. */
    Slice row() {
        return view().record(row);
    }

    /** Makes the key of the row; false if a null is in it. */
    boolean makeKey() {
        RecordView view = view();
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
