package io.turbidite.lsm.backup;

import io.turbidite.core.Cleanup;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.lsm.component.ComponentDamage;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.ForwardingStream;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.memory.MemoryComponent;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.partition.ComponentBuild;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapOwner;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.TreeState;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A partition as it was at one timestamp: its disk components of then, held, and its memory layers,
 * whose later entries are passed over. Writers, flushes and merges go on beside it.
 *
 * <p><em>Confined to one thread.</em> Memory is held until {@link #writeMemory}, components until
 * {@link #close}.
 */
public final class PartitionCut implements AutoCloseable {
    private final StoreCore core;
    private final DatasetSchema schema;
    private final int number;
    private final long timestamp;
    private final Map<TreeId, List<ComponentHandle>> trees = new LinkedHashMap<>();
    private final List<String> written = new ArrayList<>();
    private @Nullable Version pinned;

    /** Of records, in the layer that is being written; -1 until its primary is written. */
    private long versionCount = -1;

    /**
     * Keeps the times of marks that live bitmaps have got since; -1 if it is not, or no more,
     * registered.
     */
    private long registered = -1;

    /**
     * Pins a partition.
     *
     * @param timestamp every operation at or below it is in the memory layers or on disk, and no
     *     component holds a later one: the gate is closed, or was when it was the last one drawn
     */
    PartitionCut(Partition partition, long timestamp) {
        this.core = partition.core();
        this.number = partition.number();
        this.timestamp = timestamp;
        Version version = partition.pin();
        this.pinned = version;
        this.schema = version.schema();
        boolean complete = false;
        try {
            for (TreeId tree : schema.readyTreeIds()) {
                List<ComponentHandle> components = version.tree(tree);
                components.forEach(ComponentHandle::retain);
                trees.put(tree, components);
            }
            if (ComponentFiles.isLive(schema, TreeId.PRIMARY)) {
                // a bulk load draws outside the gates and marks nothing: where it has not completed
                // its last one, this is below the timestamp, and some times more are kept
                registered = core.timestamps().register();
            }
            complete = true;
        } finally {
            if (!complete) {
                close();
            }
        }
    }

    /**
     * Cuts all partitions of a store at one timestamp: the gates are closed for as long as it takes
     * to pin them, in the order in which batches enter them. Called while the manifest is at rest.
     */
    public static List<PartitionCut> ofAll(StoreCore core, List<Partition> partitions) {
        List<Partition> ordered = partitions.stream()
                .sorted((a, b) -> Integer.compare(a.order(), b.order()))
                .toList();
        int closedCount = 0;
        List<PartitionCut> cuts = new ArrayList<>();
        boolean complete = false;
        try {
            for (Partition partition : ordered) {
                partition.gate().close();
                closedCount++;
            }
            // whoever has drawn a timestamp has left its gates, so that it is in every memory layer
            long timestamp = core.timestamps().lastDrawn();
            for (Partition partition : ordered) {
                cuts.add(new PartitionCut(partition, timestamp));
            }
            complete = true;
            return cuts;
        } finally {
            while (closedCount > 0) {
                closedCount--;
                ordered.get(closedCount).gate().open();
            }
            if (!complete) {
                new Cleanup().addAll(cuts, PartitionCut::close).run();
            }
        }
    }

    /** Its dataset. */
    public DatasetSchema schema() {
        return schema;
    }

    /** Its number in the dataset, from 0. */
    public int number() {
        return number;
    }

    /** The operations at or below it are in, no others. */
    public long timestamp() {
        return timestamp;
    }

    /** The held disk components of all trees, but of those that are being built. */
    public List<ComponentHandle> components() {
        return trees.values().stream().flatMap(List::stream).toList();
    }

    /**
     * Writes what the memory layers held at the timestamp as components on another disk, each layer
     * with an ID of its own as a flush would have done it, and lets the memory go. The files are
     * durable, their directory is the caller's to sync.
     *
     * @return the partition with these components above those on disk
     */
    public PartitionState writeMemory(Disk target) {
        Version version = pinned;
        if (version == null) {
            throw new IllegalStateException("the memory layers were let go");
        }
        Map<TreeId, List<ComponentState>> states = new LinkedHashMap<>();
        trees.keySet().forEach(tree -> states.put(tree, new ArrayList<>()));
        addLayer(version.current(), version.frozen() != null, target, states);
        MemoryLayer frozen = version.frozen();
        if (frozen != null) {
            addLayer(frozen, false, target, states);
        }
        trees.forEach((tree, components) ->
                components.forEach(handle -> add(states, tree, state(handle, target))));
        release();
        pinned = null;
        version.unpin();
        return new PartitionState(
                timestamp,
                states.entrySet().stream()
                        .map(tree -> new TreeState(tree.getKey(), tree.getValue()))
                        .toList(),
                List.of());
    }

    /** The files that {@link #writeMemory} wrote, those that it could not finish included. */
    public List<String> written() {
        return written;
    }

    /** A component with the marks that it had at the timestamp, which are written. */
    private ComponentState state(ComponentHandle handle, Disk target) {
        MutableValidityBitmap live = handle.live();
        ComponentDamage damage = handle.component().damage();
        if (damage != null) {
            // its files stay behind; a restore works the marks of writers out
            BitmapState invalidEntries =
                    live == null ? handle.state().invalidEntries() : BitmapState.NONE;
            ComponentState left =
                    handle.state().withRepaired(handle.state().repairedTimestamp(), invalidEntries);
            return core.quarantine().isUntold(handle)
                    ? left.withUntold(damage.cause())
                    : left.withQuarantine(damage.cause());
        }
        if (live == null) {
            return handle.state();
        }
        ValidityBitmapBuilder invalidEntries =
                ValidityBitmapBuilder.create(handle.component().entryCount());
        live.forEachInvalid(timestamp, invalidEntries::mark);
        BitmapState state = BitmapState.NONE;
        if (invalidEntries.count() > 0) {
            long fileId = core.manifest().newFileId();
            String name = StoreFiles.bitmap(fileId);
            written.add(name);
            long bytes = invalidEntries.write(
                    target,
                    name,
                    new ValidityBitmapOwner(
                            handle.component().header().storeId(),
                            fileId,
                            handle.state().fileId()),
                    handle.component().entryCount());
            state = new BitmapState(fileId, bytes, invalidEntries.count());
        }
        return handle.state().withRepaired(handle.state().repairedTimestamp(), state);
    }

    private void addLayer(
            MemoryLayer layer,
            boolean coversOther,
            Disk target,
            Map<TreeId, List<ComponentState>> states) {
        if (layer.isEmpty() || layer.minTimestamp() > timestamp) {
            return;
        }
        versionCount = -1; // the primary comes first
        trees.forEach((tree, components) -> {
            boolean includesOldest = !coversOther && components.isEmpty();
            add(states, tree, write(layer, tree, includesOldest, target));
        });
    }

    private static void add(
            Map<TreeId, List<ComponentState>> states, TreeId tree, ComponentState component) {
        states.computeIfAbsent(tree, key -> new ArrayList<>()).add(component);
    }

    private ComponentState write(
            MemoryLayer layer, TreeId tree, boolean includesOldest, Disk target) {
        long last = layer.maxTimestamp();
        // a layer that was frozen since ends above the timestamp: what is above is not in
        ComponentId id = new ComponentId(
                layer.minTimestamp(), last < 0 ? timestamp : Math.min(last, timestamp));
        VersionRetention retention = VersionRetention.of(timestamp, new long[0], includesOldest);
        try (ComponentBuild build = ComponentBuild.of(core, schema, number, tree)) {
            written.add(build.name());
            ComponentWriter writer = build.createOn(target, layer.tree(tree).entryCount());
            try (EntryStream entries = retention.retain(entries(layer, tree))) {
                writer.addAll(entries);
            }
            writer.noteVersions(versionCount);
            if (tree.isPrimary()) {
                versionCount = writer.matterCount();
            }
            // the filter may be wider by what came later, and may be no narrower
            build.finish(id, layer.filter(), layer.minWallMicros(), core.clock().wallMicros());
            try (DiskFile file = target.openReadOnly(build.name())) {
                return ComponentState.fresh(
                        build.fileId(), id.minTimestamp(), id.maxTimestamp(), file.size(), 0);
            }
        }
    }

    /**
     * The entries at or below the timestamp; of a frozen layer of a primary with live bitmaps
     * without those that the current one supersedes, since no mark is made for them.
     */
    private EntryStream entries(MemoryLayer layer, TreeId tree) {
        EntryStream entries = new UpTo(layer.tree(tree).cursor(), timestamp);
        MemoryLayer current = Objects.requireNonNull(pinned).current();
        return ComponentFiles.isLive(schema, tree) && !layer.equals(current)
                ? new NotIn(entries, current.tree(tree), timestamp, new Found(1 << 10))
                : entries;
    }

    private void release() {
        if (registered >= 0) {
            core.timestamps().release(registered);
            registered = -1;
        }
    }

    /** Lets everything go. */
    @Override
    public void close() {
        Cleanup all = new Cleanup().add(this::release);
        if (pinned != null) {
            all.add(pinned::unpin);
            pinned = null;
        }
        trees.values().forEach(tree -> all.addAll(tree, ComponentHandle::release));
        trees.clear();
        all.run();
    }

    /** The entries whose keys a newer layer does not have at a timestamp. */
    private record NotIn(EntryStream entries, MemoryComponent newer, long snapshot, Found found)
            implements ForwardingStream {
        @Override
        public boolean next() {
            while (entries.next()) {
                if (newer.find(entries.key(), snapshot, found, false) == Found.ABSENT) {
                    return true;
                }
            }
            return false;
        }
    }

    /** The entries at or below a timestamp. */
    private record UpTo(EntryStream entries, long snapshot) implements ForwardingStream {
        @Override
        public boolean next() {
            while (entries.next()) {
                if (entries.timestamp() <= snapshot) {
                    return true;
                }
            }
            return false;
        }
    }
}
