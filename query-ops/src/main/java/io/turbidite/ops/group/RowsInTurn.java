package io.turbidite.ops.group;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;

import org.jspecify.annotations.Nullable;

import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;

/**
 * The rows of several inputs, one input after the other; each is opened when its turn comes. Rows
 * of the type that is wanted are handed on where they lie. <em>Confined to one thread at a
 * time.</em> Owns the inputs.
 */
public final class RowsInTurn implements Rows {
    private final Iterator<Input> inputs;
    private final RecordType type;
    private final OperatorMeter meter;
    private final Slice slice = new Slice();
    private final RecordView row;
    private @Nullable Rows current;

    /** Null where the rows of the input are as they are wanted. */
    private @Nullable RowCopy copy;

    /**
     * One of the inputs.
     *
     * @param type of its rows
     */
    public record Input(Supplier<Rows> opener, RecordType type) {}

    /**
     * @param type of the rows that are given
     * @param meter counts them
     */
    public RowsInTurn(List<Input> inputs, RecordType type, OperatorMeter meter) {
        this.inputs = List.copyOf(inputs).iterator();
        this.type = type;
        this.meter = meter;
        this.row = new RecordView(type);
    }

    @Override
    public boolean next() {
        while (true) {
            Rows rows = current;
            if (rows != null && rows.next()) {
                row.wrap(copy == null ? rows.row().record(slice) : copy.of(rows.row()));
                meter.add(1);
                return true;
            }
            close();
            if (!inputs.hasNext()) {
                return false;
            }
            Input next = inputs.next();
            copy = next.type().equals(type) ? null : new RowCopy(next.type(), type);
            current = next.opener().get();
        }
    }

    @Override
    public RecordView row() {
        return row;
    }

    @Override
    public void close() {
        Rows rows = current;
        if (rows != null) {
            current = null;
            rows.close();
        }
    }
}
