package io.turbidite.ops;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Decides whose turn it is to use a result: one call at a time. If a close comes during a call,
 * that call carries it out when it ends. A call costs two compare-and-swaps on a word that nobody
 * else touches.
 *
 * <em>Thread-safe.</em> The next turn sees what a turn has changed.
 */
final class Turns {
    private static final int FREE = 0;
    private static final int INSIDE = 1;

    /** A call is under way, and will release everything when it leaves. */
    private static final int CLOSING = 2;

    private static final int CLOSED = 3;

    private static final AtomicIntegerFieldUpdater<Turns> STATE =
            AtomicIntegerFieldUpdater.newUpdater(Turns.class, "state");

    private volatile int state;

    /**
     * Begins a call.
     *
     * @throws InvalidRequestException if another call is under way
     * @throws ClosedException after a close
     */
    void enter() {
        if (!STATE.compareAndSet(this, FREE, INSIDE)) {
            checkOpen();
            throw new InvalidRequestException(
                    "the result of a query is used by two threads at once: it is for one at a time");
        }
    }

    /** Ends a call. True if the caller must release what was closed meanwhile. */
    boolean leave() {
        return !STATE.compareAndSet(this, INSIDE, FREE)
                && STATE.compareAndSet(this, CLOSING, CLOSED);
    }

    /**
     * Closes for good. True if the caller must release; else a running call does so, or it is done.
     */
    boolean close() {
        while (true) {
            switch (state) {
                case FREE -> {
                    if (STATE.compareAndSet(this, FREE, CLOSED)) {
                        return true;
                    }
                }
                case INSIDE -> {
                    if (STATE.compareAndSet(this, INSIDE, CLOSING)) {
                        return false;
                    }
                }
                default -> {
                    return false;
                }
            }
        }
    }

    void checkOpen() {
        if (state >= CLOSING) {
            throw new ClosedException("the result of a query");
        }
    }
}
