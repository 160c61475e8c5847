package io.turbidite.lsm.background;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Under a correlated policy all indexes of a partition have components of the same IDs (design §4
 * rule 9).
 */
class CorrelatedMergeTest {
    private static final long SEED = Seeds.of("CorrelatedMergeTest");
    private static final int FLUSHES = 12;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final SimStore sim = SimStore.open(
            new SimDisk(SEED, Profile.STRICT), SEED, SimStore.options(Durability.BUFFERED));

    @ParameterizedTest
    @CsvSource({
        "EAGER, correlated-constant(componentCountMax=2)",
        "VALIDATION, correlated-tiering(mergeCountMin=3)",
        "DEFERRED, correlated-leveling(sizeRatio=3)",
        "MUTABLE_BITMAP, correlated-prefix(toleranceCount=2)",
    })
    void components_of_all_indexes_are_aligned_after_every_step(
            Maintenance strategy, String policy) {
        Dataset dataset = sim.store.createDataset(Row.spec("T")
                .partitions(1)
                .maintenance(strategy)
                .mergePolicy(MergePolicySpec.parse(policy)));
        Partition partition = Inside.partitions(dataset).getFirst();
        int merges = 0;
        for (int flush = 0; flush < FLUSHES; flush++) {
            for (int i = 0; i < 100; i++) {
                long id = random.nextInt(300);
                Row row = new Row(id, "u" + random.nextInt(20), i, null, "b" + i);
                dataset.upsert(row.toMap());
            }
            dataset.flush();
            int before = ids(partition, TreeId.PRIMARY).size();
            for (int step = 0; step < 200; step++) {
                sim.tasks.step();
                for (TreeId tree : partition.schema().treeIds()) {
                    assertThat(ids(partition, tree))
                            .as("tree %d, seed %d", tree, SEED)
                            .isEqualTo(ids(partition, TreeId.PRIMARY));
                }
            }
            merges += ids(partition, TreeId.PRIMARY).size() < before ? 1 : 0;
        }
        assertThat(merges).isPositive();
        sim.verify();
        sim.close();
    }

    private static List<ComponentId> ids(Partition partition, TreeId tree) {
        return partition.components(tree).stream()
                .map(handle -> new ComponentId(
                        handle.state().minTimestamp(), handle.state().maxTimestamp()))
                .toList();
    }
}
