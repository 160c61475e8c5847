package io.turbidite.feeds.source;

import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.parse.RecordParser;

import java.util.function.BooleanSupplier;

/**
 * What a run hands to its source. <em>Immutable.</em>
 *
 * @param feed the feed's name, for messages
 * @param parser says how records end, and is given each header; for the thread of the run
 * @param separator between the fields of a record, where the parser has fields
 * @param tasks to wait with
 * @param clock the time
 * @param stopped whether the run should end; to be asked often where something takes long
 */
public record SourceHost(
        String feed,
        RecordParser parser,
        char separator,
        Tasks tasks,
        Clock clock,
        BooleanSupplier stopped) {}
