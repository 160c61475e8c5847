package io.turbidite.lsm.dataset;

import io.turbidite.core.StorageException;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.partition.WorkMeter;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.DatasetState;

import java.util.List;

/** What is counted of each dataset, in the manifest and since. Stateless. */
public final class KeptCounts {
    private KeptCounts() {}

    /** What was done with a dataset until now, as far as it was flushed or read. */
    public static DatasetCounts of(StoreCore core, OpenDataset dataset) {
        DatasetState state = core.manifest().state().find(dataset.schema().id());
        return work(dataset)
                .stamp(state == null ? DatasetCounts.NONE : state.counts(), dataset.schema());
    }

    /**
     * Keeps what was read since the last flush, when a store is closed. If that can't be written
     * nothing is amiss: both manifests say the same of everything else.
     */
    public static void save(StoreCore core, List<OpenDataset> datasets, StoreEvents events) {
        if (core.health().firstFailure() != null
                || counted(core.manifest().state(), datasets)
                        .equals(core.manifest().state())) {
            return;
        }
        try {
            core.edit(state -> counted(state, datasets), () -> {});
        } catch (StorageException unwritten) {
            events.publish(new StoreEvent.Failed(
                    core.clock().wallMicros(),
                    "what was read since the last flush could not be counted",
                    unwritten));
        }
    }

    private static ManifestState counted(ManifestState state, List<OpenDataset> datasets) {
        ManifestState counted = state;
        for (OpenDataset dataset : datasets) {
            DatasetSchema schema = dataset.schema();
            WorkMeter work = work(dataset);
            counted = counted.withCounts(schema.id(), counts -> work.stamp(counts, schema));
        }
        return counted;
    }

    /** All partitions of a dataset count together. */
    private static WorkMeter work(OpenDataset dataset) {
        return dataset.partitions().getFirst().work();
    }
}
