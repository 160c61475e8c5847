package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.record.RecordView;

/** Something of a record, encoded so that bytes are in its order. */
public interface OrderKey {
    /** Appends what the record has. */
    void append(RecordView record, ByteSink sink);
}
