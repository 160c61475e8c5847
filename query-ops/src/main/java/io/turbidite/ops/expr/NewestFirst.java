package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordStream;

/** Orders records by the timestamp of their version, descending. Stateless. */
public final class NewestFirst implements OrderKey {
    /** There is only this one. */
    public static final NewestFirst KEY = new NewestFirst();

    private NewestFirst() {}

    @Override
    public void append(RecordView record, ByteSink sink) {
        throw new UnsupportedOperationException("a record alone does not tell its timestamp");
    }

    @Override
    public boolean readsStream() {
        return true;
    }

    @Override
    public void append(RecordStream at, RecordView record, ByteSink sink) {
        long inverted = ~at.timestamp();
        for (int shift = Long.SIZE - Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
            sink.putByte((int) (inverted >>> shift) & 0xff);
        }
    }
}
