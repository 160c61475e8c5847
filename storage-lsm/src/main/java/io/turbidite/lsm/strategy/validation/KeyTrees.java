package io.turbidite.lsm.strategy.validation;

import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import java.util.List;

/**
 * The primary's components at one moment, whose key trees index entries are checked against, and up
 * to where. It holds them, not the version: a long repair keeps no memory layer alive.
 *
 * <p><em>Immutable.</em> The owner closes it.
 */
public final class KeyTrees implements AutoCloseable {
    private final List<ComponentHandle> newestFirst;
    private final long reach;

    private KeyTrees(List<ComponentHandle> newestFirst, long reach) {
        this.newestFirst = newestFirst;
        this.reach = reach;
    }

    /**
     * Holds the primary's components of a version.
     *
     * @param horizon nobody reads below it, now or later; asked for after the version was pinned
     */
    public static KeyTrees hold(Version pinned, long horizon) {
        List<ComponentHandle> newestFirst = pinned.tree(TreeId.PRIMARY);
        newestFirst.forEach(ComponentHandle::retain);
        // what is above the newest component is in memory
        long newest = newestFirst.isEmpty() ? 0 : newestFirst.getFirst().state().maxTimestamp();
        return new KeyTrees(newestFirst, Math.min(horizon, newest));
    }

    /**
     * Up to where successors are found, and may be: at or below the horizon. It is the repaired
     * timestamp of what is checked against all trees that are newer than its own.
     */
    public long reach() {
        return reach;
    }

    /** The components that may hold successors of what is checked that far; newest first. */
    List<ComponentHandle> newerThan(long checkedUntil) {
        int count = 0;
        while (count < newestFirst.size()
                && newestFirst.get(count).state().maxTimestamp() > checkedUntil) {
            count++;
        }
        return newestFirst.subList(0, count);
    }

    /** Entries of the key trees that {@link #newerThan} names. */
    public long countNewerThan(long checkedUntil) {
        long count = 0;
        for (ComponentHandle handle : newerThan(checkedUntil)) {
            count += handle.component().entryCount();
        }
        return count;
    }

    /**
     * Whether a component that is not searched covers a timestamp. Then an entry that no searched
     * one knows is valid; otherwise its record is gone, with the anti-matter that hid it (design §4
     * rule 1).
     */
    boolean isCoveredUpTo(long checkedUntil, long timestamp) {
        for (ComponentHandle handle : newestFirst) {
            if (handle.state().maxTimestamp() <= checkedUntil && handle.state().covers(timestamp)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        newestFirst.forEach(ComponentHandle::release);
    }
}
