package io.turbidite.feeds.store;

import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.store.Delivery.DurableListener;

import org.jspecify.annotations.Nullable;

import java.util.Map;

/**
 * Where a feed's records go: a dataset or a hash log. <em>Confined to one delivering thread</em>,
 * but for {@link #taken(String)}, {@link #replaces} and {@link #another}, which any thread may
 * call.
 */
interface DeliveryTarget extends AutoCloseable {
    /** The same place, for one more thread that delivers; a log has one such thread alone. */
    DeliveryTarget another();

    /** How long the dead-letter file was at the last commit before the opening. */
    long letterBytes();

    /** Whether {@link #letterBytes} tells that of the last commit at any time. */
    default boolean knowsLetterBytes() {
        return false;
    }

    /** See {@link Delivery#taken(String)}. */
    @Nullable
    PartitionState taken(String partition);

    /** See {@link Delivery#taken()}. */
    Map<String, PartitionState> taken();

    /** What the next batch of the partition must follow; by the delivering thread. */
    @Nullable
    PartitionState last(String partition);

    /** As {@link #last}, of another run of the feed that may have read on meanwhile. */
    default @Nullable PartitionState reread(String partition) {
        return last(partition);
    }

    /** See {@link Delivery#replaces}. */
    boolean replaces(Slice before, Slice after);

    /**
     * Takes the records of a batch, which follows {@link #last}, and notes the position behind it.
     *
     * @param durable is told of positions that have become durable
     * @param letters has the parser's; gets those of records that the target refuses
     * @return null if nothing was taken, for letters are due and another lane writes some
     */
    @Nullable
    Taken take(Batch batch, LetterWriter letters, DurableListener durable);

    /** See {@link Delivery#forget}. */
    default Map<String, SourcePosition> forget(Map<String, SourcePosition> partitions) {
        return partitions;
    }

    /** See {@link Delivery#touch}. */
    default void touch(Map<String, SourcePosition> partitions, long wallMicros) {}

    /** See {@link Delivery#commit}. */
    void commit(DeadLetterFile letters, DurableListener durable);

    @Override
    void close();

    /**
     * What became of a batch's records.
     *
     * @param newCount were taken
     * @param thereCount had been taken before, and are in the position only now
     * @param refusedCount became dead letters
     */
    record Taken(int newCount, int thereCount, int refusedCount) {}
}
