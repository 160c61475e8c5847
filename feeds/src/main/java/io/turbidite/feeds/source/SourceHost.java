package io.turbidite.feeds.source;

import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.parse.RecordParser;

import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * What a run hands to its source: one for each parse worker. <em>Immutable.</em>
 *
 * @param feed the feed's name, for messages
 * @param parser says how records end, and is given each header; for the thread that calls
 * @param separator between the fields of a record, where the parser has fields
 * @param tasks to wait with
 * @param clock the time
 * @param stopped whether the run should end; to be asked often where something takes long
 * @param gaps is told what the source has lost
 * @param rows the rows of its partitions
 */
public record SourceHost(
        String feed,
        RecordParser parser,
        char separator,
        Tasks tasks,
        Clock clock,
        BooleanSupplier stopped,
        Gaps gaps,
        Rows rows) {
    /** Without anybody to be told of gaps, and without rows. */
    public SourceHost(
            String feed,
            RecordParser parser,
            char separator,
            Tasks tasks,
            Clock clock,
            BooleanSupplier stopped) {
        this(
                feed,
                parser,
                separator,
                tasks,
                clock,
                stopped,
                (partition, from, to) -> {},
                Rows.NONE);
    }

    /** Hears of records that are gone before the feed has read them. */
    @FunctionalInterface
    public interface Gaps {
        /**
         * Records of a partition are gone.
         *
         * @param from the place of the first one, as the source counts
         * @param to the place behind the last one; below {@code from} if the source has less than
         *     was read of it
         */
        void missed(String partition, long from, long to);
    }
    /**
     * What a source may do to rows of partitions of which nothing is on its way; by the thread that
     * asks it for its {@linkplain FeedSource#partitions partitions}, within that.
     */
    public interface Rows {
        /** There are none. */
        Rows NONE = new Rows() {
            @Override
            public boolean areDelivered() {
                return true;
            }

            @Override
            public Map<String, SourcePosition> forget(Map<String, SourcePosition> partitions) {
                return Map.of();
            }

            @Override
            public void touch(Map<String, SourcePosition> partitions, long wallMicros) {
                // nothing is kept
            }

            @Override
            public void known(int partitions) {
                // nobody asks
            }
        };

        /** Whether nothing that the source was told to be durable is still to be written. */
        boolean areDelivered();

        /**
         * Deletes rows, as if nothing had been read of their partitions, which the source then
         * calls {@linkplain FeedSource#gone gone}.
         *
         * @param partitions with what the row must still say
         * @return those whose row stays, with what else it says
         */
        Map<String, SourcePosition> forget(Map<String, SourcePosition> partitions);

        /**
         * Writes rows anew, so that they tell this time or a later one.
         *
         * @param partitions with what the row must still say; others stay as they are
         * @param wallMicros since 1970-01-01T00:00:00Z
         */
        void touch(Map<String, SourcePosition> partitions, long wallMicros);

        /** How many partitions the source knows, for a figure. */
        void known(int partitions);
    }
}
