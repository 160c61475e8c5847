package io.turbidite.lsm.engine;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageException;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionLayer;

import java.util.ArrayList;
import java.util.List;

/**
 * Regions that have absorbed, or began to, more than manifest and log know together: they are of a
 * later time, because the store's files were put back. What such a region has collected since is
 * missing in it, and what it knows of records has not happened.
 *
 * <p>Its index is disabled in the manifest before the store can draw a timestamp: later ones would
 * make the region look like the store's own. It is built anew then. Stateless.
 */
final class NewerRegions {
    private NewerRegions() {}

    /**
     * Disables the indexes of a dataset that have such a region, when the log is replayed.
     *
     * @param reading whether nothing may be changed: such a region is only not searched then
     * @return the indexes that must be built anew
     * @throws StorageException if the manifest can't be written: the store must not be opened
     */
    static List<IndexSchema> refuse(OpenDataset dataset, StoreCore core, boolean reading) {
        List<IndexSchema> refused = new ArrayList<>();
        for (IndexSchema index : dataset.schema().regionIndexes()) {
            boolean isNewer = false;
            for (Partition partition : dataset.partitions()) {
                isNewer |= refuse(partition, index, core);
            }
            if (isNewer && !reading) {
                disable(dataset, index, core);
                refused.add(index);
            }
        }
        return refused;
    }

    private static boolean refuse(Partition partition, IndexSchema index, StoreCore core) {
        RegionLayer layer = partition.version().region(index.tree());
        if (layer == null) {
            return false;
        }
        long last = core.timestamps().lastDrawn();
        RegionHandle handle = layer.handle();
        long found = handle.region().foundThrough();
        if (found <= last) {
            return false;
        }
        StorageException _ = handle.fail(new CorruptionException(
                "the region of " + handle.name(),
                0,
                "last timestamp absorbed",
                "%d or less, where the store ends".formatted(last),
                String.valueOf(found)));
        handle.tellOnce(told -> core.events().regionRefused(partition.name(), index.name(), told));
        return true;
    }

    private static void disable(OpenDataset dataset, IndexSchema index, StoreCore core) {
        DatasetSchema after = dataset.schema().with(index.withState(IndexSchema.State.DISABLED));
        core.edit(
                manifest -> SchemaEdits.withRegionsToBuild(manifest, after, index),
                () -> SchemaChanges.installSchema(dataset, after));
    }
}
