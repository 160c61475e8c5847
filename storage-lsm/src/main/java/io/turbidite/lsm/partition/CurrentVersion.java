package io.turbidite.lsm.partition;

import io.turbidite.lsm.order.Gate;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.BuildConcurrency;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/**
 * The newest version of a partition, which readers pin and writers apply to, and every way to put
 * another in its place: a layer is frozen, components are installed, the schema changes, the
 * dataset is dropped.
 *
 * <p><em>Thread-safe.</em> The reference changes under this object's monitor, held for no I/O. What
 * takes components away or puts them in is called under the manifest's lock, so that the manifest
 * and the version change in the same order.
 */
public final class CurrentVersion {
    private final StoreCore core;
    private final Gate gate;

    /** Of every open cursor. */
    private final Set<VersionLease> holds = ConcurrentHashMap.newKeySet();

    private volatile Version version;
    private final Runnable notHistory;
    private volatile boolean dropped;
    private long flushedTimestamp;

    /**
     * @param notHistory called when what was known of live versions may not be so
     */
    CurrentVersion(
            StoreCore core,
            Gate gate,
            Version version,
            long flushedTimestamp,
            Runnable notHistory) {
        this.notHistory = notHistory;
        this.core = core;
        this.gate = gate;
        this.version = version;
        this.flushedTimestamp = flushedTimestamp;
    }

    /** The version of now, not pinned; inside the gate its current and frozen layers stay. */
    Version get() {
        return version;
    }

    /** Pins the version of now; null if the dataset was dropped. */
    @Nullable
    Version pin() {
        while (!dropped) {
            Version seen = version;
            if (seen.tryPin()) {
                return seen;
            }
            core.health().checkReadable();
            Thread.onSpinWait();
        }
        return null;
    }

    /** Whether the dataset is gone: nothing is flushed or merged any more. */
    boolean isDropped() {
        return dropped;
    }

    /** Operations at or below it are in disk components. */
    synchronized long flushedTimestamp() {
        return flushedTimestamp;
    }

    Set<VersionLease> holds() {
        return holds;
    }

    /**
     * Freezes the current layer and puts an empty one above it, unless one is frozen already or
     * there is nothing to freeze.
     *
     * @return whether there is a frozen layer now
     */
    public boolean freeze() {
        gate.close();
        try {
            Version seen = version;
            if (dropped || seen.frozen() != null || seen.current().isEmpty()) {
                return !dropped && seen.frozen() != null;
            }
            freezeCurrent(seen.schema());
            return true;
        } finally {
            gate.open();
        }
    }

    /** Inside the closed gate, when no layer is frozen. */
    private void freezeCurrent(DatasetSchema schema) {
        // every operation of this partition that has drawn a timestamp has left the gate
        long last = core.timestamps().lastDrawn();
        // made first: should memory be out, nothing has changed
        MemoryLayer fresh = newLayer(schema, last + 1);
        version.current().freeze(last, core.clock().wallMicros());
        if (ComponentFiles.isLive(schema, TreeId.PRIMARY)) {
            MemoryLayer frozen = version.current();
            frozen.open(BuildConcurrency.ofLayer(
                    schema.bitmapHandover().isByLocks(),
                    frozen.tree(TreeId.PRIMARY).entryCount(),
                    core.builds()));
        }
        swap(before -> before.withFrozen(fresh));
        fresh.release();
    }

    private MemoryLayer newLayer(DatasetSchema schema, long minTimestamp) {
        return new MemoryLayer(
                core.chunks(),
                schema,
                minTimestamp,
                core.log().position(),
                core.clock().wallMicros());
    }

    /**
     * Goes over to a schema with an index more: writers put into its tree from the returned
     * timestamp on. The layer that lacks it is frozen; it and all older ones are the builder's.
     *
     * @return the first timestamp whose operation is in the tree; -1 if a layer is frozen already:
     *     try again when it is flushed
     */
    public long beginIndex(DatasetSchema changed) {
        gate.close();
        try {
            Version seen = version;
            if (seen.frozen() != null) {
                return -1;
            }
            if (seen.current().isEmpty()) {
                MemoryLayer fresh = newLayer(changed, seen.current().minTimestamp());
                swap(before -> before.withCurrent(fresh));
                fresh.release();
            } else {
                freezeCurrent(changed);
            }
            long below = version.current().minTimestamp();
            swap(before -> before.withSchema(changed));
            return below;
        } finally {
            gate.open();
        }
    }

    /** Puts what was built under what was flushed since {@link #beginIndex}. */
    public void installBuilt(TreeId tree, List<ComponentHandle> built) {
        swap(before -> before.withOldest(tree, built));
    }

    /**
     * Goes over to a schema whose trees are among those of the present one. Files of trees that go
     * are deleted when nobody reads them any more: no manifest may name them by now.
     */
    public void installSchema(DatasetSchema changed) {
        Version before = version;
        if (before.schema().equals(changed)) {
            return;
        }
        for (TreeId id : before.schema().treeIds()) {
            if (!changed.treeIds().contains(id)) {
                before.tree(id).forEach(ComponentHandle::markObsolete);
            }
        }
        for (RegionLayer region : before.regions()) {
            if (changed.index(region.tree()) == null) {
                region.handle().markObsolete();
            }
        }
        swap(now -> now.withSchema(changed));
    }

    /** Installs the region of an index that is about to be ready. */
    public void installRegion(RegionLayer region) {
        swap(now -> now.withRegion(region));
    }

    /**
     * Installs the components of the frozen layer by tree; called under the manifest's lock.
     *
     * @param inGate runs in the closed gate, if the primary has a live bitmap
     */
    public void installFlushed(
            Map<TreeId, ComponentHandle> flushed,
            long newFlushedTimestamp,
            @Nullable Runnable inGate) {
        if (dropped) {
            flushed.values().forEach(ComponentHandle::markObsolete);
            return;
        }
        MemoryLayer frozen = Objects.requireNonNull(version.frozen());
        synchronized (this) {
            flushedTimestamp = newFlushedTimestamp;
        }
        swap(before -> before.withFlushed(flushed, newFlushedTimestamp), inGate);
        // asked after that: its build concurrency grows until no writer sees it any more
        long freed = frozen.reportedBytes();
        flushed.forEach((id, component) -> {
            if (!version.hasTree(id)) {
                component.markObsolete();
            }
        });
        core.account().addUnflushed(-freed);
    }

    /**
     * Installs loaded components under a fresh memory layer; called under the manifest's lock,
     * while nobody writes to the partition.
     *
     * @param components one for each tree
     */
    public void installLoaded(Map<TreeId, ComponentHandle> components) {
        long loaded =
                Objects.requireNonNull(components.get(TreeId.PRIMARY)).state().maxTimestamp();
        DatasetSchema schema = version.schema();
        MemoryLayer fresh = newLayer(schema, loaded + 1);
        Map<TreeId, List<ComponentHandle>> trees = new HashMap<>();
        components.forEach((id, component) -> trees.put(id, List.of(component)));
        synchronized (this) {
            flushedTimestamp = loaded;
        }
        swap(before -> before.withLoaded(fresh, trees, loaded));
        fresh.release();
    }

    /**
     * Installs merged components; called under the manifest's lock.
     *
     * @param inGate runs in the closed gate, if the primary is merged and has a live bitmap
     */
    public void installMerged(List<Version.MergedTree> merges, @Nullable Runnable inGate) {
        swap(before -> before.withMerged(merges), inGate);
        for (Version.MergedTree merge : merges) {
            if (dropped || !version.hasTree(merge.tree())) {
                merge.output().markObsolete();
            }
            merge.inputs().forEach(ComponentHandle::markObsolete);
        }
    }

    /** Installs a component with another bitmap; called under the manifest's lock. */
    public void installRepaired(TreeId tree, ComponentHandle before, ComponentHandle after) {
        swap(now -> now.withMerged(List.of(new Version.MergedTree(tree, List.of(before), after))));
        if (dropped || !version.hasTree(tree)) {
            after.markObsolete();
        } else {
            before.markReplacedBy(after);
        }
    }

    /**
     * Installs a component whose file is whole again; called under the manifest's lock. A writer
     * that is about to mark an entry of it, found before it was set aside, looks again.
     */
    public void installRestored(TreeId tree, ComponentHandle before, ComponentHandle after) {
        if (dropped || !version.hasTree(tree) || !version.tree(tree).contains(before)) {
            return;
        }
        MutableValidityBitmap stale = before.live();
        MutableValidityBitmap live = after.live();
        notHistory.run();
        swap(
                now -> now.withMerged(
                        List.of(new Version.MergedTree(tree, List.of(before), after))),
                stale == null || live == null
                        ? null
                        : () -> {
                            // what such a writer has marked since the marks were copied
                            stale.forEachInvalid(
                                    Long.MAX_VALUE,
                                    entry -> live.invalidate(
                                            entry,
                                            stale.invalidatedAt(entry),
                                            core.timestamps()::horizon));
                            stale.retire();
                        });
    }

    /**
     * Installs a version without some components, if no snapshot is registered at this moment.
     *
     * @return whether it did
     */
    public boolean dropWhenUnwatched(Set<ComponentHandle> components) {
        AtomicReference<@Nullable Version> before = new AtomicReference<>();
        // a writer may be about to mark an entry of theirs: none is inside, and who comes looks
        // again
        gate.close();
        boolean done;
        try {
            // under the snapshots' lock only the reference changes; nothing is let go there
            done = core.timestamps()
                    .whileUnwatched(() -> before.set(replace(now -> now.without(components))));
            if (done) {
                components.stream()
                        .map(ComponentHandle::live)
                        .filter(Objects::nonNull)
                        .forEach(MutableValidityBitmap::retire);
            }
        } finally {
            gate.open();
        }
        letGo(before.get());
        return done;
    }

    /** Installs a version made from the current one. */
    private void swap(UnaryOperator<Version> change) {
        letGo(replace(change));
    }

    /**
     * Installs a version made from the current one; inside the closed gate, when {@code inGate} has
     * run there, if there is one.
     */
    private void swap(UnaryOperator<Version> change, @Nullable Runnable inGate) {
        if (inGate == null) {
            swap(change);
            return;
        }
        Version before;
        gate.close();
        try {
            inGate.run();
            before = replace(change);
        } finally {
            gate.open();
        }
        letGo(before);
    }

    /**
     * Makes another version the current one; returns the one before, null if the partition is
     * dropped.
     */
    private synchronized @Nullable Version replace(UnaryOperator<Version> change) {
        if (dropped) {
            return null;
        }
        Version before = version;
        version = change.apply(before);
        return before;
    }

    private void letGo(@Nullable Version before) {
        if (before != null) {
            before.unpin();
            core.account().countInstall();
            letIdleCursorsGo();
        }
    }

    /**
     * The dataset is gone: no manifest names its files, which are deleted when the last reader lets
     * go. Cursors that have pinned a version read on; nothing can be pinned any more.
     */
    void drop() {
        synchronized (this) {
            dropped = true;
        }
        Version last = version;
        for (TreeId id : last.schema().treeIds()) {
            last.tree(id).forEach(ComponentHandle::markObsolete);
        }
        last.regions().forEach(region -> region.handle().markObsolete());
        notHistory.run();
        last.unpin();
        letIdleCursorsGo();
    }

    /** Takes old versions from cursors that are idle; busy ones let go by themselves. */
    void letIdleCursorsGo() {
        for (VersionLease hold : holds) {
            hold.letGoIfStale();
        }
    }

    /** Closes every cursor, lets the version go and returns when nobody reads any more. */
    void close() {
        for (VersionLease hold : holds) {
            core.awaitBeforeClose(
                    () -> "a cursor over dataset " + version.schema().name(),
                    () -> !hold.isInside());
            hold.close();
        }
        Version last = version;
        if (!dropped) {
            last.unpin();
        }
        core.awaitBeforeClose(
                () -> "a read of dataset " + last.schema().name(), () -> last.liveCount() == 0);
    }
}
