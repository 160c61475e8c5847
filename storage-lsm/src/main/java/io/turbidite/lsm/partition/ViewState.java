package io.turbidite.lsm.partition;

import io.turbidite.core.ClosedException;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * What a view shares with its cursors: the snapshot, and whether it is still open.
 *
 * <p><em>Thread-safe.</em>
 */
public final class ViewState {
    private static final AtomicLongFieldUpdater<ViewState> CANDIDATES =
            AtomicLongFieldUpdater.newUpdater(ViewState.class, "candidates");
    private static final AtomicLongFieldUpdater<ViewState> PASSED_OVER =
            AtomicLongFieldUpdater.newUpdater(ViewState.class, "passedOver");

    private final long timestamp;
    private final StoreHealth health;
    private final @Nullable ViewState parent;

    /** Changed through {@link #CANDIDATES}: few views validate anything. */
    @SuppressWarnings("UnusedVariable") // read by its updater
    private volatile long candidates;

    /** Changed through {@link #PASSED_OVER}. */
    @SuppressWarnings("UnusedVariable") // read by its updater
    private volatile long passedOver;

    /**
     * The index that was searched last and shows obsolete entries too; 0 before. For statistics
     * alone.
     */
    private volatile int searchedIndex;

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

    /** An index is searched whose entries the reader has to validate. */
    public void searching(int index) {
        searchedIndex = index;
    }

    /** Whether an index was searched whose entries the reader has to validate. */
    public boolean readsCandidates() {
        return searchedIndex != 0;
    }

    /**
     * What a reader has found out of candidates; of the index that was searched last. A view is
     * about as much as a query.
     */
    public void validated(WorkMeter work, long candidateCount, long obsoleteCount) {
        int index = searchedIndex;
        if (index != 0) {
            work.passedOver(
                    index,
                    obsoleteCount,
                    PASSED_OVER.addAndGet(this, obsoleteCount),
                    CANDIDATES.addAndGet(this, candidateCount));
        }
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
