package io.turbidite.lsm;

import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

/**
 * R11: random histories against the oracle, with flushes, merges, changes of schema, snapshots, clean
 * reopenings and power cuts, over the policies, schedulers, page sizes, compressions, partition
 * counts and kinds of file access that the seed picks.
 */
class ModelTest {
    private static final int HISTORIES = Boolean.getBoolean("long") ? 2_000 : 100;
    private static final int OPERATIONS = Boolean.getBoolean("long") ? 5_000 : 2_000;

    @Test
    void random_histories_give_what_the_oracle_gives() {
        long seed = Seeds.of("ModelTest");
        int histories = Seeds.isReplay() ? 1 : HISTORIES;
        for (int i = 0; i < histories; i++) {
            long historySeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i);
            History.of(historySeed, Workload::create, Workload::checkNoGarbage)
                    .check(OPERATIONS, Seeds.replay("ModelTest", historySeed));
        }
    }
}
