package io.turbidite.feeds.manage;

import io.turbidite.feeds.FeedStage;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.OptionalLong;

/**
 * How a feed is at one moment. <em>Immutable.</em>
 *
 * @param name of the feed
 * @param dataset where its records go
 * @param state what it is about
 * @param stopped whether it has ended because somebody stopped it, and so doesn't start when the
 *     store is served again; false: by itself, or it has not ended
 * @param sinceMicros when it came to that state, by the wall clock in microseconds
 * @param records how many the store has accepted of it since the manager was opened
 * @param rejected how many became dead letters since then
 * @param dropped how many it left out since then because its definition says so
 * @param spilled how many have waited in files since then, by the policy spill
 * @param spillBytes how many bytes wait there now
 * @param bytes read from its source since then, as they are stored there
 * @param lagBytes how many bytes its source has beyond what is read, where that is known
 * @param workers how many parse workers it has now; 0 while it does not run
 * @param namesWorkers whether its definition says how many there are, or between which bounds
 * @param retryMicros when it tries again, by the wall clock, if it is retrying
 * @param cause of its last failure, or null if there was none since it was started
 * @param stages what each stage came to since the store was opened; empty of a feed that does not
 *     run
 * @param definition its text
 * @param directory to which paths in the definition are relative
 */
public record FeedStatus(
        String name,
        String dataset,
        FeedState state,
        boolean stopped,
        long sinceMicros,
        long records,
        long rejected,
        long dropped,
        long spilled,
        long spillBytes,
        long bytes,
        OptionalLong lagBytes,
        int workers,
        boolean namesWorkers,
        OptionalLong retryMicros,
        @Nullable String cause,
        List<FeedStage> stages,
        String definition,
        String directory) {
    /** Its state for people, who want to know a feed that was stopped from one that has ended. */
    public String word() {
        return stopped ? "stopped" : state.label();
    }
}
