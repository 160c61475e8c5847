package io.turbidite.lsm.dataset;

import io.turbidite.core.InvalidRequestException;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Who may do what with a dataset now: writes unless it is being bulk loaded, one change of it at a
 * time, nothing once it is dropped.
 *
 * <p>Writers look without a lock. Whoever turns them away sets the mark first and then waits for
 * the writes in flight: those that did not see it are through.
 *
 * <p><em>Thread-safe.</em>
 */
public final class Admission {
    private final String dataset;
    private final AtomicBoolean changing = new AtomicBoolean();
    private volatile boolean loading;
    private volatile boolean dropped;

    Admission(String dataset) {
        this.dataset = dataset;
    }

    /** Checks that the dataset takes writes. */
    public void checkTakesWrites() {
        checkNotLoading();
        checkNotDropped();
    }

    private void checkNotLoading() {
        if (loading) {
            throw new InvalidRequestException("dataset %s is being bulk loaded".formatted(dataset));
        }
    }

    /** Checks that the dataset is there. */
    public void checkNotDropped() {
        if (dropped) {
            throw new InvalidRequestException("dataset %s was dropped".formatted(dataset));
        }
    }

    /**
     * Starts a change of schema, or of all records at once; one at a time.
     *
     * @throws InvalidRequestException if one is under way, or the dataset is gone
     */
    public void beginChange() {
        checkNotDropped();
        if (!changing.compareAndSet(false, true)) {
            throw new BeingChangedException(dataset);
        }
    }

    /** Whether somebody changes it at this moment. */
    public boolean isBeingChanged() {
        return changing.get();
    }

    public void endChange() {
        changing.set(false);
    }

    /** Starts a bulk load, which is a change that turns writers away. */
    public void beginLoad() {
        checkNotLoading();
        beginChange();
        loading = true;
    }

    public void endLoad() {
        loading = false;
        endChange();
    }

    public void markDropped(boolean gone) {
        dropped = gone;
    }
}
