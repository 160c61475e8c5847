package io.turbidite.lsm.engine;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairOptions;

import java.util.List;

/** Says which indexes a repair is of. Stateless. */
public final class IndexRepair {
    private IndexRepair() {}

    /** Repairs all indexes that are not eager. */
    public static RepairCounts ofAll(
            StoreEngine engine, OpenDataset dataset, RepairOptions options) {
        engine.checkReadable();
        return run(engine, dataset, all(dataset.schema()), options);
    }

    /** Repairs the index of that name. */
    public static RepairCounts ofOne(StoreEngine engine, OpenDataset dataset, String name) {
        engine.checkReadable();
        return run(engine, dataset, List.of(one(dataset, name)), options(engine));
    }

    /** The store's way. */
    public static RepairOptions options(StoreEngine engine) {
        return engine.core().repairOptions();
    }

    private static RepairCounts run(
            StoreEngine engine, OpenDataset dataset, List<Integer> ids, RepairOptions options) {
        return engine.background().repair(dataset.partitions(), ids, options);
    }

    /** All that are not eager, by records instead of keys. */
    public static RepairCounts runByRecords(StoreEngine engine, OpenDataset dataset) {
        engine.checkReadable();
        return engine.background().repairByRecords(dataset.partitions(), all(dataset.schema()));
    }

    private static List<Integer> all(DatasetSchema schema) {
        List<Integer> ids = schema.indexes().stream()
                .filter(index -> index.isReady()
                        && !index.hasRegion()
                        && index.maintenance() != Maintenance.EAGER)
                .map(IndexSchema::id)
                .toList();
        if (ids.isEmpty()) {
            throw new InvalidRequestException(
                    "dataset %s has no index to repair: %s"
                            .formatted(
                                    schema.name(),
                                    schema.indexes().isEmpty()
                                            ? "it has none at all"
                                            : schema.regionIndexes().isEmpty()
                                                    ? "all are eager, so that no entry is ever obsolete"
                                                    : "each is eager, so that no entry is ever obsolete, or of a kind that looks after its obsolete entries itself"));
        }
        return ids;
    }

    private static int one(OpenDataset dataset, String name) {
        IndexSchema index = dataset.schema().catalog().find(name);
        if (index == null || !index.isReady()) {
            throw new InvalidRequestException("dataset %s has no index %s that could be repaired"
                    .formatted(dataset.name(), name));
        }
        if (index.hasRegion()) {
            throw new InvalidRequestException(
                    "index %s of dataset %s is of kind %s, which looks after its obsolete entries itself; if it is wrong, rebuild it"
                            .formatted(name, dataset.name(), index.kind().label()));
        }
        if (index.maintenance() == Maintenance.EAGER) {
            throw new InvalidRequestException(
                    "index %s of dataset %s is eager: none of its entries is ever obsolete, so there is nothing to repair"
                            .formatted(name, dataset.name()));
        }
        return index.id();
    }
}
