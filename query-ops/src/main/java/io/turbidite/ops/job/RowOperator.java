package io.turbidite.ops.job;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;

/**
 * An operator of an embedder's own: one class, one instance for each partition. It is handed rows
 * and asked for those that it has ready, so it needs neither a thread nor a queue, and may give any
 * number of rows for one.
 *
 * <ol>
 *   <li>{@link #type} is called when a graph is built, on an instance of its own, and once on each
 *       instance that runs;
 *   <li>{@link #open} before the first row; where nobody reads its rows, no instance is made;
 *   <li>{@link #row} for each row, {@link #end} behind the last of an input: first all of input 0,
 *       then those of 1, and so on;
 *   <li>{@link #next} after each of these until it returns null;
 *   <li>{@link #close} once, also after a failure, of {@link #type} and {@link #open} too.
 * </ol>
 *
 * <p><em>Confined to one thread at a time.</em> What it throws ends the job. A call should take no
 * longer than a thousand rows do: between two of them the job looks whether it was cancelled.
 */
public interface RowOperator extends AutoCloseable {
    /**
     * The type of the rows that it gives; the place to check settings and inputs.
     *
     * @param inputs the types of its inputs, as many as connectors lead to it
     * @param settings as the graph has them, read-only
     * @throws io.turbidite.core.InvalidRequestException if it can't work so; the message gets the
     *     operator's name put before
     */
    RecordType type(List<RecordType> inputs, Map<String, Object> settings);

    /**
     * Before the first row.
     *
     * @param partition which instance it is, from 0
     * @param partitionCount how many there are
     */
    default void open(int partition, int partitionCount) {
        // most hold nothing before the first row
    }

    /**
     * Takes a row.
     *
     * @param row valid until {@link #next} has returned null
     */
    void row(int input, RecordView row);

    /** Takes the end of an input. */
    default void end(int input) {
        // most are done with their last row
    }

    /**
     * The next row that it has ready, encoded, valid until the next call; null: none until it is
     * handed more.
     */
    @Nullable
    Slice next();

    /** Releases what it holds. */
    @Override
    void close();
}
