package io.turbidite.lsm.version;

import io.turbidite.lsm.component.DiskComponent;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A disk component and who holds it. Born with one reference, its creator's; when the last one goes the
 * component is closed, and its file goes to the {@link Graveyard} if a manifest without it is durable.
 *
 * <p>Whoever is going to replace or drop components (a merge, retention) claims them first, so that nobody
 * else does; readers don't care.
 *
 * <p><em>Thread-safe:</em> count and claim by compare-and-swap, {@code obsolete} by release and acquire.
 */
public final class ComponentHandle {
    private final ManifestState.ComponentState state;
    private final DiskComponent component;
    private final Graveyard graveyard;
    private final AtomicInteger references = new AtomicInteger(1);
    private final AtomicBoolean claimed = new AtomicBoolean();
    private volatile boolean obsolete;

    public ComponentHandle(
            ManifestState.ComponentState state, DiskComponent component, Graveyard graveyard) {
        this.state = state;
        this.component = component;
        this.graveyard = graveyard;
    }

    public ManifestState.ComponentState state() {
        return state;
    }

    public DiskComponent component() {
        return component;
    }

    /** Whether this has the same component ID as {@code other}. */
    boolean covers(ComponentHandle other) {
        return state.minTimestamp() == other.state.minTimestamp()
                && state.maxTimestamp() == other.state.maxTimestamp();
    }

    /** Takes a reference; whoever calls holds one, or a version that does. */
    public void retain() {
        int before = references.getAndIncrement();
        assert before > 0 : "component " + state.fileId() + " was let go";
    }

    /** Lets one reference go. */
    public void release() {
        int left = references.decrementAndGet();
        assert left >= 0 : "component " + state.fileId() + " is let go twice";
        if (left == 0) {
            component.close();
            if (obsolete) {
                graveyard.bury(state.fileId());
            }
        }
    }

    /**
     * Claims the component for replacement. Whoever got it then looks whether the partition's current
     * version still has it: the one who had it before may have replaced it.
     *
     * @return false if somebody else has it
     */
    public boolean tryClaim() {
        return claimed.compareAndSet(false, true);
    }

    /** Gives the claim back, after the version without the component is installed or all is given up. */
    public void unclaim() {
        boolean was = claimed.getAndSet(false);
        assert was : "component " + state.fileId() + " was not claimed";
    }

    public boolean isClaimed() {
        return claimed.get();
    }

    /** A durable manifest no longer names the file: it is deleted when nobody reads it any more. */
    public void markObsolete() {
        obsolete = true;
    }

    public boolean isObsolete() {
        return obsolete;
    }
}
