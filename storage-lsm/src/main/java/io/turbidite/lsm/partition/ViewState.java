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

    /** Whether that search has told of the entries that it shows as certainly valid. */
    private volatile boolean tellsCertain;

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
     * An index is searched whose entries the reader has to validate.
     *
     * @param certain whether the search {@link #decided tells} of those that it shows as certainly
     *     valid, so that whoever validates the others does not count them again
     */
    public void searching(int index, boolean certain) {
        tellsCertain = certain;
        searchedIndex = index;
    }

    /** Whether entries that are certainly valid have been told of when they were shown. */
    public boolean tellsCertain() {
        return tellsCertain;
    }

    /** Whether an index was searched whose entries the reader has to validate. */
    public boolean readsCandidates() {
        return searchedIndex != 0;
    }

    /**
     * As {@link #validated}, of what was found out by timestamps alone: the dataset's counts hear
     * of it too.
     */
    public void decided(WorkMeter work, long candidateCount, long obsoleteCount) {
        if (candidateCount > 0) {
            work.validated(candidateCount, candidateCount - obsoleteCount);
            validated(work, candidateCount, obsoleteCount);
        }
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
