package io.turbidite.ops.run;

import io.turbidite.core.record.RecordView;

/** What a result reads its rows from. <em>Confined to one thread at a time.</em> */
public interface Rows extends AutoCloseable {
    /**
     * Moves to the next row, which stays where it is until the next call; false at the end, and
     * then nobody calls again, and false where it {@link #isPaused}.
     *
     * @throws java.util.concurrent.CancellationException if the query was stopped
     */
    boolean next();

    /**
     * Whether {@link #next} said false because nothing is there yet: it may be asked again. Only
     * rows that come from other workers, and what stands above them, ever are.
     */
    default boolean isPaused() {
        return false;
    }

    /** The row that it stands on; the same object for all. */
    RecordView row();

    /** Releases everything; more than once does no harm. */
    @Override
    void close();
}
