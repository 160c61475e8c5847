package io.turbidite.ops.expr;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordStream;

import org.jspecify.annotations.Nullable;

import java.util.function.Predicate;

/** Makes the tuple that leaves the storage for each record. <em>Confined to one thread.</em> */
public interface TupleMaker {
    /** Fields of each tuple. */
    int fieldCount();

    /**
     * The tuple of a record; array and slices are reused by the next call.
     *
     * @param at stands on the record, where the maker {@link #readsStream}; its key is put together
     *     only if it is asked for
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

    /** Whether {@link #make} looks into the record, or whoever takes the tuple does. */
    default boolean readsRecord() {
        return true;
    }

    /**
     * Whether {@link #make} asks the stream for anything, so that it must stand on the record: else
     * it may have gone ahead.
     */
    default boolean readsStream() {
        return true;
    }

    /**
     * The fields whose keys, one behind the other, are the first field of each tuple, as {@link
     * FieldKey} has them; null where it is made in another way, or there are several tuples.
     */
    default int @Nullable [] keyFields() {
        return null;
    }

    /**
     * Leaves the other fields of tuples empty whose first one is dropped by whoever takes them;
     * makers with one field need not.
     *
     * @param dropped what it says of a first field stays so
     */
    default void spare(Predicate<Slice> dropped) {}

    /**
     * What leaves out records whose tuples would have a first field above another one, and no
     * others; null where columns tell nothing of it, or none would.
     *
     * @param first of another tuple
     */
    default @Nullable RecordPredicate notAbove(Slice first) {
        return null;
    }

    /** Gives back what was taken for the tuples; the last one is gone. */
    default void release() {}
}
