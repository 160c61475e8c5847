package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.HeapIndexKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Oracle;
import io.turbidite.lsm.harness.SchemaWorkload;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.harness.Workload;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.Stream;

/**
 * Power cuts while indexes are built, dropped, disabled and enabled, and a dataset comes and goes,
 * with writes, flushes and merges beside them. What comes back has each index whole or not at all,
 * as it was before the change or after it; every record that was acknowledged; and no file that
 * nobody names.
 */
class SchemaCrashTest {
    private static final int CUTS = Tier.count(50, 400, 10_000);
    private static final int COMMITS_A_RUN = 100;

    private int cutCount;
    private int changeCount;

    @Test
    void an_index_is_whole_or_absent_after_a_crash() {
        long seed = Seeds.of("SchemaCrashTest");
        for (int i = 0; cutCount < CUTS; i++) {
            long runSeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i);
            try {
                run(runSeed);
            } catch (Throwable failure) {
                throw new AssertionError(Seeds.replay("SchemaCrashTest", runSeed), failure);
            }
            if (Seeds.isReplay()) {
                break;
            }
        }
        System.out.printf(
                "SchemaCrashTest: %d power cuts, %d changes of schema%n", cutCount, changeCount);
    }

    private void run(long seed) {
        Oracle oracle = new Oracle();
        Workload workload = new Workload(seed, oracle, 40).withRegion(seed);
        SchemaWorkload changes = new SchemaWorkload(Seeds.mix(seed, 1));
        HeapIndexKind regions = HeapIndexKind.persistent();
        StoreOptions options = SimStore.options(Durability.SYNC).withIndexKinds(regions);
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        SimStore sim = SimStore.open(disk, seed, options);
        workload.create(sim.store);
        changes.begin(sim.store);
        disk.onOperation(step -> {
            long stepSeed = Seeds.mix(seed, step.index());
            if (Long.remainderUnsigned(stepSeed, 15) == 0) {
                cut(disk, stepSeed, oracle, changes, options.withIndexKinds(regions.image()));
            }
        });
        for (int i = 0; i < COMMITS_A_RUN; i++) {
            workload.write(sim.store);
            oracle.acknowledge();
            workload.disturb(sim.store);
            changes.change(sim.store);
        }
        changes.settle();
        changeCount += changes.changeCount();
        disk.onOperation(step -> {});
        sim.verify();
        workload.check(sim.store);
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    private void cut(
            SimDisk disk, long seed, Oracle oracle, SchemaWorkload changes, StoreOptions options) {
        cutCount++;
        Profile profile = List.of(Profile.values()).get((int) (seed >>> 4 & 3) % 3);
        SimDisk image = disk.crashImage(seed, profile);
        try (SimStore sim = SimStore.open(image, seed, options)) {
            assertThat(oracle.prefixWith(sim.contentHash()))
                    .as("%d commits, %d durable", oracle.commitCount(), oracle.durableCount())
                    .isGreaterThanOrEqualTo(0);
            sim.verify();
            changes.checkRecovered(sim.store);
            assertThat(image.list("data")).hasSameSizeAs(namedFiles(sim.store));
        }
    }

    /** Components and the bitmaps of their invalid entries. */
    private static List<Long> namedFiles(Store store) {
        return Inside.core(store).manifest().state().datasets().stream()
                .flatMap(dataset -> dataset.partitions().stream())
                .flatMap(partition -> partition.trees().stream())
                .flatMap(tree -> tree.components().stream())
                .flatMap(state -> state.bitmapFileId() == 0
                        ? Stream.of(state.fileId())
                        : Stream.of(state.fileId(), state.bitmapFileId()))
                .toList();
    }
}
