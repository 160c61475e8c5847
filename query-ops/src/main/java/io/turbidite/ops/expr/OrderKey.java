package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordStream;

import org.jspecify.annotations.Nullable;

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

    /** Whether it asks the stream, which must stand on the record then. */
    default boolean readsStream() {
        return false;
    }

    /**
     * What leaves out records that lie above another one in this order, and no others; null where
     * columns tell nothing of it, or none lies above.
     *
     * @param key begins with what was put for the other one
     */
    default @Nullable RecordPredicate notAbove(Slice key) {
        return null;
    }
}
