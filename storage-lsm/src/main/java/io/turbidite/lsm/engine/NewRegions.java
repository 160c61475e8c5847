package io.turbidite.lsm.engine;

import io.turbidite.core.Cleanup;
import io.turbidite.lsm.partition.RegionFiles;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.RegionState;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionLayer;

import java.util.ArrayList;
import java.util.List;

/**
 * The empty regions of a dataset that is being created: gone again if it is not.
 *
 * <p><em>Confined to one thread.</em>
 */
final class NewRegions implements AutoCloseable {
    private final List<List<RegionLayer>> partitions = new ArrayList<>();
    private boolean isKept;

    private NewRegions() {}

    /** Makes a region for each partition of each index that needs one. */
    static NewRegions create(StoreCore core, DatasetSchema schema) {
        NewRegions regions = new NewRegions();
        NewRegions complete = null;
        try {
            for (int i = 0; i < schema.partitions(); i++) {
                List<RegionLayer> layers = new ArrayList<>();
                regions.partitions.add(layers);
                for (IndexSchema index : schema.regionIndexes()) {
                    RegionHandle made = RegionFiles.create(core, schema, i, index);
                    layers.add(new RegionLayer(index.tree(), made, 0));
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

    /** The regions of a partition. */
    List<RegionLayer> of(int partition) {
        return partitions.get(partition);
    }

    /** What the manifest says of the dataset. */
    DatasetState with(DatasetState state) {
        List<PartitionState> changed = new ArrayList<>();
        for (int i = 0; i < partitions.size(); i++) {
            List<RegionState> regions = partitions.get(i).stream()
                    .map(layer -> new RegionState(layer.tree(), layer.handle().id(), 0))
                    .toList();
            changed.add(state.partitions().get(i).withRegions(regions));
        }
        return new DatasetState(state.schema(), changed, state.counts());
    }

    /** The dataset is there: its partitions have references of their own. */
    void keep() {
        isKept = true;
    }

    @Override
    public void close() {
        Cleanup all = new Cleanup();
        for (List<RegionLayer> layers : partitions) {
            for (RegionLayer layer : layers) {
                if (!isKept) {
                    layer.handle().markObsolete();
                }
                all.add(layer.handle()::release);
            }
        }
        partitions.clear();
        all.run();
    }
}
