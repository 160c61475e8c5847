package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.harness.Axes;
import io.turbidite.lsm.harness.History;
import io.turbidite.lsm.harness.Workload;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schedule.MergeScheduler;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * R11: random histories against the oracle, with flushes, merges, changes of schema, snapshots,
 * clean reopenings and power cuts. Policies, page sizes, compressions, schedulers, strategies and
 * kinds of file access are those of the {@link Axes}' cells in turn, the rest is picked by the
 * seed.
 */
public class ModelTest {
    private static final int HISTORIES = Tier.count(12, 100, 2_000);
    private static final int OPERATIONS = Tier.count(400, 2_000, 5_000);

    /** Of about every second history: most bugs that were planted show within 300. */
    private static final int FEW_OPERATIONS = Tier.count(400, 500, 5_000);

    @Test
    void random_histories_give_what_the_oracle_gives() {
        long seed = Seeds.of("ModelTest");
        int histories = Seeds.isReplay() ? 1 : HISTORIES;
        for (int i = 0; i < histories; i++) {
            long historySeed = Seeds.isReplay() ? seed : historySeed(seed, i);
            History.of(historySeed, Workload::create, Workload::checkNoGarbage)
                    .check(operations(historySeed), Seeds.replay("ModelTest", historySeed));
        }
    }

    /** By the seed, so that a replay does as many. */
    private static int operations(long historySeed) {
        return (Seeds.mix(historySeed, 3) & 1) == 0 ? OPERATIONS : FEW_OPERATIONS;
    }

    private static long historySeed(long seed, int number) {
        return Axes.withCell(Seeds.mix(seed, number), number);
    }

    @Test
    void the_histories_have_every_value_of_every_axis_and_every_pair_of_values() {
        Set<Object> drawn = new HashSet<>();
        // of the default tier at least: so many are needed to draw every pair
        for (int i = 0; i < Math.max(HISTORIES, 100); i++) {
            List<Object> values = values(Axes.of(historySeed(Seeds.of("ModelTest"), i)));
            for (int first = 0; first < values.size(); first++) {
                for (int second = 0; second < first; second++) {
                    drawn.add(List.of(values.get(second), values.get(first)));
                }
            }
        }
        List<List<?>> axes = List.of(
                Axes.POLICIES.stream().map(MergePolicySpec::parse).toList(),
                Axes.PAGE_BYTES,
                List.of(Compression.values()),
                List.of(MergeScheduler.values()),
                List.of(true, false),
                List.of(Maintenance.values()));
        Set<Object> missing = new HashSet<>();
        for (int first = 0; first < axes.size(); first++) {
            for (int second = 0; second < first; second++) {
                for (Object one : axes.get(second)) {
                    axes.get(first).forEach(other -> missing.add(List.of(one, other)));
                }
            }
        }
        missing.removeAll(drawn);
        missing.removeIf(ModelTest::isRefused);
        assertThat(missing).isEmpty();
    }

    private static List<Object> values(Axes axes) {
        return List.of(
                axes.policy(),
                axes.pageBytes(),
                axes.compression(),
                axes.scheduler(),
                axes.directIo(),
                axes.maintenance());
    }

    /** Two strategies need correlated merges. */
    private static boolean isRefused(Object pair) {
        return pair instanceof List<?> both
                && both.getFirst() instanceof MergePolicySpec policy
                && !policy.isCorrelated()
                && (both.contains(Maintenance.DEFERRED)
                        || both.contains(Maintenance.MUTABLE_BITMAP));
    }
}
