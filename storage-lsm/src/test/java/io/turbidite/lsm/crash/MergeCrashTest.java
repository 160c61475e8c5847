package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Garbage;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.run.MergeStep;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Power cuts at every step of one merge, under each strategy: a record and what is on file of its
 * being superseded (an entry, a mark, a deleted key) are merged together or not at all.
 */
class MergeCrashTest {
    private static final long SEED = Seeds.of("MergeCrashTest");
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);
    private static final String BY_USER = "by_user";
    private static final int RECORDS = 20;

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void superseded_records_stay_superseded(Maintenance maintenance) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(Row.everyKindSpec("T")
                    .maintenance(maintenance)
                    .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
            for (String user : new String[] {"anna", "bert"}) {
                for (long id = 0; id < RECORDS; id++) {
                    Row row = new Row(id, user, user.length() % 3, null, user);
                    dataset.upsert(row.toMap(dataset.type()));
                }
                dataset.flush();
            }
            int[] cuts = {0};
            disk.onOperation(step -> {
                for (Profile profile : Profile.values()) {
                    recover(disk.crashImage(Seeds.mix(SEED, step.index()), profile), maintenance);
                }
                cuts[0]++;
            });
            MergeStep.run(Inside.partitions(dataset).getFirst(), 0, 1);
            disk.onOperation(step -> {});
            recover(disk.crashImage(SEED, Profile.STRICT), maintenance);
            assertThat(cuts[0]).isGreaterThan(10);
        }
    }

    private static void recover(SimDisk image, Maintenance maintenance) {
        try (SimStore recovered = SimStore.open(image, SEED, OPTIONS)) {
            Dataset there = recovered.store.dataset("T");
            assertThat(Garbage.valid(there, BY_USER)).hasSize(RECORDS).doesNotContainValue("anna");
            assertThat(SimStore.rows(there).values())
                    .hasSize(RECORDS)
                    .allMatch(row -> "bert".equals(row.user()));
            recovered.verify();
            there.mergeAll();
            if (!maintenance.isValidWhenFound()) {
                there.repair();
                there.mergeAll();
            }
            assertThat(Garbage.entries(recovered.store, there, BY_USER)).isEqualTo(RECORDS);
        }
    }
}
