package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.QuarantinedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.NavigableMap;

/** A component that the disk gives an error for fails alone while the store opens. */
class UnreadableTest {
    private static final long SEED = Seeds.of("UnreadableTest");
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);

    private static NavigableMap<Long, Row> fill(Store store, String name, Maintenance maintenance) {
        Dataset dataset = store.createDataset(Row.spec(name)
                .partitions(1)
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
        for (int id = 0; id < 30; id++) {
            dataset.upsert(new Row(id, "u" + id % 5, id, null, name).toMap());
        }
        dataset.flush();
        return SimStore.rows(dataset);
    }

    private FaultScript failing(String file) {
        return FaultScript.with(Fault.EIO).on(OperationKind.READ).named(file::equals);
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void other_datasets_go_on_and_the_component_is_there_again(Maintenance maintenance) {
        NavigableMap<Long, Row> rows;
        NavigableMap<Long, Row> others;
        String file;
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            rows = fill(sim.store, "T", maintenance);
            file = StoreFiles.component(io.turbidite.lsm.Inside.core(sim.store)
                    .manifest()
                    .state()
                    .datasets()
                    .getFirst()
                    .partitions()
                    .getFirst()
                    .tree(TreeId.PRIMARY)
                    .getFirst()
                    .fileId());
            others = fill(sim.store, "Other", maintenance);
        }
        var _ = disk.fault(failing(file).forever());
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            assertThat(SimStore.rows(sim.store.dataset("Other"))).isEqualTo(others);
            assertThatThrownBy(() -> SimStore.rows(sim.store.dataset("T")))
                    .isInstanceOf(QuarantinedException.class)
                    .hasMessageContaining("Input/output error");
        }
        disk.clearFaults();
        var _ = disk.fault(failing(file).call(1));
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            assertThat(SimStore.rows(sim.store.dataset("T"))).isEqualTo(rows);
            sim.verify();
        }
    }
}
