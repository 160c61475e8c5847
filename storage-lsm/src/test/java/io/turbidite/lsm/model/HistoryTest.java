package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.Disk;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.task.Tasks;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.CarelessDisk;
import io.turbidite.lsm.harness.History;
import io.turbidite.lsm.harness.Workload;
import io.turbidite.lsm.order.Timestamps;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.function.UnaryOperator;

/** What a failing history tells: planted bugs, reduced to the few steps that show them. */
@LeaksOnPurpose("stores break in the middle of things and are left so")
class HistoryTest {
    private static final int WRITES = 300;
    private static final int SEEDS_MAX = 20;

    /** What the first history that fails says. */
    private static String failure(History.Beginning beginning, UnaryOperator<Disk> lens) {
        long seed = Seeds.of("HistoryTest");
        for (int i = 0; i < SEEDS_MAX; i++) {
            AssertionError error = failure(Seeds.mix(seed, i), beginning, lens);
            if (error != null) {
                return String.valueOf(error.getMessage());
            }
        }
        throw new AssertionError("no history finds the bug");
    }

    private static @Nullable AssertionError failure(
            long seed, History.Beginning beginning, UnaryOperator<Disk> lens) {
        try {
            History.of(seed, beginning, (workload, store) -> {})
                    .withLens(lens)
                    .check(WRITES, "replay: seed " + seed);
            return null;
        } catch (AssertionError found) {
            return found;
        }
    }

    private static List<String> steps(String failure) {
        return failure.lines().filter(line -> line.startsWith("  ")).toList();
    }

    @Test
    void a_log_that_is_not_synced_takes_a_write_and_a_power_cut_to_show() {
        String failure = failure(
                Workload::create,
                disk -> new CarelessDisk(disk, name -> name.startsWith("log/"), name -> false));
        assertThat(failure).contains("replay: seed").contains("they end with: ");
        assertThat(steps(failure)).as(failure).hasSize(2);
        assertThat(steps(failure).getLast()).contains("CutPower");
    }

    @Test
    void a_snapshot_that_nobody_keeps_takes_a_handful_of_steps_to_show() {
        String failure = failure(
                (workload, store) -> {
                    workload.create(store);
                    Timestamps timestamps = Inside.core(store).timestamps();
                    Tasks.Worker bug =
                            Inside.core(store).tasks().start("bug", 1, () -> letGo(timestamps));
                    assertThat(bug).isNotNull();
                },
                same -> same);
        // no step can be left out; how many that are depends on which way the reduction took
        assertThat(steps(failure)).as(failure).hasSizeLessThanOrEqualTo(12);
        assertThat(steps(failure)).anyMatch(step -> step.contains("Hold"));
    }

    private static boolean letGo(Timestamps timestamps) {
        timestamps.snapshots().forEach(held -> timestamps.release(held.timestamp()));
        return false;
    }

    @Test
    void the_steps_of_a_seed_are_the_same_every_time() {
        History one = History.of(4_711, Workload::create, (workload, store) -> {});
        assertThat(one.draw(500)).isEqualTo(one.draw(500)).hasSizeGreaterThan(500);
    }
}
