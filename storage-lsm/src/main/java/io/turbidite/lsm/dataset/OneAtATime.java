package io.turbidite.lsm.dataset;

import io.turbidite.core.InvalidRequestException;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Whether a thread is in a call of an object that is for one thread at a time: another's call is
 * refused, before it makes half a record of two. A call costs a compare-and-swap on a word that
 * nobody else touches.
 *
 * <p><em>Thread-safe.</em> What a call has changed is seen by the next one: {@link #leave} is a
 * release store, {@link #enter} an acquiring compare-and-swap.
 */
public final class OneAtATime {
    private final String what;
    private final AtomicBoolean inside = new AtomicBoolean();

    /** @param what whose calls they are, for people */
    public OneAtATime(String what) {
        this.what = what;
    }

    /**
     * Begins a call. Not for calls out of calls.
     *
     * @throws InvalidRequestException if one is under way
     */
    public void enter() {
        if (!tryEnter()) {
            throw new InvalidRequestException(
                    what + " is used by two threads at once: it is for one at a time");
        }
    }

    public boolean isInside() {
        return inside.get();
    }

    public boolean tryEnter() {
        return inside.compareAndSet(false, true);
    }

    public void leave() {
        inside.setRelease(false);
    }
}
