package io.turbidite.lsm;

import io.turbidite.core.sim.Seeds;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;

/** The histories of {@link ModelTest} and {@link CrashTest}, all of them with mutable bitmaps. */
class MutableBitmapModelTest {
    private static final int HISTORIES = Boolean.getBoolean("long") ? 500 : 20;
    private static final int OPERATIONS = Boolean.getBoolean("long") ? 5_000 : 2_000;
    private static final int CUTS = Boolean.getBoolean("long") ? 5_000 : 150;

    @Test
    void random_histories_give_what_the_oracle_gives() {
        long seed = Seeds.of("MutableBitmapModelTest");
        int histories = Seeds.isReplay() ? 1 : HISTORIES;
        for (int i = 0; i < histories; i++) {
            long historySeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i);
            History.of(
                            historySeed,
                            (workload, store) -> workload.withMaintenance(
                                            Maintenance.MUTABLE_BITMAP)
                                    .create(store),
                            (workload, store) -> {})
                    .check(OPERATIONS, Seeds.replay("MutableBitmapModelTest", historySeed));
        }
    }

    @Test
    void after_a_power_cut_exactly_the_superseded_records_are_marked() {
        long seed = Seeds.of("MutableBitmapCrash");
        CrashRun crashes = new CrashRun(same -> same);
        for (int i = 0; crashes.cutCount() < CUTS; i++) {
            long runSeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i);
            try {
                crashes.run(runSeed, Maintenance.MUTABLE_BITMAP);
            } catch (Throwable failure) {
                throw new AssertionError(Seeds.replay("MutableBitmapModelTest", runSeed), failure);
            }
            if (Seeds.isReplay()) {
                break;
            }
        }
    }
}
