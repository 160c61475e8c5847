package io.turbidite.core.catalog;

import org.jspecify.annotations.Nullable;

import java.time.Instant;

/**
 * How a feed is at one moment. <em>Immutable.</em>
 *
 * @param name of the feed
 * @param dataset where its records go; null if its definition is wrong by now
 * @param state in one word, as {@code docs/feeds.md} has them
 * @param since when it came to that state
 * @param records how many the store has accepted of it since it is served
 * @param rejected how many became dead letters since then
 * @param dropped how many it left out since then because its definition says so
 * @param cause of its last failure; null if there was none since it was started
 */
public record FeedDescription(
        String name,
        @Nullable String dataset,
        String state,
        Instant since,
        long records,
        long rejected,
        long dropped,
        @Nullable String cause) {}
