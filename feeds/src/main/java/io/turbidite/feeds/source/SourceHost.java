package io.turbidite.feeds.source;

import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.parse.RecordParser;

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
 */
public record SourceHost(
        String feed,
        RecordParser parser,
        char separator,
        Tasks tasks,
        Clock clock,
        BooleanSupplier stopped,
        Gaps gaps) {
    /** Without anybody to be told of gaps. */
    public SourceHost(
            String feed,
            RecordParser parser,
            char separator,
            Tasks tasks,
            Clock clock,
            BooleanSupplier stopped) {
        this(feed, parser, separator, tasks, clock, stopped, (partition, from, to) -> {});
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
}
