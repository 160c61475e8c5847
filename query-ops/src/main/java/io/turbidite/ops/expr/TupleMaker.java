package io.turbidite.ops.expr;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordStream;

import org.jspecify.annotations.Nullable;

/** Makes the tuple that leaves the storage for each record. <em>Confined to one thread.</em> */
public interface TupleMaker {
    /** Fields of each tuple. */
    int fieldCount();

    /**
     * The tuple of a record; array and slices are reused by the next call.
     *
     * @param at stands on the record; its key is put together only if it is asked for
     * @param view wrapped around the record's bytes
     */
    Slice[] make(RecordStream at, RecordView view);

    /**
     * Whether a record has any number of tuples: then {@link #make} only takes the record, and
     * {@link #next} gives its tuples.
     */
    default boolean isMultiple() {
        return false;
    }

    /** The next tuple of the record that {@link #make} took; null if there is none. */
    default Slice @Nullable [] next() {
        return null;
    }

    /** Gives back what was taken for the tuples; the last one is gone. */
    default void release() {}
}
