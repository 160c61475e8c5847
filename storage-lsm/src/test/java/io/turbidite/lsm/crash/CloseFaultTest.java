package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;

/** Closing closes everything, whatever of it fails. What is left open, LeakCheck finds besides. */
class CloseFaultTest {
    private static final long SEED = Seeds.of("CloseFaultTest");

    /** Both merges get on in turn, slowly enough to be met half done. */
    private static final StoreOptions OPTIONS = SimStore.options(Durability.BUFFERED)
            .withBackground(BackgroundOptions.defaults()
                    .withMergeScheduler(MergeScheduler.FAIR)
                    .withIoBytesPerSecond(1 << 17));

    private static final int RECORDS = 4_000;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);

    @Test
    void merges_whose_files_cant_be_deleted_keep_nothing_open() {
        SimStore sim = SimStore.open(disk, SEED, OPTIONS);
        Dataset dataset = sim.store.createDataset(Row.blindSpec("T")
                .partitions(2)
                .mergePolicy(MergePolicySpec.parse("correlated-constant(componentCountMax=1)")));
        fill(dataset, "a");
        fill(dataset, "b");
        int flushed = disk.list(StoreFiles.DATA).size();
        while (Inside.background(sim.store).mergeCount() < 2
                || disk.list(StoreFiles.DATA).size() < flushed + 2) {
            assertThat(sim.tasks.step() && sim.tasks.stepCount() < 100_000).isTrue();
        }
        FaultScript fault = FaultScript.with(Fault.EIO)
                .on(OperationKind.DELETE)
                .named(name -> name.startsWith(StoreFiles.DATA))
                .forever();
        disk.fault(fault);
        assertThatThrownBy(sim::close)
                .isInstanceOf(StorageIoException.class)
                .hasMessageContaining("injected")
                .satisfies(first -> assertThat(first.getSuppressed()).hasSize(1));
        assertThat(fault.hitCount()).isEqualTo(2);
        assertThat(disk.openHandles()).isEmpty();
        disk.clearFaults();
        try (SimStore again = SimStore.open(disk, SEED, OPTIONS)) {
            assertThat(SimStore.rows(again.store.dataset("T")).values())
                    .hasSize(RECORDS)
                    .allMatch(row -> "b".equals(row.user()));
            again.verify();
        }
    }

    private static void fill(Dataset dataset, String user) {
        for (long id = 0; id < RECORDS; id++) {
            dataset.upsert(new Row(id, user, 1, null, "body of some length").toMap());
        }
        dataset.flush();
    }
}
