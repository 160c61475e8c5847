package io.turbidite.feeds;

import io.turbidite.core.meter.StoreEvent.SourceContinued;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The result of a feed's run. <em>Immutable.</em>
 *
 * @param feed its name
 * @param dataset where records went
 * @param records how many the store accepted in this run
 * @param rejected how many became dead letters in this run
 * @param dropped how many were left out in this run, because the definition says so
 * @param seconds by the clock, from the start of the run to the last batch
 * @param spilled how many waited in files in this run, by the policy spill
 * @param waiting unfinished records at the end of growing files. A later run takes them, when they
 *     have a line end or their file rests
 * @param continued records that an earlier run had taken and that turned out to go on
 * @param finished whether the run read the source to its end; false if the feed was stopped
 * @param resumed whether earlier runs had delivered some of the source, or all of it
 * @param deadLetters the file of the dead letters, or null if this feed has had none
 */
public record FeedReport(
        String feed,
        String dataset,
        long records,
        long rejected,
        long dropped,
        long spilled,
        long waiting,
        List<SourceContinued> continued,
        double seconds,
        boolean finished,
        boolean resumed,
        @Nullable String deadLetters) {
    public FeedReport {
        continued = List.copyOf(continued);
    }
}
