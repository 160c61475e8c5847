package io.turbidite.lsm.dataset;

import io.turbidite.core.StorageException;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.lsm.partition.Substrate;
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
    public static DatasetCounts of(Substrate substrate, OpenDataset dataset) {
        DatasetState state = substrate.manifest().state().find(dataset.schema().id());
        return work(dataset)
                .stamp(state == null ? DatasetCounts.NONE : state.counts(), dataset.schema());
    }

    /**
     * Keeps what was read since the last flush, when a store is closed. If that can't be written
     * nothing is amiss: both manifests say the same of everything else.
     */
    public static void save(Substrate substrate, List<OpenDataset> datasets, StoreEvents events) {
        if (substrate.health().firstFailure() != null
                || counted(substrate.manifest().state(), datasets)
                        .equals(substrate.manifest().state())) {
            return;
        }
        try {
            substrate.edit(state -> counted(state, datasets), () -> {});
        } catch (StorageException unwritten) {
            events.publish(new StoreEvent.Failed(
                    substrate.clock().wallMicros(),
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
