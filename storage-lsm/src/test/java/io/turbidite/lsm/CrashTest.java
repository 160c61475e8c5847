package io.turbidite.lsm;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;

import java.util.List;

/**
 * R1 to R4: a power cut before each durable step of a random history, in all three profiles of what
 * survives; and cuts during the recovery from a cut, three deep. What comes back is the state after some
 * prefix of the history that is no shorter than what was acknowledged, every index agrees with the
 * primary, and recovering again gives the same.
 */
class CrashTest {
    private static final int CUTS = Boolean.getBoolean("long") ? 10_000 : 500;
    private static final int NESTED_CUTS = Boolean.getBoolean("long") ? 2_000 : 100;
    private static final int COMMITS_A_RUN = 120;

    private long cutCount;
    private long nestedCount;

    @Test
    void nothing_acknowledged_is_lost_and_nothing_is_half_there() {
        long seed = Seeds.of("CrashTest");
        for (int i = 0; cutCount < CUTS || nestedCount < NESTED_CUTS; i++) {
            long runSeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i);
            try {
                run(runSeed);
            } catch (Throwable failure) {
                throw new AssertionError(Seeds.replay("CrashTest", runSeed), failure);
            }
            if (Seeds.isReplay()) {
                break;
            }
        }
        System.out.printf("CrashTest: %d power cuts, %d during recovery%n", cutCount, nestedCount);
    }

    private void run(long seed) {
        Oracle oracle = new Oracle();
        Workload workload = new Workload(seed, oracle, 40);
        Durability durability = List.of(Durability.values()).get((int) (seed >>> 8 & 3) % 3);
        StoreOptions options = SimStore.options(durability);
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        SimStore sim = SimStore.open(disk, seed, options);
        workload.create(sim.store);
        // about one step in three, so that a run shows many places and many histories are seen
        disk.onOperation(step -> {
            if (Long.remainderUnsigned(Seeds.mix(seed, step.index()), 3) == 0) {
                cut(disk, Seeds.mix(seed, step.index()), oracle, options);
            }
        });
        for (int i = 0; i < COMMITS_A_RUN; i++) {
            workload.write(sim.store);
            if (durability == Durability.SYNC) {
                oracle.acknowledge();
            } else if (i % 16 == 0) {
                sim.store.sync();
                oracle.acknowledge();
            }
            workload.disturb(sim.store);
        }
        sim.close();
    }

    private void cut(SimDisk disk, long seed, Oracle oracle, StoreOptions options) {
        cutCount++;
        Profile profile = List.of(Profile.values()).get((int) (seed >>> 4 & 3) % 3);
        SimDisk image = disk.crashImage(seed, profile);
        boolean nest = seed % 4 == 0;
        if (nest) {
            image.onOperation(step -> {
                long stepSeed = Seeds.mix(seed, step.index());
                if (Long.remainderUnsigned(stepSeed, 5) == 0) {
                    nestedCount++;
                    recover(image.crashImage(stepSeed, profile), stepSeed, oracle, options);
                }
            });
        }
        long first = recover(image, seed, oracle, options);
        image.onOperation(step -> {});
        long second = recover(image.crashImage(seed), seed + 1, oracle, options);
        assertThat(second).as("the second recovery").isEqualTo(first);
    }

    private static long recover(SimDisk image, long seed, Oracle oracle, StoreOptions options) {
        try (SimStore sim = SimStore.open(image, seed, options)) {
            long hash = sim.contentHash();
            assertThat(oracle.prefixWith(hash))
                    .as(
                            "prefix of %d commits, %d durable, after a cut at%n%s",
                            oracle.commitCount(), oracle.durableCount(), image.trace())
                    .isGreaterThanOrEqualTo(0);
            sim.verify();
            return hash;
        }
    }
}
