package io.turbidite.it.pm;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.harness.CrashRun;
import io.turbidite.lsm.harness.History;
import io.turbidite.lsm.harness.Workload;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.pm.region.RegionMode;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

/**
 * The random histories of stores with the real index of kind pm: in every mode, under every
 * strategy and policy that go together, with snapshots, changes of schema, reopenings and cuts of
 * disk and memory together, each in a state that is legal.
 */
class RegionHistoryTest {
    private static final String INDEX = "by_region";
    private static final List<String> POLICIES = List.of(
            "correlated-tiering(sizeRatio=1.2, mergeableBytesMax=64KiB)",
            "correlated-constant(componentCountMax=3)",
            "tiering",
            "leveling(sizeRatio=4)",
            "no-merge");

    /** But in the long tier each cell has one mode, and the modes take turns. */
    private static final int MODES = Tier.count(1, 1, 3);

    private static final int WRITES = Tier.count(40, 100, 3_000);

    /** Steps of the disk between two cuts, about: an opening of a region costs most. */
    private static final int CUT_INTERVAL = 60;

    private static final int CUTS = Tier.count(12, 40, 5_000);

    /** Histories at whose end the index was there: changes of schema may have dropped it. */
    private int countedHistories;

    private record Cell(RegionMode mode, Maintenance maintenance, MergePolicySpec policy) {
        @Override
        public String toString() {
            return "mode %s, %s under %s".formatted(mode, maintenance.label(), policy);
        }
    }

    private static List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        List<RegionMode> modes = List.of(RegionMode.values());
        for (Maintenance maintenance : Maintenance.values()) {
            for (String policy : POLICIES) {
                MergePolicySpec spec = MergePolicySpec.parse(policy);
                boolean needsCorrelated = maintenance == Maintenance.MUTABLE_BITMAP
                        || maintenance == Maintenance.DEFERRED;
                if (spec.isCorrelated() || !needsCorrelated) {
                    int first = cells.size();
                    for (int i = 0; i < MODES; i++) {
                        RegionMode mode = modes.get((first + i) % modes.size());
                        cells.add(new Cell(mode, maintenance, spec));
                    }
                }
            }
        }
        return cells;
    }

    @Test
    void histories_give_the_oracles_answers_and_leave_one_entry_for_each_live_record() {
        long base = Seeds.of("RegionHistoryTest");
        for (Cell cell : cells()) {
            long seed = Seeds.isReplay() ? base : Seeds.mix(base, cell.hashCode());
            SimRegions regions = SimRegions.of(cell.mode);
            History.of(
                            seed,
                            (workload, store) ->
                                    workload.create(store, cell.maintenance, cell.policy),
                            (workload, store) -> checkOneEntryEach(workload, store, regions))
                    .withRegions(regions::anew)
                    .check(WRITES, cell + ": " + Seeds.replay("RegionHistoryTest", seed));
        }
        assertThat(Seeds.isReplay() || countedHistories > 0).isTrue();
    }

    /** All merged, all collected, nobody reads anything old. */
    private void checkOneEntryEach(Workload workload, Store store, SimRegions regions) {
        Dataset dataset = store.dataset(Workload.INDEXED);
        dataset.flush();
        dataset.mergeAll();
        IndexSchema index = Inside.schema(dataset).catalog().find(INDEX);
        if (index != null && index.isReady()) {
            assertThat(regions.last().collectAll())
                    .as("entries in all regions")
                    .isEqualTo(workload.rows(Workload.INDEXED).size());
            workload.check(store, 0);
            countedHistories++;
        }
    }

    @Test
    void cuts_of_disk_and_memory_together_lose_nothing() {
        long base = Seeds.of("RegionHistoryTest");
        for (RegionMode mode : List.of(RegionMode.DAX, RegionMode.FILE)) {
            CrashRun crashes = new CrashRun(same -> same, () -> SimRegions.of(mode), CUT_INTERVAL);
            for (int i = 0; crashes.cutCount() < CUTS; i++) {
                long seed = Seeds.isReplay() ? base : Seeds.mix(base, i);
                try {
                    crashes.run(seed, workload -> workload.withRegion(0));
                } catch (Throwable failure) {
                    throw new AssertionError(
                            mode + ": " + Seeds.replay("RegionHistoryTest", seed), failure);
                }
                if (Seeds.isReplay()) {
                    break;
                }
            }
        }
    }
}
