package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.harness.AnswerCheck;
import io.turbidite.lsm.harness.ConcurrentRun;
import io.turbidite.lsm.harness.History;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.harness.Workload;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;

/**
 * The same history under every strategy and policy that go together: the answers are the oracle's,
 * and so one another's, at every snapshot; and in the end, with all merged and repaired, no index
 * has an entry more than records give.
 */
class StrategyMatrixTest {
    private static final List<String> POLICIES = List.of(
            "correlated-tiering(sizeRatio=1.2, mergeableBytesMax=64KiB)",
            "correlated-constant(componentCountMax=3)",
            "tiering",
            "leveling(sizeRatio=4)",
            "no-merge");
    private static final int OPERATIONS = Tier.count(100, 500, 5_000);
    private static final int HISTORIES = Tier.count(1, 1, 50);

    private static final int THREADS = 3;
    private static final int CALLS = Tier.count(50, 400, 20_000);

    private record Cell(Maintenance maintenance, BitmapHandover handover, MergePolicySpec policy) {
        @Override
        public String toString() {
            return "%s by %s under %s".formatted(maintenance.label(), handover.label(), policy);
        }
    }

    @Test
    void one_history_gives_the_same_answers_under_all_and_leaves_no_garbage() {
        long seed = Seeds.of("StrategyMatrixTest");
        int histories = Seeds.isReplay() ? 1 : HISTORIES;
        for (int i = 0; i < histories; i++) {
            long historySeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i);
            for (Cell cell : cells()) {
                History.of(
                                historySeed,
                                (workload, store) -> workload.withHandover(cell.handover)
                                        .create(store, cell.maintenance, cell.policy),
                                StrategyMatrixTest::checkNoGarbage)
                        .check(
                                OPERATIONS,
                                cell + ": " + Seeds.replay("StrategyMatrixTest", historySeed));
            }
        }
    }

    /** Threads fight for a few keys; then every answer is that of the records that are left. */
    @Test
    @Timeout(120)
    void concurrent_threads_are_in_one_order_under_all() throws Exception {
        long seed = Seeds.of("StrategyMatrixTest");
        for (Cell cell : cells()) {
            SimDisk disk = new SimDisk(seed, Profile.STRICT);
            try (Store store = LinearizabilityTest.open(disk)) {
                Dataset dataset = store.createDataset(ConcurrentRun.spec("Registers")
                        .maintenance(cell.maintenance)
                        .bitmapHandover(cell.handover)
                        .mergePolicy(cell.policy));
                ConcurrentRun.run(store, dataset, seed, THREADS, CALLS).check();
                try (ReadView view = dataset.openView()) {
                    AnswerCheck.run(dataset, view, SimStore.rows(dataset, view));
                }
                assertThat(store.verify().errors()).isEmpty();
                assertThat(Inside.holdsNothing(store)).isTrue();
            } catch (Throwable failure) {
                throw new AssertionError(
                        cell + ": " + Seeds.replay("StrategyMatrixTest", seed), failure);
            }
            assertThat(disk.openHandles()).isEmpty();
        }
    }

    /** All pairs that a dataset can be defined with. */
    private static List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        for (Maintenance maintenance : Maintenance.values()) {
            for (String policy : POLICIES) {
                MergePolicySpec spec = MergePolicySpec.parse(policy);
                boolean needsCorrelated = maintenance == Maintenance.MUTABLE_BITMAP
                        || maintenance == Maintenance.DEFERRED;
                if (spec.isCorrelated() || !needsCorrelated) {
                    cells.add(new Cell(maintenance, BitmapHandover.SIDE_FILE, spec));
                }
                if (spec.isCorrelated() && maintenance == Maintenance.MUTABLE_BITMAP) {
                    cells.add(new Cell(maintenance, BitmapHandover.LOCK, spec));
                }
            }
        }
        assertThat(cells).hasSize(4 * POLICIES.size() + 3 * 2);
        return cells;
    }

    private static void checkNoGarbage(Workload workload, Store store) {
        Dataset dataset = store.dataset(Workload.INDEXED);
        dataset.flush();
        dataset.mergeAll();
        if (dataset.indexes().stream().anyMatch(index -> !index.alwaysValid())) {
            dataset.repair();
        }
        dataset.mergeAll();
        for (IndexSchema index : Inside.schema(dataset).indexes()) {
            if (index.isReady() && !index.hasRegion()) {
                assertThat(entries(store, dataset, index.name()))
                        .as("entries of %s", index.name())
                        .isEqualTo(Workload.entryCount(
                                index, workload.rows(Workload.INDEXED).values()));
            }
        }
    }

    private static long entries(Store store, Dataset dataset, String index) {
        return store.describe().datasets().stream()
                .filter(described -> described.name().equals(dataset.name()))
                .flatMap(described -> described.partitions().stream())
                .flatMap(partition -> partition.indexes().stream())
                .filter(described -> described.name().equals(index))
                .flatMap(described -> described.components().stream())
                .mapToLong(StoreDescription.ComponentDescription::entries)
                .sum();
    }
}
