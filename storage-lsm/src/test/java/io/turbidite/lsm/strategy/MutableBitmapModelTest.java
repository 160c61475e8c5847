package io.turbidite.lsm.strategy;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.crash.CrashTest;
import io.turbidite.lsm.harness.CrashRun;
import io.turbidite.lsm.harness.History;
import io.turbidite.lsm.model.ModelTest;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The histories of {@link ModelTest} and {@link CrashTest}, all of them with mutable bitmaps. */
class MutableBitmapModelTest {
    private static final int HISTORIES = Tier.count(3, 10, 250);
    private static final int OPERATIONS = Tier.count(300, 2_000, 5_000);
    private static final int CUTS = Tier.count(12, 100, 2_500);

    /** The methods go through histories of their own. */
    private static int first(BitmapHandover method) {
        return method == BitmapHandover.LOCK ? HISTORIES : 0;
    }

    @ParameterizedTest
    @EnumSource
    void random_histories_give_what_the_oracle_gives(BitmapHandover method) {
        long seed = Seeds.of("MutableBitmapModelTest");
        int histories = Seeds.isReplay() ? 1 : HISTORIES;
        for (int i = 0; i < histories; i++) {
            long historySeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i + first(method));
            History.of(
                            historySeed,
                            (workload, store) -> workload.withMaintenance(
                                            Maintenance.MUTABLE_BITMAP)
                                    .withHandover(method)
                                    .create(store),
                            (workload, store) -> {})
                    .check(
                            OPERATIONS,
                            method + ": " + Seeds.replay("MutableBitmapModelTest", historySeed));
        }
    }

    @ParameterizedTest
    @EnumSource
    void after_a_power_cut_exactly_the_superseded_records_are_marked(BitmapHandover method) {
        long seed = Seeds.of("MutableBitmapCrash");
        CrashRun crashes = new CrashRun(same -> same);
        for (int i = 0; crashes.cutCount() < CUTS; i++) {
            long runSeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i + first(method));
            try {
                crashes.run(
                        runSeed,
                        workload -> workload.withMaintenance(Maintenance.MUTABLE_BITMAP)
                                .withHandover(method));
            } catch (Throwable failure) {
                throw new AssertionError(
                        method + ": " + Seeds.replay("MutableBitmapModelTest", runSeed), failure);
            }
            if (Seeds.isReplay()) {
                break;
            }
        }
    }
}
