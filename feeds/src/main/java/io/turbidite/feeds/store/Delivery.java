package io.turbidite.feeds.store;

import io.turbidite.feeds.flow.Batch;

import org.jspecify.annotations.Nullable;

/**
 * The end of the pipe. {@link #deliver} is called by one thread, in the order of the source; the
 * counters may be read by any.
 */
public interface Delivery extends AutoCloseable {
    /** How far the feed has got with {@code file}, or null if it has not begun it. */
    @Nullable
    FilePosition position(String file);

    /** Says which file the batches to come are of, and how far it is delivered. */
    void begin(String file, FilePosition position);

    /**
     * Accepts a batch: its records, its dead letters and its position are all there when this returns,
     * or none of them is.
     */
    void deliver(Batch batch);

    /** Records that the store has accepted since opening. */
    long accepted();

    /** Dead letters written since opening. */
    long rejected();

    @Override
    void close();
}
