package io.turbidite.feeds.store;

import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

import java.util.Map;

/**
 * The end of the pipe. Each {@link Lane} is used by one thread at a time, and has the batches of a
 * partition in the order of the source; everything else may be called by any thread.
 */
public interface Delivery extends AutoCloseable {
    /** What the feed has taken of a partition of its source, or null if that is nothing. */
    @Nullable
    PartitionState taken(String partition);

    /**
     * A run begins; no lane of an earlier one is in use. What that has left in doubt is looked up.
     */
    default void begin() {}

    /**
     * One more way in, for one more thread. What is under way in several goes into a dataset at
     * once; a log has one way in, and gives that each time.
     */
    Lane newLane();

    /**
     * A way into the store. A partition is in one lane at a time: its next batch comes into another
     * one when all before it is delivered. <em>Confined to one thread at a time.</em>
     */
    @FunctionalInterface
    interface Lane {
        /**
         * Accepts a batch, unless the feed has taken all of it before: then it is passed over. In a
         * dataset its records, its dead letters and its position are all there when this returns,
         * or none of them is; in a log the position comes later, by {@link Delivery#commit} at the
         * latest.
         *
         * @return null if nothing was done, because another lane is writing dead letters: hand the
         *     batch in again a little later
         * @throws io.turbidite.core.InvalidRequestException if it does not follow what was taken
         */
        @Nullable
        Delivered deliver(Batch batch);
    }

    /**
     * What became of a batch.
     *
     * @param accepted records
     * @param refused records that the store made dead letters of
     */
    record Delivered(int accepted, int refused) {
        /** Of a batch that was taken before. */
        static final Delivered NOTHING = new Delivered(0, 0);
    }

    /**
     * Whether accepting {@code after} would take the place of {@code before}, an accepted record
     * that turned out to be the first part of it. To be asked by the thread that reads the source.
     */
    boolean replaces(Slice before, Slice after);

    /** All that the feed has taken, by the partition's name. */
    Map<String, PartitionState> taken();

    /**
     * Has {@code listener} told up to where a partition is durable, by any threads, of different
     * partitions at once too. One alone is told.
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

    /**
     * Deletes rows of partitions of which nothing is on its way, as if the feed had taken nothing.
     * By one thread at a time; beside lanes that deliver what other partitions have.
     *
     * @param partitions with what the row must still say
     * @return those whose row stays, with what else it says
     */
    default Map<String, SourcePosition> forget(Map<String, SourcePosition> partitions) {
        return partitions;
    }

    /**
     * Writes rows anew that tell an earlier time; as {@link #forget}.
     *
     * @param wallMicros the time, since 1970-01-01T00:00:00Z
     */
    default void touch(Map<String, SourcePosition> partitions, long wallMicros) {}

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
