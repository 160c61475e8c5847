package io.turbidite.feeds.source;

import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.parse.RecordParser;

import java.util.Map;
import java.util.Set;
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
            public Set<String> forget(Map<String, SourcePosition> partitions) {
                return Set.of();
            }

            @Override
            public void touch(Map<String, SourcePosition> partitions) {
                // nothing is kept
            }

            @Override
            public void known(int partitions) {
                // nobody asks
            }
        };

        /**
         * Deletes rows, as if nothing had been read of their partitions, which the source then
         * calls {@linkplain FeedSource#gone gone}.
         *
         * @param partitions with what the row must still say
         * @return those whose row stays: it says something else, or a batch may be on its way
         */
        Set<String> forget(Map<String, SourcePosition> partitions);

        /**
         * Writes rows anew, so that they tell the present time.
         *
         * @param partitions with what the row must still say; others stay as they are
         */
        void touch(Map<String, SourcePosition> partitions);

        /** How many partitions the source knows, for a figure. */
        void known(int partitions);
    }
}
