package io.turbidite.lsm.strategy.advice;

import static io.turbidite.lsm.schema.RepairPlacement.AT_MERGE;
import static io.turbidite.lsm.schema.RepairPlacement.NEVER;
import static io.turbidite.lsm.schema.RepairPlacement.NOW;
import static io.turbidite.lsm.schema.RepairPlacement.WHEN_IDLE;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.lsm.schema.RepairPlacement;
import io.turbidite.lsm.strategy.advice.RepairEvidence.Debt;
import io.turbidite.lsm.strategy.advice.RepairEvidence.Garbage;
import io.turbidite.lsm.strategy.advice.RepairEvidence.Recent;

import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

/** Where repair belongs, by tables. */
class RepairPlannerTest {
    private static final Debt NO_DEBT = new Debt(0, 100, 0);

    /** Of 1,000 entries so many obsolete, of 1,000 writes so many updates. */
    private static RepairEvidence evidence(
            RepairPlacement now, long obsolete, double updates, double paidPages, boolean quiet) {
        return new RepairEvidence(
                now,
                new Garbage(1_000, obsolete),
                new Recent(1_000, updates, paidPages, 20),
                NO_DEBT,
                quiet);
    }

    private static RepairEvidence busy(
            RepairPlacement now, long obsolete, double updates, double paidPages) {
        return evidence(now, obsolete, updates, paidPages, false);
    }

    private static RepairPlacement place(RepairEvidence evidence) {
        return RepairPlanner.decide(evidence).placement();
    }

    @Test
    void where_nothing_is_written_over_there_is_nothing_to_repair() {
        RepairDecision decision = RepairPlanner.decide(busy(NEVER, 0, 0, 0));
        assertThat(decision.placement()).isEqualTo(NEVER);
        assertThat(decision.isDue()).isFalse();
        assertThat(decision.reason()).contains("0.0 % of the entries are obsolete");
        assertThat(place(evidence(NEVER, 0, 0, 0, true))).isEqualTo(NEVER);
    }

    @Test
    void updates_that_nobody_asks_about_wait_for_a_quiet_moment() {
        assertThat(place(busy(NEVER, 100, 300, 0))).isEqualTo(WHEN_IDLE);
        assertThat(RepairPlanner.decide(busy(WHEN_IDLE, 100, 300, 0)).isDue()).isFalse();
        assertThat(RepairPlanner.decide(evidence(WHEN_IDLE, 100, 300, 0, true)).isDue())
                .isTrue();
    }

    @Test
    void merges_repair_while_queries_pay_as_much_as_that_costs() {
        assertThat(place(busy(WHEN_IDLE, 100, 300, 19))).isEqualTo(WHEN_IDLE);
        RepairDecision decision = RepairPlanner.decide(busy(WHEN_IDLE, 100, 300, 20));
        assertThat(decision.placement()).isEqualTo(AT_MERGE);
        assertThat(decision.reason()).contains("10.0 %", "read 20 pages", "for 20");
    }

    @Test
    void a_place_is_left_later_than_it_is_entered() {
        assertThat(place(busy(NEVER, 49, 49, 0))).isEqualTo(NEVER);
        assertThat(place(busy(NEVER, 50, 0, 0))).isEqualTo(WHEN_IDLE);
        assertThat(place(busy(NEVER, 0, 50, 0))).isEqualTo(WHEN_IDLE);
        assertThat(place(busy(WHEN_IDLE, 11, 11, 0))).isEqualTo(WHEN_IDLE);
        assertThat(place(busy(WHEN_IDLE, 9, 9, 0))).isEqualTo(NEVER);
        assertThat(place(busy(AT_MERGE, 100, 300, 5))).isEqualTo(AT_MERGE);
        assertThat(place(busy(AT_MERGE, 100, 300, 4))).isEqualTo(WHEN_IDLE);
        assertThat(place(busy(NOW, 100, 300, 5))).isEqualTo(AT_MERGE);
    }

    @Test
    void where_nothing_is_written_the_place_stays() {
        RepairEvidence still = new RepairEvidence(
                AT_MERGE, new Garbage(1_000, 0), new Recent(0, 0, 1e-9, 1e-9), NO_DEBT, true);
        assertThat(place(still)).isEqualTo(AT_MERGE);
        assertThat(RepairPlanner.decide(still).isDue()).isFalse();
    }

    @Test
    void queries_that_have_paid_for_a_repair_get_one() {
        RepairDecision decision = RepairPlanner.decide(new RepairEvidence(
                WHEN_IDLE,
                new Garbage(1_000, 100),
                new Recent(1_000, 300, 0, 20),
                new Debt(100, 100, 0),
                false));
        assertThat(decision.placement()).isEqualTo(NOW);
        assertThat(decision.isDue()).isTrue();
        assertThat(decision.reason()).contains("read 100 pages", "a repair reads 100");
    }

    @Test
    void one_query_that_passed_over_too_much_gets_one() {
        RepairDecision decision = RepairPlanner.decide(new RepairEvidence(
                AT_MERGE,
                new Garbage(1_000_000, 20_000),
                new Recent(0, 0, 0, 0),
                new Debt(0, 100, 12_345),
                false));
        assertThat(decision.placement()).isEqualTo(NOW);
        assertThat(decision.reason()).contains("12,345");
    }

    @Test
    void nothing_begins_where_nothing_can_be_checked_further_or_little_would_be_found() {
        for (Debt debt : new Debt[] {new Debt(1_000, 0, 20_000), new Debt(0, 0, 0)}) {
            RepairDecision decision = RepairPlanner.decide(new RepairEvidence(
                    WHEN_IDLE, new Garbage(1_000, 500), new Recent(0, 0, 0, 0), debt, true));
            assertThat(decision.isDue()).isFalse();
            assertThat(decision.placement()).isEqualTo(WHEN_IDLE);
        }
        RepairDecision little = RepairPlanner.decide(new RepairEvidence(
                WHEN_IDLE,
                new Garbage(1_000, 9),
                new Recent(1_000, 500, 0, 20),
                new Debt(1_000, 100, 20_000),
                true));
        assertThat(little.isDue()).isFalse();
    }

    /**
     * A steady workload moves the place once, not to and fro, though what is measured varies by a
     * fifth.
     */
    @Test
    void what_varies_a_little_moves_nothing() {
        long seed = Seeds.of("RepairPlannerTest");
        SplittableRandom random = new SplittableRandom(seed);
        for (double level : new double[] {0, 2, 20, 45, 60, 200, 900}) {
            RepairPlacement place = WHEN_IDLE;
            int moves = 0;
            for (int i = 0; i < 1_000; i++) {
                double noise = 0.9 + 0.2 * random.nextDouble();
                RepairPlacement next = place(
                        busy(place, Math.round(level * noise), level * noise, level * noise / 5));
                moves += next == place ? 0 : 1;
                place = next;
            }
            assertThat(moves).as("seed %d, level %s", seed, level).isLessThanOrEqualTo(1);
        }
    }
}
