package io.turbidite.lsm.strategy.validation;

import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairOptions;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the repairs of several indexes of a partition have in common: the key trees that they check
 * against, and, where it pays, one scan of them that spares most entries a search.
 *
 * <p><em>Thread-safe</em>: of the workers one at a time reads on. The last repair that lets go
 * closes it.
 */
final class SharedKeyTrees {
    private final KeyTrees keyTrees;

    /** Gathered by whoever has taken {@link #reading}; read by all once {@link #ready}. */
    private final @Nullable LiveTimestamps live;

    private final AtomicBoolean reading = new AtomicBoolean();
    private final AtomicBoolean told = new AtomicBoolean();
    private final AtomicInteger users;
    private volatile boolean ready;

    private SharedKeyTrees(KeyTrees keyTrees, @Nullable LiveTimestamps live, int users) {
        this.keyTrees = keyTrees;
        this.live = live;
        this.users = new AtomicInteger(users);
        this.ready = live == null;
    }

    /**
     * What the repairs of these indexes share, one user each.
     *
     * @param pinned before the horizon is asked for
     */
    static SharedKeyTrees of(
            Version pinned, StoreCore core, List<Integer> indexIds, RepairOptions options) {
        KeyTrees keyTrees = KeyTrees.hold(pinned, core.timestamps().horizon());
        SharedKeyTrees shared = null;
        try {
            long superseded = 0;
            for (int indexId : indexIds) {
                for (ComponentHandle handle :
                        RepairWork.unchecked(pinned, TreeId.of(indexId), keyTrees.reach())) {
                    superseded += Math.min(
                            handle.livingCount(),
                            keyTrees.countNewerThan(handle.state().repairedTimestamp()));
                }
            }
            LiveTimestamps live =
                    LiveTimestamps.begin(keyTrees, superseded, options, core.chunks());
            shared = new SharedKeyTrees(keyTrees, live, indexIds.size());
            return shared;
        } finally {
            if (shared == null) {
                keyTrees.close();
            }
        }
    }

    KeyTrees keyTrees() {
        return keyTrees;
    }

    boolean isReady() {
        return ready;
    }

    /** What the scan has gathered, once it is ready; null if there is none. */
    @Nullable
    LiveTimestamps live() {
        assert ready;
        return live;
    }

    /** Reads on; false if there is nothing to read, or another worker is at it. */
    boolean advance(long entriesMax) {
        LiveTimestamps gathered = live;
        if (ready || gathered == null || !reading.compareAndSet(false, true)) {
            return false;
        }
        try {
            // ready may have become true just before reading was taken: nothing is left to read
            ready = gathered.advance(entriesMax);
            return true;
        } finally {
            reading.set(false);
        }
    }

    /** What the scan has read, told once. */
    RepairCounts takeCounts() {
        LiveTimestamps gathered = live;
        if (!ready || gathered == null || !told.compareAndSet(false, true)) {
            return RepairCounts.NONE;
        }
        return new RepairCounts(0, 0, 0, 0, 0, gathered.pageCount(), 0);
    }

    /** A repair is over. */
    void release() {
        if (users.decrementAndGet() == 0) {
            if (live != null) {
                live.close();
            }
            keyTrees.close();
        }
    }
}
