package io.turbidite.feeds;

import org.jspecify.annotations.Nullable;

/**
 * What a run of a feed did. <em>Immutable.</em>
 *
 * @param feed its name
 * @param dataset where records went
 * @param records how many the store accepted in this run
 * @param rejected how many became dead letters in this run
 * @param seconds by the clock, from the start of the run to the last batch
 * @param finished whether the source was read to its end; false if the feed was stopped
 * @param resumed whether earlier runs had delivered some of the source, or all of it
 * @param deadLetters the file that holds the dead letters, or null if this feed has had none
 */
public record FeedReport(
        String feed,
        String dataset,
        long records,
        long rejected,
        double seconds,
        boolean finished,
        boolean resumed,
        @Nullable String deadLetters) {}
