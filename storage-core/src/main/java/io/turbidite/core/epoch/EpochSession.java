package io.turbidite.core.epoch;

import io.turbidite.core.ClosedException;

/**
 * One worker's stand towards the epochs: while protected, nothing it has read is taken away.
 *
 * <p><em>Confined to one thread at a time</em>; it may move between threads while not protected. It
 * is an object and no thread-local, so that virtual threads, pools and simulations can hold as many
 * as they need. A session that blocks unprotects first: it would stall every page turn and
 * registration.
 */
public final class EpochSession implements AutoCloseable {
    private final Epochs epochs;
    private final int slot;
    private final String name;
    private boolean closed;

    EpochSession(Epochs epochs, int slot, String name) {
        this.epochs = epochs;
        this.slot = slot;
        this.name = name;
    }

    /** Enters the current epoch; shared state read from now on stays until the next refresh. */
    public void protect() {
        if (closed) {
            throw new ClosedException("session " + name);
        }
        epochs.enter(slot);
    }

    /** Lets go of everything read so far and enters the current epoch. */
    public void refresh() {
        assert isProtected() : name + " refreshes without protection";
        if (epochs.entered(slot) != epochs.current()) {
            epochs.enter(slot);
        }
        if (epochs.waitingCount() > 0) {
            epochs.drain();
        }
    }

    /** Lets go of everything; whatever waited for this session alone runs now. */
    public void unprotect() {
        epochs.leave(slot);
    }

    public boolean isProtected() {
        return epochs.entered(slot) != 0;
    }

    public String name() {
        return name;
    }

    /** Unprotects and gives the place to others. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            unprotect();
            epochs.forget(slot);
        }
    }

    @Override
    public String toString() {
        return "EpochSession[%s at %d]".formatted(name, epochs.entered(slot));
    }
}
