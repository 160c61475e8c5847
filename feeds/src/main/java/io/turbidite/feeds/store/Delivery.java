package io.turbidite.feeds.store;

import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

import java.util.Map;

/**
 * The end of the pipe. {@link #deliver} is called by one thread at a time, in the order of the
 * source; everything else may be called by any.
 */
public interface Delivery extends AutoCloseable {
    /** What the feed has taken of a partition of its source, or null if that is nothing. */
    @Nullable
    PartitionState taken(String partition);

    /**
     * Accepts a batch, unless the feed has taken all of it before: then it is passed over. In a
     * dataset its records, its dead letters and its position are all there when this returns, or
     * none of them is; in a log the position comes later, by {@link #commit} at the latest.
     *
     * @throws io.turbidite.core.InvalidRequestException if it does not follow what was taken
     */
    void deliver(Batch batch);

    /**
     * Whether accepting {@code after} would take the place of {@code before}, an accepted record
     * that turned out to be the first part of it. To be asked by the thread that reads the source.
     */
    boolean replaces(Slice before, Slice after);

    /** All that the feed has taken, by the partition's name. */
    Map<String, PartitionState> taken();

    /**
     * Has {@code listener} told up to where a partition is durable, by any thread. One alone is
     * told.
     */
    void whenDurable(DurableListener listener);

    /** Hears what has become durable. */
    @FunctionalInterface
    interface DurableListener {
        /** A record became a dead letter; told before what is behind it is durable. */
        default void rejected(String partition, Rejection rejection) {}

        /**
         * Nothing is left of the record at {@code place}, because the definition says so; told
         * before what is behind it is durable.
         */
        default void dropped(String partition, long place) {}

        /** All of a partition before this position is as durable as the store's mode says. */
        void durable(String partition, SourcePosition position);
    }

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
