package io.turbidite.lsm.strategy.advice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.turbidite.lsm.strategy.advice.RecentWork.Totals;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** What fades, and how fast. */
class RecentWorkTest {
    private static final long HALF_LIFE_NANOS = RecentWork.HALF_LIFE_SECONDS * 1_000_000_000;
    private static final Offset<Double> ABOUT = within(1e-9);

    private final RecentWork recent = new RecentWork(new Totals(1_000, 500, 70), 5);

    private long advance(Totals totals, long nanos) {
        return recent.advance(totals, 0.5, 5 + nanos);
    }

    private void expect(double writes, double updates, double paidPages, double mergePages) {
        RepairEvidence.Recent evidence = recent.evidence();
        assertThat(evidence.writes()).isCloseTo(writes, ABOUT);
        assertThat(evidence.updates()).isCloseTo(updates, ABOUT);
        assertThat(evidence.paidPages()).isCloseTo(paidPages, ABOUT);
        assertThat(evidence.mergePages()).isCloseTo(mergePages, ABOUT);
    }

    @Test
    void what_was_done_before_it_began_is_not_recent() {
        expect(0, 0, 0, 0);
        assertThat(advance(new Totals(1_000, 500, 70), HALF_LIFE_NANOS)).isZero();
        expect(0, 0, 0, 0);
    }

    @Test
    void what_is_new_counts_in_full() {
        assertThat(advance(new Totals(1_100, 540, 90), HALF_LIFE_NANOS)).isEqualTo(20);
        expect(100, 40, 20, 50);
    }

    @Test
    void half_is_left_after_a_half_life_however_often_one_looked() {
        Totals totals = new Totals(1_100, 540, 90);
        advance(totals, 0);
        for (int i = 1; i <= 6; i++) {
            assertThat(advance(totals, i * HALF_LIFE_NANOS / 6)).isZero();
        }
        expect(50, 20, 10, 25);
        advance(new Totals(1_110, 541, 92), 2 * HALF_LIFE_NANOS);
        expect(25 + 10, 10 + 1, 5 + 2, 12.5 + 5);
    }

    @Test
    void an_estimate_that_goes_back_and_comes_again_is_counted_once() {
        advance(new Totals(1_000, 540, 70), 0);
        advance(new Totals(1_000, 510, 70), 0);
        advance(new Totals(1_000, 545, 70), 0);
        expect(0, 45, 0, 0);
    }
}
