package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordStream;

/** Something of a record, encoded so that bytes are in its order. */
public interface OrderKey {
    /** Appends what the record has. */
    void append(RecordView record, ByteSink sink);

    /**
     * The same for what only the stream knows that stands on the record.
     *
     * @param at has the record
     */
    default void append(RecordStream at, RecordView record, ByteSink sink) {
        append(record, sink);
    }
}
