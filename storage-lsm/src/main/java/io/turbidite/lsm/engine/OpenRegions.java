package io.turbidite.lsm.engine;

import io.turbidite.core.Cleanup;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.Undo;
import io.turbidite.lsm.partition.PartitionName;
import io.turbidite.lsm.partition.RegionFiles;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.IndexSchema.State;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.RegionState;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionLayer;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The regions of a store that is being opened: those that are sound, and the indexes that must be
 * built anew because one of theirs is not. These are disabled until they are built; the manifest
 * says so by the regions that it keeps for a disabled index, so that a crash forgets nothing.
 *
 * <p>A store that is opened for reading alone changes no region and builds none: an index with an
 * unsound one is not searched there.
 *
 * <p><em>Confined to one thread.</em>
 */
final class OpenRegions implements AutoCloseable {
    private final StoreCore core;
    private final Map<Long, RegionHandle> opened = new HashMap<>();
    private final List<ToBuild> toBuild = new ArrayList<>();

    /** An index whose regions must be built. */
    record ToBuild(int datasetId, IndexSchema index) {}

    private OpenRegions(StoreCore core) {
        this.core = core;
    }

    /**
     * Opens what the manifest names.
     *
     * @param reading whether nothing may be changed
     * @throws InvalidRequestException if an index is of a kind that the store was not given
     */
    static OpenRegions open(StoreCore core, ManifestState state, boolean reading) {
        OpenRegions regions = new OpenRegions(core);
        OpenRegions complete = null;
        try {
            for (DatasetState dataset : state.datasets()) {
                for (IndexSchema index : dataset.schema().catalog().all()) {
                    if (index.hasRegion()) {
                        var _ = RegionFiles.kind(core, dataset.schema(), index);
                        regions.open(dataset, index, reading);
                    }
                }
            }
            complete = regions;
            return complete;
        } finally {
            if (complete == null) {
                regions.close();
            }
        }
    }

    private void open(DatasetState dataset, IndexSchema index, boolean reading) {
        if (index.state() == State.DISABLED) {
            if (dataset.partitions().getFirst().region(index.tree()) != null) {
                toBuild.add(new ToBuild(dataset.schema().id(), index));
            }
            return;
        }
        List<RegionHandle> handles = new ArrayList<>();
        try (Undo undo = Undo.of(() -> handles.forEach(RegionHandle::release))) {
            for (int i = 0; i < dataset.partitions().size(); i++) {
                RegionHandle handle = open(dataset, i, index, reading);
                if (handle == null) {
                    toBuild.add(new ToBuild(dataset.schema().id(), index));
                    return;
                }
                handles.add(handle);
            }
            handles.forEach(handle -> opened.put(handle.id(), handle));
            undo.keep();
        }
    }

    private @Nullable RegionHandle open(
            DatasetState dataset, int partition, IndexSchema index, boolean reading) {
        DatasetSchema schema = dataset.schema();
        StorageException refused;
        try {
            RegionHandle handle = RegionFiles.open(
                    core, schema, partition, index, dataset.partitions().get(partition), reading);
            if (handle != null) {
                return handle;
            }
            refused = CorruptionException.missing(
                    "the region of %s/%d/%s".formatted(schema.name(), partition, index.name()),
                    "its mode keeps nothing from one opening to the next");
        } catch (StorageException cause) {
            refused = cause;
        }
        core.events()
                .regionRefused(new PartitionName(schema.name(), partition), index.name(), refused);
        return null;
    }

    /** Whether the manifest names any. */
    boolean isAny() {
        return !opened.isEmpty() || !toBuild.isEmpty();
    }

    /** The indexes that must be built. */
    List<ToBuild> toBuild() {
        return toBuild;
    }

    /** The state with those disabled. */
    ManifestState disabled(ManifestState state) {
        ManifestState changed = state;
        for (ToBuild one : toBuild) {
            DatasetState dataset = Objects.requireNonNull(changed.find(one.datasetId()));
            List<PartitionState> partitions = new ArrayList<>();
            for (PartitionState partition : dataset.partitions()) {
                RegionState before = partition.region(one.index().tree());
                partitions.add(partition.with(new RegionState(
                        one.index().tree(),
                        before == null ? core.manifest().newFileId() : before.regionId(),
                        0)));
            }
            DatasetSchema schema = dataset.schema().with(one.index().withState(State.DISABLED));
            changed = changed.withReplaced(new DatasetState(schema, partitions, dataset.counts()));
        }
        return changed;
    }

    /** Deletes the regions that are built anew, unless their place is not there. */
    void dropUnsound(ManifestState state) {
        for (ToBuild one : toBuild) {
            DatasetState dataset = Objects.requireNonNull(state.find(one.datasetId()));
            for (int i = 0; i < dataset.partitions().size(); i++) {
                drop(dataset, i, one.index());
            }
        }
    }

    private void drop(DatasetState dataset, int partition, IndexSchema index) {
        DatasetSchema schema = dataset.schema();
        try {
            RegionFiles.drop(
                    core, schema, partition, index, dataset.partitions().get(partition));
        } catch (StorageException left) {
            core.events()
                    .regionLeft(
                            new PartitionName(schema.name(), partition),
                            index.name(),
                            String.valueOf(left.getMessage()));
        }
    }

    /** The regions of a partition. */
    List<RegionLayer> of(PartitionState partition) {
        List<RegionLayer> layers = new ArrayList<>();
        for (RegionState region : partition.regions()) {
            RegionHandle handle = opened.get(region.regionId());
            if (handle != null) {
                layers.add(new RegionLayer(region.tree(), handle, partition.flushedTimestamp()));
            }
        }
        return layers;
    }

    /** Gives back the references of its own. */
    @Override
    public void close() {
        Cleanup all = new Cleanup().addAll(opened.values(), RegionHandle::release);
        opened.clear();
        all.run();
    }
}
