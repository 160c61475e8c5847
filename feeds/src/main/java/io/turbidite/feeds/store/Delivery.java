package io.turbidite.feeds.store;

import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.flow.Batch;

import org.jspecify.annotations.Nullable;

/**
 * The end of the pipe. {@link #deliver} is called by one thread at a time, in the order of the
 * source; everything else may be called by any.
 */
public interface Delivery extends AutoCloseable {
    /** How far the feed has got with the file of this name, or null if it has not begun it. */
    @Nullable
    FilePosition position(String file);

    /**
     * Accepts a batch. In a dataset its records, its dead letters and its position are all there
     * when this returns, or none of them is; in a log the position comes later, by {@link #commit}
     * at the latest.
     */
    void deliver(Batch batch);

    /**
     * Whether accepting {@code after} would take the place of {@code before}, an accepted record
     * that turned out to be the first part of it. To be asked by the thread that reads the source.
     */
    boolean replaces(Slice before, Slice after);

    /** Makes all that was delivered durable, where that takes more than its delivery. */
    void commit();

    /** Records that the store has accepted since opening. */
    long accepted();

    /** Dead letters written since opening. */
    long rejected();

    /** The file that holds the feed's dead letters, or null if there have been none. */
    @Nullable
    String deadLetters();

    @Override
    void close();
}
