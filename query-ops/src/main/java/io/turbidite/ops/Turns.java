package io.turbidite.ops;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Whose turn it is with a result: one call at a time, and a close that a call under way carries out when it ends. A
 * call costs two compare-and-swaps on a word that nobody else touches.
 *
 * <p><em>Thread-safe.</em> What a turn has changed is seen by the next one.
 */
final class Turns {
    private static final int FREE = 0;
    private static final int INSIDE = 1;

    /** A call is under way, and releases everything when it leaves. */
    private static final int CLOSING = 2;

    private static final int CLOSED = 3;

    private final AtomicInteger state = new AtomicInteger();

    /**
     * Begins a call.
     *
     * @throws InvalidRequestException if one is under way
     * @throws ClosedException after a close
     */
    void enter() {
        if (!state.compareAndSet(FREE, INSIDE)) {
            checkOpen();
            throw new InvalidRequestException(
                    "the result of a query is used by two threads at once: it is for one at a time");
        }
    }

    /** Ends a call; true if it is to release what was closed meanwhile. */
    boolean leave() {
        return !state.compareAndSet(INSIDE, FREE) && state.compareAndSet(CLOSING, CLOSED);
    }

    /** Closes for good; true if the caller is to release, else a call under way does, or it is done. */
    boolean close() {
        while (true) {
            switch (state.get()) {
                case FREE -> {
                    if (state.compareAndSet(FREE, CLOSED)) {
                        return true;
                    }
                }
                case INSIDE -> {
                    if (state.compareAndSet(INSIDE, CLOSING)) {
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
        if (state.get() >= CLOSING) {
            throw new ClosedException("the result of a query");
        }
    }
}
