package io.turbidite.feeds.manage;

import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.FeedTurns;

/**
 * The run that a managed feed has: how it goes on from turn to turn, and how soon it is asked
 * again. <em>Confined to the feed's worker.</em>
 */
final class ManagedRun {
    /** How soon a source without news is asked for some; each time in vain, twice as late. */
    static final long WAIT_MICROS = 2_000;

    /** How often a store that is behind is asked: its ring of batches lasts some milliseconds. */
    static final long FULL_MICROS = 250;

    private final FeedTurns turns;
    private boolean isFull;
    private long waitMicros = WAIT_MICROS;

    /** Whether the last turn rested, and the source is asked for news right away. */
    private boolean asksAgain;

    private boolean hasFinished;

    /** What a turn came to. */
    enum Outcome {
        READ,
        RESTED,
        /** Nothing was to be done, or can be done now. */
        WAITS,
        /** The source is read to its end; not all of it may be delivered. */
        FINISHED,
        /** Somebody has asked for it. */
        STOPPED
    }

    ManagedRun(FeedTurns turns) {
        this.turns = turns;
    }

    FeedTurns turns() {
        return turns;
    }

    FeedReport report() {
        return turns.report();
    }

    /** Whether to end it waits for nothing that the store does. */
    boolean isDelivered() {
        return turns.isDelivered();
    }

    boolean hasFinished() {
        return hasFinished;
    }

    /** Whether the source is to be asked for news right away. */
    boolean asksAgain() {
        return asksAgain;
    }

    /** How soon the next turn is due, of a feed that waits for its source. */
    long waitMicros() {
        return isFull ? FULL_MICROS : waitMicros;
    }

    /**
     * A turn, if it is time for one.
     *
     * @param isWaiting whether the feed has caught up with its source
     */
    Outcome turn(boolean isWaiting) {
        if (isFull && !turns.hasRoom()) {
            return Outcome.WAITS;
        }
        if (!isFull && isWaiting && !turns.hasNews()) {
            // who hands a parcel in, as over HTTP, wakes it; of a file it hears when it asks
            waitMicros = Math.min(2 * waitMicros, turns.askMicrosMax());
            asksAgain = false;
            return Outcome.WAITS;
        }
        boolean wasFull = isFull;
        isFull = false;
        return switch (turns.next()) {
            case READ -> {
                waitMicros = WAIT_MICROS;
                asksAgain = false;
                yield Outcome.READ;
            }
            case RESTED -> {
                // who woke it while it was full has woken it for this; once, for a source may
                // always say that it has news
                asksAgain = wasFull && !asksAgain;
                yield Outcome.RESTED;
            }
            case FULL -> {
                isFull = true;
                waitMicros = WAIT_MICROS; // something has come, or has gone
                yield Outcome.WAITS;
            }
            case FINISHED -> {
                hasFinished = true;
                yield Outcome.FINISHED;
            }
            case STOPPED -> Outcome.STOPPED;
        };
    }

    /** Ends it: delivers what was read. */
    void close() {
        turns.close();
    }
}
