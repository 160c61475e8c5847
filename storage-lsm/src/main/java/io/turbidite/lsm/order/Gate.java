package io.turbidite.lsm.order;

import io.turbidite.core.task.Tasks;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Many may be inside, or one may have it closed with nobody inside: the shared and exclusive sides
 * of the lock that switches memory components (D2). Entering an open gate is one compare-and-swap.
 *
 * <p><em>Thread-safe.</em> Not reentrant. Whoever is inside never waits for anything.
 */
public final class Gate {
    private static final long CLOSED = 1L << 62;

    private final AtomicLong state = new AtomicLong();
    private final Tasks tasks;

    public Gate(Tasks tasks) {
        this.tasks = tasks;
    }

    /** Enters; waits while the gate is closed. */
    public void enter() {
        while (true) {
            long seen = state.get();
            if (seen >= CLOSED) {
                tasks.await(() -> state.get() < CLOSED);
            } else if (state.compareAndSet(seen, seen + 1)) {
                return;
            }
        }
    }

    /**
     * Enters unless the gate is closed.
     *
     * @return whether it did
     */
    public boolean tryEnter() {
        long seen = state.get();
        while (seen < CLOSED) {
            if (state.compareAndSet(seen, seen + 1)) {
                return true;
            }
            seen = state.get();
        }
        return false;
    }

    public boolean isOpen() {
        return state.get() < CLOSED;
    }

    public void leave() {
        if (state.decrementAndGet() == CLOSED) {
            tasks.signal();
        }
    }

    /**
     * Closes the gate to those who are not inside yet, and waits for nobody.
     *
     * @return false if somebody else has it closed
     */
    public boolean tryClose() {
        long seen = state.get();
        while (seen < CLOSED) {
            if (state.compareAndSet(seen, seen + CLOSED)) {
                return true;
            }
            seen = state.get();
        }
        return false;
    }

    /** Whether the gate is closed with nobody inside. */
    public boolean isEmpty() {
        return state.get() == CLOSED;
    }

    /**
     * Closes the gate and returns when nobody is inside; it is as it was if waiting for that fails.
     */
    public void close() {
        while (true) {
            long seen = state.get();
            if (seen >= CLOSED) {
                tasks.await(() -> state.get() < CLOSED);
            } else if (state.compareAndSet(seen, seen + CLOSED)) {
                break;
            }
        }
        boolean empty = false;
        try {
            if (state.get() != CLOSED) {
                tasks.await(() -> state.get() == CLOSED);
            }
            empty = true;
        } finally {
            if (!empty) {
                open();
            }
        }
    }

    public void open() {
        state.addAndGet(-CLOSED);
        tasks.signal();
    }
}
