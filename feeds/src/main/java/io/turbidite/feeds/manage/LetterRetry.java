package io.turbidite.feeds.manage;

import io.turbidite.core.ClosedException;
import io.turbidite.feeds.FeedReport;

import org.jspecify.annotations.Nullable;

/** Dead letters that are fed again, between runs of the feed. <em>Guarded by the feed.</em> */
final class LetterRetry {
    /** Of the worker. */
    boolean isBegun;

    private @Nullable FeedReport report;
    private @Nullable Throwable failure;

    boolean isDone() {
        return report != null || failure != null;
    }

    void end(FeedReport with) {
        report = with;
    }

    void fail(Throwable why) {
        failure = why;
    }

    /**
     * What it came to.
     *
     * @throws ClosedException if the manager was closed before
     */
    FeedReport result() {
        if (report != null) {
            return report;
        }
        switch (failure) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> throw new ClosedException("the manager of feeds");
        }
    }
}
