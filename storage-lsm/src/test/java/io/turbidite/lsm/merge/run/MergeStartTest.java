package io.turbidite.lsm.merge.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.MergeRange;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import org.junit.jupiter.api.Test;

import java.util.List;

class MergeStartTest {
    /** Nobody could merge them any more, and their files would stay open. */
    @Test
    void a_merge_that_can_not_begin_gives_its_inputs_back() {
        SimStore sim =
                SimStore.open(new SimDisk(1, Profile.STRICT), 1, SimStore.options(Durability.SYNC));
        Dataset dataset = sim.store.createDataset(
                Row.spec("Visits").partitions(1).mergePolicy(MergePolicySpec.parse("no-merge")));
        for (String body : List.of("early", "late")) {
            dataset.upsert(new Row(1, "user", 1, null, body).toMap());
            dataset.flush();
        }
        Partition partition = Inside.partitions(dataset).getFirst();
        Version pinned = partition.pin();
        MergePlan plan = new MergePlan(List.of(TreeId.PRIMARY), new MergeRange(0, 1));
        assertThatThrownBy(() -> Merge.start(partition, pinned, plan, (_, _, _) -> {
                    throw new IllegalStateException("no room for hooks");
                }))
                .hasMessage("no room for hooks");
        assertThat(pinned.tree(TreeId.PRIMARY)).hasSize(2).noneMatch(ComponentHandle::isTaken);
        pinned.unpin();
        dataset.mergeAll();
        assertThat(partition.version().primaryCount()).isEqualTo(1);
        sim.close();
    }
}
