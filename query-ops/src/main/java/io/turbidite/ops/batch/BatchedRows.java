package io.turbidite.ops.batch;

import io.turbidite.ops.run.Rows;

import org.jspecify.annotations.Nullable;

/** Rows that may also come by batches. <em>Confined to one thread at a time.</em> */
public interface BatchedRows extends Rows {
    /** Whether {@link #nextBatch} may be called in place of {@link #next}. */
    boolean hasBatches();

    /**
     * As {@link #next}, for a batch of rows at once, some of which are selected. Where {@link
     * #batch} is null then, it stands on one row.
     */
    boolean nextBatch();

    /** What {@link #nextBatch} moved to, until the next move; null where it is one row. */
    @Nullable
    ColumnBatch batch();

    /**
     * What is read of a batch while its source is closed looks damaged, and is not.
     *
     * @param seen what failed while the batch was read
     * @throws io.turbidite.core.ClosedException if it was closed, with what was seen
     */
    void failIfClosed(RuntimeException seen);
}
