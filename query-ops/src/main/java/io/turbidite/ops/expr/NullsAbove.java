package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;

import org.jspecify.annotations.Nullable;

/** A key in whose order null and missing are above all values. <em>Confined to one thread.</em> */
public final class NullsAbove implements OrderKey {
    /** What {@link #begin} puts. */
    private static final int BEGIN_BYTES = 1;

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

    @Override
    public @Nullable RecordPredicate notAbove(Slice of) {
        Slice ascending = descending ? FieldKey.inverted(of) : of;
        Slice value = new Slice()
                .set(
                        ascending.segment(),
                        ascending.offset() + BEGIN_BYTES,
                        ascending.length() - BEGIN_BYTES);
        return key.notAbove(value, descending, descending);
    }

    /** Begins a key of such an order. */
    public static void begin(boolean isAbsent, ByteSink sink) {
        sink.putByte(isAbsent ? 1 : 0);
    }
}
