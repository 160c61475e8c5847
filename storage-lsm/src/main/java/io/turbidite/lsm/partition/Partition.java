package io.turbidite.lsm.partition;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.bitmap.LiveBitmap;
import io.turbidite.lsm.bitmap.SideFile;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.maintain.GarbageEstimate;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.TreeState;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;
import io.turbidite.lsm.write.Gate;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/**
 * The share of a dataset whose keys hash to one number: its primary and secondary indexes, always
 * switched and flushed together.
 *
 * <p><em>Thread-safe.</em> Readers pin the version; writers work inside the gate; the reference to the
 * version changes under this object's monitor, held for no I/O.
 */
public final class Partition {
    private final int number;
    private final Substrate substrate;
    private final int order;
    private final Gate gate;
    private final WorkMeter work;

    /** Of every open cursor. */
    private final Set<Hold> holds = ConcurrentHashMap.newKeySet();

    private final GarbageEstimate garbage = new GarbageEstimate();
    private volatile Version version;
    private volatile boolean dropped;
    private long flushedTimestamp;

    private Partition(int number, Substrate substrate, Version version, long flushedTimestamp) {
        this.number = number;
        this.substrate = substrate;
        this.order = substrate.partitions().newOrder();
        this.gate = new Gate(substrate.tasks());
        this.work = substrate
                .partitions()
                .work(version.schema().id(), substrate.manifest().state());
        this.version = version;
        this.flushedTimestamp = flushedTimestamp;
    }

    /** Opens the components that the manifest names, above them an empty memory layer. */
    public static Partition open(
            DatasetSchema schema, int number, PartitionState state, Substrate substrate) {
        Map<Integer, List<ComponentHandle>> trees = new HashMap<>();
        List<ComponentHandle> opened = new ArrayList<>();
        try {
            for (TreeState tree : state.trees()) {
                List<ComponentHandle> components = new ArrayList<>();
                for (ComponentState component : tree.components()) {
                    ComponentHandle handle = ComponentFiles.open(
                            substrate, schema, number, tree.indexId(), component);
                    opened.add(handle);
                    components.add(handle);
                }
                trees.put(tree.indexId(), components);
            }
            MemoryLayer layer = new MemoryLayer(
                    substrate.chunks(),
                    schema,
                    state.flushedTimestamp() + 1,
                    substrate.manifest().state().logPosition(),
                    substrate.clock().wallMicros());
            Version version = new Version(schema, layer, trees);
            layer.release();
            return new Partition(number, substrate, version, state.flushedTimestamp());
        } finally {
            // the version holds its own references; without one this closes what was opened
            opened.forEach(ComponentHandle::release);
        }
    }

    /** The schema of now; a pinned version has the one that its trees go by. */
    public DatasetSchema schema() {
        return version.schema();
    }

    public int number() {
        return number;
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

    public Substrate substrate() {
        return substrate;
    }

    /** The layer that writers apply to; stays the same inside the gate. */
    public MemoryLayer currentLayer() {
        return version.current();
    }

    /**
     * Pins the version of now; the caller unpins it.
     *
     * @throws InvalidRequestException if the dataset was dropped
     */
    public Version pin() {
        Version pinned = pinUnlessDropped();
        if (pinned == null) {
            throw new InvalidRequestException("dataset %s was dropped".formatted(schema().name()));
        }
        return pinned;
    }

    /** Pins the version of now; null if the dataset was dropped. */
    @Nullable
    Version pinUnlessDropped() {
        while (!dropped) {
            Version seen = version;
            if (seen.tryPin()) {
                return seen;
            }
            substrate.health().checkReadable();
            Thread.onSpinWait();
        }
        return null;
    }

    /** How much of its deferred indexes is obsolete. */
    public GarbageEstimate garbage() {
        return garbage;
    }

    /** Whether the dataset is gone: nothing is flushed or merged any more. */
    boolean isDropped() {
        return dropped;
    }

    /** Whether {@code pinned} is still the newest version; a hint for long cursors. */
    boolean isCurrent(Version pinned) {
        return !dropped && version.equals(pinned);
    }

    Set<Hold> cursorHolds() {
        return holds;
    }

    /** Takes old versions from cursors that are idle; busy ones let go by themselves. */
    void letIdleCursorsGo() {
        for (Hold hold : holds) {
            hold.letGoIfStale();
        }
    }

    /** Cursors that are open. */
    public int openCursorCount() {
        return holds.size();
    }

    /** Versions that somebody holds: 1 while nobody reads an old one, 0 once nobody reads a dropped one. */
    public int versionCount() {
        return version.liveCount();
    }

    /** Whether the newest version has these components. */
    public boolean holds(int tree, List<ComponentHandle> components) {
        Version seen = version;
        return !dropped && seen.hasTree(tree) && seen.tree(tree).containsAll(components);
    }

    /** Operations at or below it are in disk components. */
    public synchronized long flushedTimestamp() {
        return flushedTimestamp;
    }

    /**
     * Finds the newest version of a key at or below a snapshot, newest layer first.
     *
     * @param keyHash of {@link io.turbidite.core.bloom.BloomFilter#hash}
     * @return a code of {@link Found}
     */
    public int find(Version pinned, Slice key, long keyHash, long snapshot, Found found) {
        int code = findInMemory(pinned, key, keyHash, snapshot, found, true);
        if (code != Found.ABSENT) {
            return code;
        }
        List<ComponentHandle> components = pinned.tree(0);
        for (int i = 0; i < components.size(); i++) {
            ComponentHandle handle = components.get(i);
            if (handle.component().mayContain(keyHash)) {
                code = handle.component().find(key, snapshot, found, true);
                if (code != Found.ABSENT) {
                    return code;
                }
            }
        }
        return Found.ABSENT;
    }

    /** As {@link #find}, but through the key trees: touches no record page. */
    public int findKey(Version pinned, Slice key, long keyHash, long snapshot, Found found) {
        int code = findInMemory(pinned, key, keyHash, snapshot, found, false);
        if (code != Found.ABSENT) {
            return code;
        }
        List<ComponentHandle> components = pinned.tree(0);
        for (int i = 0; i < components.size(); i++) {
            ComponentHandle handle = components.get(i);
            if (handle.component().mayContain(keyHash)) {
                code = handle.component().findKey(key, snapshot, found);
                if (code != Found.ABSENT) {
                    return code;
                }
            }
        }
        return Found.ABSENT;
    }

    /** Finds the newest version of a key in the current layer alone. */
    public static int findInCurrent(Version pinned, Slice key, long keyHash, Found found) {
        return findInLayer(pinned.current(), key, keyHash, Limits.TIMESTAMP_MAX, found, true);
    }

    /** The version of now; inside the gate its current and frozen layers stay. */
    Version current() {
        return version;
    }

    static int findInMemory(
            Version pinned,
            Slice key,
            long keyHash,
            long snapshot,
            Found found,
            boolean wantValue) {
        int code = findInLayer(pinned.current(), key, keyHash, snapshot, found, wantValue);
        MemoryLayer frozen = pinned.frozen();
        return code == Found.ABSENT && frozen != null
                ? findInLayer(frozen, key, keyHash, snapshot, found, wantValue)
                : code;
    }

    static int findInLayer(
            MemoryLayer layer,
            Slice key,
            long keyHash,
            long snapshot,
            Found found,
            boolean wantValue) {
        return layer.mayContainKey(keyHash)
                ? layer.tree(0).find(key, snapshot, found, wantValue)
                : Found.ABSENT;
    }

    /**
     * Freezes the current layer and puts an empty one above it, unless one is frozen already or there is
     * nothing to freeze.
     *
     * @return whether there is a frozen layer now
     */
    boolean freeze() {
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
        long last = substrate.timestamps().lastDrawn();
        // made first: should memory be out, nothing has changed
        MemoryLayer fresh = newLayer(schema, last + 1);
        version.current().freeze(last, substrate.clock().wallMicros());
        if (hasLiveBitmaps()) {
            version.current().openSideFile(new SideFile(substrate.bitmaps()));
        }
        swap(before -> before.withFrozen(fresh));
        fresh.release();
    }

    private MemoryLayer newLayer(DatasetSchema schema, long minTimestamp) {
        return new MemoryLayer(
                substrate.chunks(),
                schema,
                minTimestamp,
                substrate.log().position(),
                substrate.clock().wallMicros());
    }

    /**
     * Goes over to a schema with an index more: writers put into its tree from the returned timestamp on.
     * The layer that lacks it is frozen; it and all older ones are the builder's.
     *
     * @return the first timestamp whose operation is in the tree; -1 if a layer is frozen already: try
     *     again when it is flushed
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
    public void installBuilt(int indexId, List<ComponentHandle> built) {
        swap(before -> before.withOldest(indexId, built));
    }

    /**
     * Goes over to a schema whose trees are among those of the present one. Files of trees that go are
     * deleted when nobody reads them any more: no manifest may name them by now.
     */
    public void installSchema(DatasetSchema changed) {
        Version before = version;
        if (before.schema().equals(changed)) {
            return;
        }
        for (int id : before.schema().treeIds()) {
            if (!changed.treeIds().contains(id)) {
                before.tree(id).forEach(ComponentHandle::markObsolete);
            }
        }
        swap(now -> now.withSchema(changed));
    }

    /**
     * The dataset is gone: no manifest names its files, which are deleted when the last reader lets go.
     * Cursors that have pinned a version read on; nothing can be pinned any more.
     */
    public void drop() {
        synchronized (this) {
            dropped = true;
        }
        substrate.partitions().remove(this);
        Version last = version;
        for (int id : last.schema().treeIds()) {
            last.tree(id).forEach(ComponentHandle::markObsolete);
        }
        last.unpin();
        letIdleCursorsGo();
    }

    /** Whether writers mark what they supersede in the primary's components. */
    public boolean hasLiveBitmaps() {
        return ComponentFiles.isLive(version.schema(), IndexSchema.PRIMARY_ID);
    }

    /**
     * Installs the components of the frozen layer by tree; called under the manifest's lock.
     *
     * @param handover if the primary has a live bitmap
     */
    void installFlushed(
            Map<Integer, ComponentHandle> flushed,
            long newFlushedTimestamp,
            @Nullable Handover handover) {
        if (dropped) {
            flushed.values().forEach(ComponentHandle::markObsolete);
            return;
        }
        MemoryLayer frozen = Objects.requireNonNull(version.frozen());
        long freed = frozen.reportedBytes();
        synchronized (this) {
            flushedTimestamp = newFlushedTimestamp;
        }
        swap(before -> before.withFlushed(flushed), handover);
        flushed.forEach((id, component) -> {
            if (!version.hasTree(id)) {
                component.markObsolete();
            }
        });
        substrate.partitions().addUnflushed(-freed);
    }

    /** Whether no operation was ever done, as far as one can tell: no component, nothing in memory. */
    public boolean isEmpty() {
        Version seen = version;
        return seen.current().isEmpty() && seen.frozen() == null && seen.tree(0).isEmpty();
    }

    /**
     * Installs loaded components under a fresh memory layer; called under the manifest's lock, while
     * nobody writes to the partition.
     *
     * @param components one for each tree
     */
    void installLoaded(Map<Integer, ComponentHandle> components) {
        long loaded = Objects.requireNonNull(components.get(IndexSchema.PRIMARY_ID))
                .state()
                .maxTimestamp();
        DatasetSchema schema = version.schema();
        MemoryLayer fresh = newLayer(schema, loaded + 1);
        Map<Integer, List<ComponentHandle>> trees = new HashMap<>();
        components.forEach((id, component) -> trees.put(id, List.of(component)));
        synchronized (this) {
            flushedTimestamp = loaded;
        }
        swap(before -> before.withLoaded(fresh, trees));
        fresh.release();
    }

    /**
     * Installs merged components; called under the manifest's lock.
     *
     * @param handover if the primary is merged and has a live bitmap
     */
    void installMerged(List<Version.MergedTree> merges, @Nullable Handover handover) {
        swap(before -> before.withMerged(merges), handover);
        for (Version.MergedTree merge : merges) {
            if (dropped || !version.hasTree(merge.indexId())) {
                merge.output().markObsolete();
            }
            merge.inputs().forEach(ComponentHandle::markObsolete);
        }
    }

    /** Installs a component with another bitmap; called under the manifest's lock. */
    void installRepaired(int tree, ComponentHandle before, ComponentHandle after) {
        swap(now -> now.withMerged(List.of(new Version.MergedTree(tree, List.of(before), after))));
        if (dropped || !version.hasTree(tree)) {
            after.markObsolete();
        } else {
            before.markReplacedBy(after);
        }
    }

    /**
     * Installs a version without some components, if no snapshot is registered at this moment.
     *
     * @return whether it did
     */
    boolean dropWhenUnwatched(Set<ComponentHandle> components) {
        AtomicReference<@Nullable Version> before = new AtomicReference<>();
        // a writer may be about to mark an entry of theirs: none is inside, and who comes looks
        // again
        gate.close();
        boolean done;
        try {
            // under the snapshots' lock only the reference changes; nothing is let go there
            done = substrate
                    .timestamps()
                    .whileUnwatched(() -> before.set(replace(now -> now.without(components))));
            if (done) {
                components.stream()
                        .map(ComponentHandle::live)
                        .filter(Objects::nonNull)
                        .forEach(LiveBitmap::retire);
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
     * Installs a version made from the current one; if kills must be handed over, inside the closed gate when
     * that is done.
     */
    private void swap(UnaryOperator<Version> change, @Nullable Handover handover) {
        if (handover == null) {
            swap(change);
            return;
        }
        Version before;
        gate.close();
        try {
            handover.finish();
            before = replace(change);
        } finally {
            gate.open();
        }
        letGo(before);
    }

    /** Makes another version the current one; returns the one before, null if the partition is dropped. */
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
            substrate.partitions().countInstall();
            letIdleCursorsGo();
        }
    }

    /**
     * From where the log must be replayed to get this partition's unflushed operations back. Where there
     * are none, that is where the log stands: the position is read first, and whoever enters the gate
     * afterwards has not published a record yet.
     *
     * @param frozenIsFlushed whether the frozen layer's components are about to be installed
     */
    long replayFrom(boolean frozenIsFlushed) {
        long here = substrate.log().position();
        gate.close();
        try {
            Version seen = version;
            MemoryLayer frozen = seen.frozen();
            if (frozen != null && !frozenIsFlushed) {
                return frozen.logPosition();
            }
            return seen.current().isEmpty() ? here : seen.current().logPosition();
        } finally {
            gate.open();
        }
    }

    /** Tells the store's account how the current layer grew; called by writers inside the gate. */
    public void reportGrowth() {
        long growth = version.current().takeGrowth();
        if (growth != 0) {
            substrate.partitions().addUnflushed(growth);
        }
    }

    /** Memory of the layers that are not flushed yet, as last reported. */
    public long unflushedBytes() {
        Version seen = version;
        MemoryLayer frozen = seen.frozen();
        long bytes = currentBytes();
        return frozen == null ? bytes : bytes + frozen.reportedBytes();
    }

    /** What the layers that are not flushed yet have added to the store's account. */
    long reportedBytes() {
        Version seen = version;
        MemoryLayer frozen = seen.frozen();
        return seen.current().reportedBytes() + (frozen == null ? 0 : frozen.reportedBytes());
    }

    /** Memory of the current layer as last reported; at least 1 if anything was put, else 0. */
    long currentBytes() {
        MemoryLayer current = version.current();
        return current.isEmpty() ? 0 : Math.max(1, current.reportedBytes());
    }

    /** The disk components of a tree; they change under the manifest's lock alone. */
    public List<ComponentHandle> components(int indexId) {
        return version.tree(indexId);
    }

    /** Whether a layer waits for its flush. */
    public boolean hasFrozen() {
        return version.frozen() != null;
    }

    @Nullable
    MemoryLayer frozenLayer() {
        return version.frozen();
    }

    /**
     * Closes every cursor, lets the current version go and returns when nobody reads any more. The store's
     * health says already that it is closed: who comes later is refused.
     */
    public void close() {
        holds.forEach(Hold::close);
        Version last = version;
        if (!dropped) {
            last.unpin();
        }
        substrate.tasks().await(() -> last.liveCount() == 0);
    }

    @Override
    public String toString() {
        return "partition %d of %s".formatted(number, schema().name());
    }
}
