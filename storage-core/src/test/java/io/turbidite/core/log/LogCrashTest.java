package io.turbidite.core.log;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.log.BuggyDisk.Bug;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Power cuts at every durable step (R1 to R4 for the log alone): replay shows a prefix, at least
 * what was acknowledged, the same after a crash inside recovery, and the log goes on from there.
 */
@LeaksOnPurpose("killed logs have nobody who closes them; handles are counted")
class LogCrashTest {
    private static final int RUN_COUNT = Tier.count(1, 5, 400);

    @ParameterizedTest
    @EnumSource(Durability.class)
    @Timeout(600)
    void aPowerCutAtAnyStepLosesNothingAcknowledged(Durability durability) {
        String test = "LogCrashTest";
        long base = Seeds.of(test + durability);
        long images = 0;
        long nested = 0;
        int runs = Seeds.isReplay() ? 1 : RUN_COUNT;
        for (int run = 0; run < runs; run++) {
            long seed = Seeds.isReplay() ? base : Seeds.mix(base, run);
            LogCrash crash = new LogCrash(seed, durability, Bug.NONE);
            try {
                crash.run(4, 60);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        durability + ": " + e.getMessage() + "\n" + Seeds.replay(test, seed), e);
            }
            images += crash.imageCount();
            nested += crash.nestedCount();
        }
        System.out.printf(
                "LogCrashTest %s: %d runs, %d power cuts recovered, %d more inside recovery%n",
                durability, runs, images, nested);
        assertTrue(Seeds.isReplay() || images >= 500, "power cuts: " + images);
    }

    /** The disk fills up and is freed again all the time, in all modes one after the other. */
    @Test
    @Timeout(600)
    void aPowerCutOnAFullDiskLosesNothingAcknowledged() {
        String test = "LogCrashTest full disk";
        long base = Seeds.of(test);
        long images = 0;
        long reserveUses = 0;
        int runs = Seeds.isReplay() ? 1 : 2 * RUN_COUNT;
        for (int run = 0; run < runs; run++) {
            long seed = Seeds.isReplay() ? base : Seeds.mix(base, run);
            LogCrash crash = LogCrash.onFullDisk(seed);
            try {
                crash.run(6, 60);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(e.getMessage() + "\n" + Seeds.replay(test, seed), e);
            }
            images += crash.imageCount();
            reserveUses += crash.reserveUseCount();
        }
        System.out.printf(
                "LogCrashTest full disk: %d runs, %d power cuts recovered, %d moves to the reserve%n",
                runs, images, reserveUses);
        assertTrue(Seeds.isReplay() || reserveUses >= runs, "moves to the reserve: " + reserveUses);
    }
}
