package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Map;
import java.util.Objects;

/**
 * No component and no bitmap is ahead of the log (design §4 rule 6). Where the log is not synced
 * with each write, a flush could otherwise keep an operation and lose one that was acknowledged
 * before it.
 */
class LogOrderTest {
    private static final long SEED = Seeds.of("LogOrderTest");
    private static final StoreOptions OPTIONS = SimStore.options(Durability.BUFFERED);

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void what_is_flushed_takes_all_older_writes_of_other_datasets_with_it(Maintenance maintenance) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset earlier = sim.store.createDataset(Row.spec("Earlier"));
            Dataset flushed = sim.store.createDataset(Row.spec("Flushed")
                    .maintenance(maintenance)
                    .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
            flushed.upsert(row(1, "anna"));
            flushed.flush();
            int[] cuts = {0};
            disk.onOperation(step -> {
                check(disk.crashImage(Seeds.mix(SEED, step.index()), Profile.STRICT));
                cuts[0]++;
            });
            earlier.upsert(row(1, "first"));
            flushed.upsert(row(1, "second"));
            flushed.flush();
            disk.onOperation(step -> {});
            assertThat(cuts[0]).isGreaterThan(5);
            assertThat(check(disk.crashImage(SEED, Profile.STRICT))).isEqualTo("second");
        }
    }

    /**
     * A write that is given up takes a place in the log, and leaves nothing in memory that would
     * hold it.
     */
    @Test
    void the_manifest_names_no_place_in_the_log_that_a_power_cut_takes_away() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset flushed = sim.store.createDataset(Row.spec("Flushed"));
            flushed.upsert(row(1, "second"));
            disk.onOperation(step -> {
                if (step.name().startsWith("data")) {
                    io.turbidite.lsm.Inside.core(sim.store).log().claim(8).cancel();
                }
            });
            flushed.flush();
            disk.onOperation(step -> {});
            assertThat(SimStore.rows(flushed)).hasSize(1);
            try (SimStore recovered =
                    SimStore.open(disk.crashImage(SEED, Profile.STRICT), SEED, OPTIONS)) {
                assertThat(SimStore.rows(recovered.store.dataset("Flushed"))).hasSize(1);
            }
        }
    }

    /** The user of the flushed dataset's record after recovery. */
    private static String check(SimDisk image) {
        try (SimStore recovered = SimStore.open(image, SEED, OPTIONS)) {
            String user = Objects.requireNonNull(SimStore.rows(recovered.store.dataset("Flushed"))
                    .firstEntry()
                    .getValue()
                    .user());
            if (user.equals("second")) {
                assertThat(SimStore.rows(recovered.store.dataset("Earlier"))).hasSize(1);
            }
            recovered.verify();
            return user;
        }
    }

    private static Map<String, @Nullable Object> row(long id, String user) {
        return new Row(id, user, 1, null, user).toMap();
    }
}
