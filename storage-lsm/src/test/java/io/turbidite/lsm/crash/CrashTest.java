package io.turbidite.lsm.crash;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.harness.CrashRun;

import org.junit.jupiter.api.Test;

/**
 * R1 to R4: a power cut before each durable step of a random history, in all three profiles of what
 * survives; and cuts during the recovery from a cut, three deep. What comes back is the state after
 * some prefix of the history that is no shorter than what was acknowledged, every index agrees with
 * the primary, and recovering again gives the same.
 */
public class CrashTest {
    private static final int CUTS = Tier.count(60, 500, 10_000);
    private static final int NESTED_CUTS = Tier.count(12, 100, 2_000);

    @Test
    void nothing_acknowledged_is_lost_and_nothing_is_half_there() {
        long seed = Seeds.of("CrashTest");
        CrashRun crashes = new CrashRun(same -> same);
        for (int i = 0; crashes.cutCount() < CUTS || crashes.nestedCount() < NESTED_CUTS; i++) {
            long runSeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i);
            try {
                crashes.run(runSeed);
            } catch (Throwable failure) {
                throw new AssertionError(Seeds.replay("CrashTest", runSeed), failure);
            }
            if (Seeds.isReplay()) {
                break;
            }
        }
        System.out.printf(
                "CrashTest: %d power cuts, %d during recovery%n",
                crashes.cutCount(), crashes.nestedCount());
    }
}
