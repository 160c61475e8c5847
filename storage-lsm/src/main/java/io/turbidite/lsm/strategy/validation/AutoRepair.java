package io.turbidite.lsm.strategy.validation;

import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.strategy.advice.RecentWork;
import io.turbidite.lsm.strategy.advice.RepairPlanner;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Places the repair of indexes under {@link Maintenance#AUTO}, and begins those that are due. What
 * is decided and why is the {@link RepairPlanner}'s; this gathers the evidence, all partitions of
 * an index together:
 *
 * <ul>
 *   <li>obsolete entries on disk: those of the index that are not known to be invalid, less the
 *       entries that the records there are have. How many a record has is counted: components
 *       know of how many versions their entries are (decision 0078). Records are the versions of
 *       the primary less those whose
 *       successor is in another component, by the {@link
 *       io.turbidite.lsm.partition.GarbageEstimate};
 *   <li>what was written, updated and paid lately ({@link RecentWork});
 *   <li>what queries have paid since the last repair.
 * </ul>
 *
 * <p>The decision stands in the dataset's
 * {@link io.turbidite.lsm.partition.WorkMeter}, where merges look, and goes to the
 * manifest with its counts; what fades begins anew with each opening. <em>Confined to one thread at
 * a time.</em>
 */
public final class AutoRepair {
    private final StoreCore core;
    private final RepairWork work;
    private final BooleanSupplier isQuiet;
    private final Map<IndexName, RepairWatch> watches = new HashMap<>();

    private record IndexName(int dataset, int index) {}

    public AutoRepair(StoreCore core, RepairWork work, BooleanSupplier isQuiet) {
        this.core = core;
        this.work = work;
        this.isQuiet = isQuiet;
    }

    /**
     * Looks at the indexes of some datasets, and at no others from then on.
     *
     * @param datasets the partitions of each
     */
    public void look(Collection<List<Partition>> datasets, long now) {
        Set<IndexName> there = new HashSet<>();
        for (List<Partition> partitions : datasets) {
            DatasetSchema schema = partitions.getFirst().schema();
            for (IndexSchema index : schema.indexes()) {
                if (index.maintenance() == Maintenance.AUTO && index.isReady()) {
                    IndexName name = new IndexName(schema.id(), index.id());
                    there.add(name);
                    watches.computeIfAbsent(name, _ -> new RepairWatch(core, work, isQuiet))
                            .look(partitions, index, now);
                }
            }
        }
        watches.keySet().retainAll(there);
    }
}
