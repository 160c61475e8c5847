package io.turbidite.lsm.partition;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.order.Gate;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.TreeState;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The share of a dataset whose keys hash to one number: its primary and secondary indexes, always
 * switched and flushed together.
 *
 * <p><em>Thread-safe.</em> Readers pin the version; writers work inside the gate; the version
 * changes under the monitor of {@link CurrentVersion}, held for no I/O.
 */
public final class Partition implements VersionLease.Source, Quarantine.Member {
    private final int number;
    private final StoreCore core;
    private final int order;
    private final Gate gate;
    private final WorkMeter work;

    private final GarbageEstimate garbage = new GarbageEstimate();
    private final LiveVersions liveVersions;
    private final CurrentVersion current;

    private Partition(int number, StoreCore core, Version version, long flushedTimestamp) {
        this.number = number;
        this.core = core;
        this.order = core.account().newOrder();
        this.gate = new Gate(core.tasks());
        this.work = core.account().work(version.schema().id(), core.manifest().state());
        this.liveVersions = new LiveVersions(core.liveVersions());
        this.current =
                new CurrentVersion(core, gate, version, flushedTimestamp, liveVersions::forget);
    }

    /**
     * Opens the components that the manifest names, above them an empty memory layer. What is
     * damaged is set aside once the log is replayed: {@link Quarantine#enforce}.
     *
     * @param regions of the indexes that have one; the partition takes its own references
     */
    public static Partition open(
            DatasetSchema schema,
            int number,
            PartitionState state,
            List<RegionLayer> regions,
            StoreCore core) {
        Map<TreeId, List<ComponentHandle>> trees = new HashMap<>();
        List<ComponentHandle> opened = new ArrayList<>();
        try {
            for (TreeState tree : state.trees()) {
                List<ComponentHandle> components = new ArrayList<>();
                for (ComponentState component : tree.components()) {
                    ComponentHandle handle = ComponentOpening.open(
                            core, new Quarantine.Place(schema, number, tree.tree()), component);
                    opened.add(handle);
                    components.add(handle);
                }
                trees.put(tree.tree(), components);
            }
            MemoryLayer layer = new MemoryLayer(
                    core.chunks(),
                    schema,
                    state.flushedTimestamp() + 1,
                    core.manifest().state().logPosition(),
                    core.clock().wallMicros());
            Version version = new Version(schema, layer, trees, regions);
            layer.release();
            return new Partition(number, core, version, state.flushedTimestamp());
        } finally {
            // the version holds its own references; without one this closes what was opened
            opened.forEach(ComponentHandle::release);
        }
    }

    /** The schema of now; a pinned version has the one that its trees go by. */
    public DatasetSchema schema() {
        return version().schema();
    }

    @Override
    public int number() {
        return number;
    }

    /** What events call it now. */
    public PartitionName name() {
        return new PartitionName(schema().name(), number);
    }

    /** The order in which gates are entered; unique in the store. */
    public int order() {
        return order;
    }

    public Gate gate() {
        return gate;
    }

    /** Counts what is looked up and read of the dataset. */
    public WorkMeter work() {
        return work;
    }

    @Override
    public StoreCore core() {
        return core;
    }

    /** The layer that writers apply to; stays the same inside the gate. */
    public MemoryLayer currentLayer() {
        return version().current();
    }

    /**
     * Pins the version of now; the caller unpins it.
     *
     * @throws InvalidRequestException if the dataset was dropped
     */
    @Override
    public Version pin() {
        Version pinned = pinUnlessDropped();
        if (pinned == null) {
            throw new InvalidRequestException("dataset %s was dropped".formatted(schema().name()));
        }
        return pinned;
    }

    /** As {@link #pin}; null if the dataset was dropped. */
    @Override
    public @Nullable Version pinUnlessDropped() {
        return current.pin();
    }

    /** How much of its deferred indexes is obsolete. */
    public GarbageEstimate garbage() {
        return garbage;
    }

    /** What is known of its live versions. */
    public LiveVersions liveVersions() {
        return liveVersions;
    }

    /** How another version takes its place. */
    public CurrentVersion current() {
        return current;
    }

    /** The version of now, not pinned; inside the gate its current and frozen layers stay. */
    public Version version() {
        return current.get();
    }

    /** Whether the dataset is gone: nothing is flushed or merged any more. */
    public boolean isDropped() {
        return current.isDropped();
    }

    /** Whether {@code pinned} is still the newest version; a hint for long cursors. */
    @Override
    public boolean isCurrent(Version pinned) {
        return !isDropped() && version().equals(pinned);
    }

    @Override
    public Set<VersionLease> leases() {
        return current.holds();
    }

    /** Cursors that are open. */
    public int openCursorCount() {
        return current.holds().size();
    }

    /**
     * Versions that somebody holds: 1 while nobody reads an old one, 0 once nobody reads a dropped
     * one.
     */
    public int versionCount() {
        return version().liveCount();
    }

    /** Whether the newest version has these components. */
    public boolean holds(TreeId tree, List<ComponentHandle> components) {
        Version seen = version();
        return !isDropped() && seen.hasTree(tree) && seen.tree(tree).containsAll(components);
    }

    /** Operations at or below it are in disk components. */
    public long flushedTimestamp() {
        return current.flushedTimestamp();
    }

    /** Whether writers mark what they supersede in the primary's components. */
    public boolean hasLiveBitmaps() {
        return ComponentFiles.isLive(version().schema(), TreeId.PRIMARY);
    }

    /**
     * Lets live bitmaps forget since when entries are invalid, where nobody sees them valid any
     * more.
     */
    public void forgetInvalidations() {
        Version pinned = pinUnlessDropped();
        if (pinned == null) {
            return;
        }
        try {
            for (ComponentHandle component : pinned.tree(TreeId.PRIMARY)) {
                MutableValidityBitmap live = component.live();
                if (live != null) {
                    live.forgetInvalidations(core.timestamps()::horizon);
                }
            }
        } finally {
            pinned.unpin();
        }
    }

    /**
     * Whether no operation was ever done, as far as one can tell: no component, nothing in memory.
     */
    public boolean isEmpty() {
        Version seen = version();
        return seen.current().isEmpty()
                && seen.frozen() == null
                && seen.tree(TreeId.PRIMARY).isEmpty();
    }

    /**
     * From where the log must be replayed to get this partition's unflushed operations back. Where
     * there are none, that is where the log stands: the position is read first, and whoever enters
     * the gate afterwards has not published a record yet.
     *
     * @param frozenIsFlushed whether the frozen layer's components are about to be installed
     */
    long replayFrom(boolean frozenIsFlushed) {
        long here = core.log().position();
        gate.close();
        try {
            Version seen = version();
            MemoryLayer frozen = seen.frozen();
            if (frozen != null && !frozenIsFlushed) {
                return frozen.logPosition();
            }
            return seen.current().isEmpty() ? here : seen.current().logPosition();
        } finally {
            gate.open();
        }
    }

    /**
     * Tells the store's account how the current layer grew, and the build concurrency of the frozen
     * one; called by writers inside the gate.
     */
    public void reportGrowth() {
        Version seen = version();
        long growth = seen.current().takeGrowth();
        MemoryLayer frozen = seen.frozen();
        if (frozen != null && frozen.concurrency() != null) {
            growth += frozen.takeGrowth();
        }
        if (growth != 0) {
            core.account().addUnflushed(growth);
        }
    }

    /** Memory of the layers that are not flushed yet, as last reported. */
    public long unflushedBytes() {
        Version seen = version();
        MemoryLayer frozen = seen.frozen();
        long bytes = currentBytes();
        return frozen == null ? bytes : bytes + frozen.reportedBytes();
    }

    /** What the layers that are not flushed yet have added to the store's account. */
    long reportedBytes() {
        Version seen = version();
        MemoryLayer frozen = seen.frozen();
        return seen.current().reportedBytes() + (frozen == null ? 0 : frozen.reportedBytes());
    }

    /** Memory of the current layer as last reported; at least 1 if anything was put, else 0. */
    public long currentBytes() {
        MemoryLayer current = version().current();
        return current.isEmpty() ? 0 : Math.max(1, current.reportedBytes());
    }

    /** The disk components of a tree; they change under the manifest's lock alone. */
    public List<ComponentHandle> components(TreeId tree) {
        return version().tree(tree);
    }

    /** Whether a layer waits for its flush. */
    public boolean hasFrozen() {
        return version().frozen() != null;
    }

    @Nullable
    public MemoryLayer frozenLayer() {
        return version().frozen();
    }

    /** For {@link PartitionRegistry#drop}. */
    void drop() {
        current.drop();
    }

    /**
     * Closes every cursor, lets the current version go and returns when nobody reads any more. The
     * store's health says already that it is closed: who comes later is refused.
     */
    public void close() {
        current.close();
    }

    @Override
    public String toString() {
        return name().toString();
    }
}
