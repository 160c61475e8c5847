package io.turbidite.feeds.cluster.agree;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Map;
import java.util.TreeMap;

/**
 * Schedules of a controller and its nodes (issue 20, C4): in the end all are alike and what the
 * oracle says; and each planted bug is found.
 */
@LeaksOnPurpose("processes end with files open")
class AgreementScheduleTest {
    private static final String TEST = "AgreementScheduleTest";
    private static final int STEPS = 600;
    private static final int BUG_RUNS_MAX = 2_000;

    @Test
    void all_are_alike_in_the_end() {
        long base = Seeds.of(TEST);
        int runs = Seeds.isReplay() ? 1 : Tier.count(40, 200, 2_000);
        Map<String, Integer> met = new TreeMap<>();
        for (int i = 0; i < runs; i++) {
            long seed = Seeds.isReplay() ? base : Seeds.mix(base, i);
            SimCluster cluster = new SimCluster(seed, SimBug.NONE);
            try {
                cluster.run(STEPS);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        "run %d: %s; %s%n%s"
                                .formatted(
                                        i,
                                        e.getMessage(),
                                        Seeds.replay(TEST, seed),
                                        cluster.trace()),
                        e);
            }
            cluster.met().forEach((what, count) -> met.merge(what, count, Integer::sum));
        }
        System.out.printf("%s: %d runs, %s%n", TEST, runs, met);
        if (!Seeds.isReplay()) {
            assertThat(met)
                    .containsKeys(
                            "controller ends",
                            "damage found",
                            "disk lost",
                            "mail lost",
                            "mail twice",
                            "node ends",
                            "old copy",
                            "recorded",
                            "recovered",
                            "refused",
                            "stopped behind");
        }
    }

    @Test
    void all_are_alike_whichever_process_ends_at_whichever_step() {
        int schedules = 0;
        for (int process = 0; process <= 3; process++) {
            int step = 0;
            while (new SimCluster(Seeds.mix(process, step), SimBug.NONE).runScript(process, step)) {
                step++;
            }
            schedules += step;
        }
        System.out.printf("%s: %d steps%n", TEST, schedules);
        assertThat(schedules).isGreaterThan(80);
    }

    @ParameterizedTest
    @EnumSource(value = SimBug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void a_planted_bug_is_found(SimBug bug) {
        long base = Seeds.of(TEST + bug);
        Throwable found = null;
        int runs = 0;
        while (found == null && runs < BUG_RUNS_MAX) {
            found = failureOf(Seeds.mix(base, runs), bug);
            runs++;
        }
        assertThat(found).as("%s in %d runs", bug, runs).isNotNull();
        System.out.printf("%s: %s is found by run %d%n", TEST, bug, runs);
    }

    private static @Nullable Throwable failureOf(long seed, SimBug bug) {
        try {
            new SimCluster(seed, bug).run(STEPS);
            return null;
        } catch (RuntimeException | AssertionError e) {
            return e;
        }
    }
}
