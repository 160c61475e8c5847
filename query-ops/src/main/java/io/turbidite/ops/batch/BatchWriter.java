package io.turbidite.ops.batch;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.frame.TupleWriter;

import org.jspecify.annotations.Nullable;

/**
 * A writer of tuples that may also take batches of the records that the tuples would be made of.
 * <em>Confined to one thread at a time.</em>
 */
public interface BatchWriter extends TupleWriter {
    /**
     * Who takes such batches, in turn with tuples; null where it must have the tuples.
     *
     * @param maker makes the tuples; who takes batches may use it too
     * @param type of the records
     */
    @Nullable
    BatchTaker taking(TupleMaker maker, RecordType type);
}
