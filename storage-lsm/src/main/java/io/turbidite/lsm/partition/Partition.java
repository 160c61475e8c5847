package io.turbidite.lsm.partition;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.Version;
import io.turbidite.lsm.write.Gate;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * The share of a dataset whose keys hash to one number: its primary and secondary indexes, always
 * switched and flushed together.
 *
 * <p><em>Thread-safe.</em> Readers pin the version; writers work inside the gate; the reference to the
 * version changes under this object's monitor, held for no I/O.
 */
public final class Partition {
    private final DatasetSchema schema;
    private final int number;
    private final Substrate substrate;
    private final int order;
    private final Gate gate;
    private volatile Version version;
    private long flushedTimestamp;

    private Partition(
            DatasetSchema schema,
            int number,
            Substrate substrate,
            Version version,
            long flushedTimestamp) {
        this.schema = schema;
        this.number = number;
        this.substrate = substrate;
        this.order = substrate.partitions().newOrder();
        this.gate = new Gate(substrate.tasks());
        this.version = version;
        this.flushedTimestamp = flushedTimestamp;
    }

    /** Opens the components that the manifest names, above them an empty memory layer. */
    public static Partition open(
            DatasetSchema schema, int number, PartitionState state, Substrate substrate) {
        List<List<ComponentHandle>> trees = new ArrayList<>();
        List<ComponentHandle> opened = new ArrayList<>();
        try {
            for (int tree = 0; tree < state.trees().size(); tree++) {
                List<ComponentHandle> components = new ArrayList<>();
                for (ComponentState component : state.trees().get(tree)) {
                    ComponentHandle handle =
                            ComponentFiles.open(substrate, schema, number, tree, component);
                    opened.add(handle);
                    components.add(handle);
                }
                trees.add(components);
            }
            MemoryLayer layer = new MemoryLayer(
                    substrate.chunks(),
                    schema,
                    state.flushedTimestamp() + 1,
                    substrate.manifest().state().logPosition(),
                    substrate.clock().wallMicros());
            Version version = new Version(layer, null, trees);
            layer.release();
            return new Partition(schema, number, substrate, version, state.flushedTimestamp());
        } finally {
            // the version holds its own references; without one this closes what was opened
            opened.forEach(ComponentHandle::release);
        }
    }

    public DatasetSchema schema() {
        return schema;
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

    Substrate substrate() {
        return substrate;
    }

    /** The layer that writers apply to; stays the same inside the gate. */
    public MemoryLayer currentLayer() {
        return version.current();
    }

    /** Pins the version of now; the caller unpins it. */
    public Version pin() {
        while (true) {
            Version seen = version;
            if (seen.tryPin()) {
                return seen;
            }
            substrate.health().checkReadable();
            Thread.onSpinWait();
        }
    }

    /** Whether {@code pinned} is still the newest version; a hint for long cursors. */
    boolean isCurrent(Version pinned) {
        return version.equals(pinned);
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
        int code = findInMemory(pinned, key, snapshot, found, true);
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
        int code = findInMemory(pinned, key, snapshot, found, false);
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

    private static int findInMemory(
            Version pinned, Slice key, long snapshot, Found found, boolean wantValue) {
        int code = pinned.current().tree(0).find(key, snapshot, found, wantValue);
        MemoryLayer frozen = pinned.frozen();
        if (code == Found.ABSENT && frozen != null) {
            code = frozen.tree(0).find(key, snapshot, found, wantValue);
        }
        return code;
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
            if (seen.frozen() != null || seen.current().isEmpty()) {
                return seen.frozen() != null;
            }
            // every operation of this partition that has drawn a timestamp has left the gate
            long last = substrate.timestamps().lastDrawn();
            seen.current().freeze(last, substrate.clock().wallMicros());
            MemoryLayer fresh = new MemoryLayer(
                    substrate.chunks(),
                    schema,
                    last + 1,
                    substrate.log().position(),
                    substrate.clock().wallMicros());
            swap(before -> before.withFrozen(fresh));
            fresh.release();
            return true;
        } finally {
            gate.open();
        }
    }

    /** Installs the components of the frozen layer; called under the manifest's lock. */
    void installFlushed(List<ComponentHandle> flushed, long newFlushedTimestamp) {
        MemoryLayer frozen = Objects.requireNonNull(version.frozen());
        long freed = frozen.reportedBytes();
        synchronized (this) {
            flushedTimestamp = newFlushedTimestamp;
        }
        swap(before -> before.withFlushed(flushed));
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
     * @param chunksNewestFirst for each chunk one component for each tree
     */
    void installLoaded(List<List<ComponentHandle>> chunksNewestFirst) {
        long loaded = chunksNewestFirst.get(0).get(0).state().maxTimestamp();
        MemoryLayer fresh = new MemoryLayer(
                substrate.chunks(),
                schema,
                loaded + 1,
                substrate.log().position(),
                substrate.clock().wallMicros());
        List<List<ComponentHandle>> trees = new ArrayList<>();
        for (int tree = 0; tree < schema.treeCount(); tree++) {
            List<ComponentHandle> components = new ArrayList<>();
            for (List<ComponentHandle> chunk : chunksNewestFirst) {
                components.add(chunk.get(tree));
            }
            trees.add(components);
        }
        synchronized (this) {
            flushedTimestamp = loaded;
        }
        swap(before -> new Version(fresh, null, trees));
        fresh.release();
    }

    /** Installs a version made from the current one. */
    void swap(UnaryOperator<Version> change) {
        Version before;
        synchronized (this) {
            before = version;
            version = change.apply(before);
        }
        before.unpin();
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

    /** Memory of the current layer as last reported; at least 1 if anything was put, else 0. */
    long currentBytes() {
        MemoryLayer current = version.current();
        return current.isEmpty() ? 0 : Math.max(1, current.reportedBytes());
    }

    @Nullable
    MemoryLayer frozenLayer() {
        return version.frozen();
    }

    /** Lets the current version go; pinned ones live until they are unpinned. */
    public void close() {
        version.unpin();
    }

    @Override
    public String toString() {
        return "partition %d of %s".formatted(number, schema.name());
    }
}
