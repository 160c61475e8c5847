package io.turbidite.lsm.merge.run;

import io.turbidite.lsm.flush.WriterThrottle;
import io.turbidite.lsm.merge.ComponentSize;
import io.turbidite.lsm.merge.MergeDebt;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.MergeRange;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import java.util.List;

/** How far merges are behind what policies want. <em>Stateless.</em> */
final class DebtWatch {
    private DebtWatch() {}

    /** Tells the throttle how far merges are behind; refreshes what is known of garbage. */
    static void measure(PartitionRegistry partitions, WriterThrottle throttle) {
        int behind = 0;
        for (Partition partition : partitions.all()) {
            behind = Math.max(behind, of(partition).componentCount());
            estimateGarbage(partition);
        }
        throttle.componentsBehind(behind);
    }

    private static void estimateGarbage(Partition partition) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return;
        }
        try {
            if (!pinned.schema().deferredIndexes().isEmpty()) {
                partition.garbage().refresh(pinned);
            }
        } finally {
            pinned.unpin();
        }
    }

    /** How far the partition's index that is most behind is behind. */
    static MergeDebt of(Partition partition) {
        MergeDebt most = MergeDebt.NONE;
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return most;
        }
        try {
            MergePolicySpec spec = pinned.schema().mergePolicy();
            for (List<TreeId> trees : MergePlan.groups(pinned.schema())) {
                List<ComponentSize> sizes = unmarked(pinned.tree(trees.getFirst()));
                MergeDebt debt = MergeDebt.NONE;
                for (MergeRange run : MergePlan.soundRuns(pinned, trees)) {
                    debt = debt.plus(MergeDebt.of(
                            spec.policy(), sizes.subList(run.firstIndex(), run.lastIndex() + 1)));
                }
                if (debt.componentCount() > most.componentCount()) {
                    most = debt;
                }
            }
        } finally {
            pinned.unpin();
        }
        return most;
    }

    private static List<ComponentSize> unmarked(List<ComponentHandle> newestFirst) {
        return newestFirst.stream().map(handle -> MergePlan.size(handle, false)).toList();
    }
}
