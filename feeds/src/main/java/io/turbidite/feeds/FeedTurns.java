package io.turbidite.feeds;

import io.turbidite.core.StorageException;
import io.turbidite.feeds.store.FeedDelivery;

/**
 * A run of a feed in turns: each reads a little, so that one who runs many feeds, on few threads or
 * on simulated ones, says when each of them goes on.
 *
 * <p><em>Confined to one thread at a time.</em> {@link Feed#stop} ends it too.
 */
public final class FeedTurns implements AutoCloseable {
    private static final double NANOS_PER_SECOND = 1e9;

    private final Feed feed;
    private final FeedRun run;
    private final long startNanos;
    private final long acceptedBefore;
    private final long rejectedBefore;
    private boolean finished;
    private boolean closed;

    /** What a turn came to. */
    public enum Outcome {
        /** There may be more to read right away. */
        READ,
        /**
         * There was nothing to read, and all that was read is in the store; there may be more
         * later: see {@link #hasNews}.
         */
        RESTED,
        /** The store is behind: see {@link #hasRoom}. */
        FULL,
        /** The source is read to its end. */
        FINISHED,
        /** The feed was told to stop. */
        STOPPED
    }

    FeedTurns(Feed feed, FeedProgress progress) {
        this.feed = feed;
        this.startNanos = feed.clock().monotonicNanos();
        this.acceptedBefore = feed.delivery().accepted();
        this.rejectedBefore = feed.delivery().rejected();
        this.run = feed.newRun(progress);
    }

    /** All turns at once. */
    FeedReport run() {
        finished = run.run();
        closed = true;
        return report();
    }

    /**
     * Reads a batch, or of an endless source one of each partition. Waits for nothing that the
     * store does.
     *
     * @throws StorageException if the source can't be read further or the store takes no more.
     *     Then {@link #close}: what was accepted is committed
     */
    public Outcome next() {
        FeedRun.Turn turn = run.turn();
        finished = turn == FeedRun.Turn.FINISHED;
        return switch (turn) {
            case READ -> Outcome.READ;
            case RESTED -> Outcome.RESTED;
            case FULL -> Outcome.FULL;
            case FINISHED -> Outcome.FINISHED;
            case STOPPED -> Outcome.STOPPED;
        };
    }

    /** After a turn that rested: whether the next one may find something. Cheap. */
    public boolean hasNews() {
        return run.hasNews();
    }

    /** How late that should be asked at most, in microseconds, if nobody wakes the feed. */
    public long askMicrosMax() {
        return run.askMicrosMax();
    }

    /** After a turn that found the store behind: whether the next one may go on. Cheap. */
    public boolean hasRoom() {
        return run.hasRoom();
    }

    /** Whether all that was read is in the store, so that {@link #close} does not wait for it. */
    public boolean isDelivered() {
        return closed || run.isDelivered();
    }

    /** How many records were left out so far, because the definition says so. */
    public long dropped() {
        return run.dropped();
    }

    /** How many parse workers there are. */
    public int workers() {
        return run.workers();
    }

    /** How many records have waited in files so far. */
    public long spilled() {
        return run.spilled();
    }

    /** How many bytes wait in files for the store. */
    public long spillBytes() {
        return run.spillBytes();
    }

    /** What the run came to so far; whole when it is closed. */
    public FeedReport report() {
        FeedDelivery delivery = feed.delivery();
        return new FeedReport(
                feed.definition().feed(),
                feed.definition().dataset().name(),
                delivery.accepted() - acceptedBefore,
                delivery.rejected() - rejectedBefore,
                run.dropped(),
                run.spilled(),
                run.waiting(),
                run.continued(),
                (feed.clock().monotonicNanos() - startNanos) / NANOS_PER_SECOND,
                finished,
                run.resumed(),
                delivery.deadLetters());
    }

    /**
     * Delivers what was read, and ends the run. Waits while the store takes no more.
     *
     * @throws StorageException if the store does not take it; the next run reads it again
     */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            run.end();
        }
    }
}
