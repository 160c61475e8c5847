package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.record.RecordView;

/** A key in whose order null and missing are above all values. <em>Confined to one thread.</em> */
public final class NullsAbove implements OrderKey {
    private final int field;
    private final FieldKey key;
    private final boolean descending;

    /**
     * @param key of the field, ascending
     * @param descending whether the order is turned round, nulls included
     */
    public NullsAbove(int field, FieldKey key, boolean descending) {
        this.field = field;
        this.key = key;
        this.descending = descending;
    }

    @Override
    public void append(RecordView record, ByteSink sink) {
        int start = sink.length();
        begin(record.isAbsent(field), sink);
        key.append(record, sink);
        if (descending) {
            FieldKey.invert(sink, start);
        }
    }

    /** Begins a key of such an order. */
    public static void begin(boolean isAbsent, ByteSink sink) {
        sink.putByte(isAbsent ? 1 : 0);
    }
}
