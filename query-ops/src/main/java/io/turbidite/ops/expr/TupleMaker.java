package io.turbidite.ops.expr;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;

/** Makes the tuple that leaves the storage for each record. <em>Confined to one thread.</em> */
public interface TupleMaker {
    /** Fields of each tuple. */
    int fieldCount();

    /**
     * The tuple of a record; array and slices are reused by the next call.
     *
     * @param primaryKey encoded
     * @param record the record's bytes
     * @param view wrapped around them
     */
    Slice[] make(Slice primaryKey, Slice record, RecordView view);
}
