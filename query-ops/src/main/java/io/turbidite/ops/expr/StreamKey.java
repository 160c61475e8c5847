package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordStream;

/** Orders records by the keys that their stream has for them. Stateless. */
public final class StreamKey implements OrderKey {
    /** There is only this one. */
    public static final StreamKey KEY = new StreamKey();

    private StreamKey() {}

    @Override
    public boolean readsStream() {
        return true;
    }

    @Override
    public void append(RecordView record, ByteSink sink) {
        throw new UnsupportedOperationException("a record alone does not tell the stream's key");
    }

    @Override
    public void append(RecordStream at, RecordView record, ByteSink sink) {
        sink.putBytes(at.key());
    }
}
