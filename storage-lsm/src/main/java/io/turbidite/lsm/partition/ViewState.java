package io.turbidite.lsm.partition;

import io.turbidite.core.ClosedException;

import org.jspecify.annotations.Nullable;

/**
 * What a view shares with its cursors: the snapshot, and whether it is still open.
 *
 * <p><em>Thread-safe.</em>
 */
public final class ViewState {
    private final long timestamp;
    private final StoreHealth health;
    private final @Nullable ViewState parent;
    private volatile boolean closed;

    public ViewState(long timestamp, StoreHealth health) {
        this(timestamp, health, null);
    }

    private ViewState(long timestamp, StoreHealth health, @Nullable ViewState parent) {
        this.timestamp = timestamp;
        this.health = health;
        this.parent = parent;
    }

    /** A state of its own with the same snapshot, which is closed when this one is. */
    public ViewState shared() {
        return new ViewState(timestamp, health, this);
    }

    public long timestamp() {
        return timestamp;
    }

    /**
     * Closes the view.
     *
     * @return whether this call closed it
     */
    public synchronized boolean close() {
        boolean closes = !closed;
        closed = true;
        return closes;
    }

    /**
     * Checks that the view can be read.
     *
     * @throws ClosedException if it, or the store, is closed
     */
    public void checkOpen() {
        if (closed) {
            throw new ClosedException("the view");
        }
        if (parent != null) {
            parent.checkOpen();
        }
        health.checkReadable();
    }
}
