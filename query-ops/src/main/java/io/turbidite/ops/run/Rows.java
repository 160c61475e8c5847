package io.turbidite.ops.run;

import io.turbidite.core.record.RecordView;

/** What a result reads its rows from. <em>Confined to one thread at a time.</em> */
public interface Rows extends AutoCloseable {
    /**
     * Moves to the next row, which stays where it is until the next call; false at the end, and
     * then nobody calls again.
     *
     * @throws java.util.concurrent.CancellationException if the query was stopped
     */
    boolean next();

    /** The row that it stands on; the same object for all. */
    RecordView row();

    /** Releases everything; more than once does no harm. */
    @Override
    void close();
}
