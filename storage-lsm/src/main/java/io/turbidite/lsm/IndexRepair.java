package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairOptions;

import java.util.List;

/** Says which indexes a repair is of. Stateless. */
final class IndexRepair {
    private IndexRepair() {}

    /** Repairs all indexes that are not eager. */
    static RepairCounts ofAll(Dataset dataset, RepairOptions options) {
        dataset.store().checkReadable();
        return run(dataset, all(dataset.schema()), options);
    }

    /** Repairs the index of that name. */
    static RepairCounts ofOne(Dataset dataset, String name) {
        dataset.store().checkReadable();
        return run(dataset, List.of(one(dataset, name)), options(dataset));
    }

    /** The store's way. */
    static RepairOptions options(Dataset dataset) {
        return dataset.store().substrate().repairOptions();
    }

    private static RepairCounts run(Dataset dataset, List<Integer> ids, RepairOptions options) {
        return dataset.store().background().repair(dataset.partitions(), ids, options);
    }

    /** All that are not eager, by records instead of keys. */
    static RepairCounts runByRecords(Dataset dataset) {
        dataset.store().checkReadable();
        return dataset.store()
                .background()
                .repairByRecords(dataset.partitions(), all(dataset.schema()));
    }

    private static List<Integer> all(DatasetSchema schema) {
        List<Integer> ids = schema.indexes().stream()
                .filter(index -> index.isReady() && index.maintenance() != Maintenance.EAGER)
                .map(IndexSchema::id)
                .toList();
        if (ids.isEmpty()) {
            throw new InvalidRequestException("dataset %s has no index to repair: %s"
                    .formatted(
                            schema.name(),
                            schema.indexes().isEmpty()
                                    ? "it has none at all"
                                    : "all are eager, so that no entry is ever obsolete"));
        }
        return ids;
    }

    private static int one(Dataset dataset, String name) {
        IndexSchema index = dataset.schema().catalog().find(name);
        if (index == null || !index.isReady()) {
            throw new InvalidRequestException("dataset %s has no index %s that could be repaired"
                    .formatted(dataset.name(), name));
        }
        if (index.maintenance() == Maintenance.EAGER) {
            throw new InvalidRequestException(
                    "index %s of dataset %s is eager: none of its entries is ever obsolete, so there is nothing to repair"
                            .formatted(name, dataset.name()));
        }
        return index.id();
    }
}
