package io.turbidite.lsm.partition;

import io.turbidite.core.ClosedException;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A cursor's hold on a version of a partition, which can be taken from it between two of its calls:
 * so that a cursor that nobody moves keeps neither memory layers nor files alive, and so that the
 * store can be closed under it.
 *
 * <p>The cursor enters for each call and leaves at its end; whoever wants the version back enters
 * too, and finds nobody inside. Entering an idle hold is one compare-and-swap on a word that only
 * its cursor touches; a pin for each call instead would be two on a word that all readers share.
 *
 * <p><em>Thread-safe.</em> What the cursor changes inside is seen by who enters next:
 * {@link #leave} is a release store, entering an acquiring compare-and-swap.
 */
public final class VersionLease {
    private static final int FREE = 0;
    private static final int INSIDE = 1;
    private static final int CLOSED = 2;

    private final Source source;
    private final ViewState view;
    private final Runnable release;
    private final AtomicInteger state = new AtomicInteger(FREE);

    /** Whose versions are held: a partition. */
    public interface Source {
        /** Pins the version of now; the caller unpins it. */
        Version pin();

        /** Whether {@code pinned} is still the newest version; a hint for long cursors. */
        boolean isCurrent(Version pinned);

        /** The leases that are open, changed as they come and go. */
        Set<VersionLease> leases();

        StoreCore core();
    }

    /** Written inside; volatile, so that a look from outside is not stale for long. */
    private volatile @Nullable Version pinned;

    /**
     * @param release closes what the cursor has opened on a version; called inside
     */
    public VersionLease(Source source, ViewState view, Runnable release) {
        this.source = source;
        this.view = view;
        this.release = release;
        source.leases().add(this);
    }

    /**
     * Begins a call of the cursor.
     *
     * @throws ClosedException if the cursor, its view or the store is closed
     */
    public void enter() {
        if (!state.compareAndSet(FREE, INSIDE)) {
            enterSlowly();
        }
        boolean open = false;
        try {
            view.checkOpen();
            open = true;
        } finally {
            if (!open) {
                leave();
            }
        }
    }

    private void enterSlowly() {
        do {
            awaitNobodyInside();
            if (state.get() == CLOSED) {
                view.checkOpen();
                throw new ClosedException("the cursor");
            }
        } while (!state.compareAndSet(FREE, INSIDE));
    }

    private void awaitNobodyInside() {
        if (state.get() == INSIDE) {
            source.core().tasks().await(() -> state.get() != INSIDE);
        }
    }

    /** Ends the call. */
    public void leave() {
        state.setRelease(FREE);
    }

    /** Whether a call of the cursor is under way. */
    boolean isInside() {
        return state.get() == INSIDE;
    }

    public boolean isClosed() {
        return state.get() == CLOSED;
    }

    /** The version held, null if there is none or it was taken; to be asked inside. */
    @Nullable
    public Version version() {
        return pinned;
    }

    /**
     * Pins the newest version in place of the one held; inside.
     *
     * @throws ClosedException if the view was closed meanwhile: what it showed may be gone
     */
    public Version pin() {
        letGo();
        Version version = source.pin();
        pinned = version;
        view.checkOpen();
        return version;
    }

    private void letGo() {
        Version version = pinned;
        pinned = null;
        if (version != null) {
            version.unpin();
        }
    }

    /** How many cursors of a store were relieved of old versions while they were idle. */
    public static Counter letGoCount(Meters meters) {
        return meters.counter("cursors.let.go");
    }

    /** Takes the version back if it is not the newest and the cursor is idle. */
    void letGoIfStale() {
        Version seen = pinned;
        if (seen != null && !source.isCurrent(seen) && state.compareAndSet(FREE, INSIDE)) {
            letGo();
            leave();
            letGoCount(source.core().meters()).increment();
        }
    }

    /** Closes the cursor, once; waits for the call that is under way. */
    public void close() {
        while (!state.compareAndSet(FREE, CLOSED)) {
            awaitNobodyInside();
            if (state.get() == CLOSED) {
                return;
            }
        }
        source.leases().remove(this);
        try {
            release.run();
        } finally {
            letGo();
        }
    }
}
