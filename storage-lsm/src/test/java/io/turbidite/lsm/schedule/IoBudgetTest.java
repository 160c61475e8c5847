package io.turbidite.lsm.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.SimClock;

import org.junit.jupiter.api.Test;

class IoBudgetTest {
    private final SimClock clock = new SimClock();

    @Test
    void over_any_time_no_more_is_written_than_the_rate_but_for_a_step() {
        IoBudget budget = new IoBudget(clock, 1_000_000);
        long written = 0;
        for (int millis = 0; millis < 10_000; millis++) {
            while (budget.mergeMayGo()) {
                budget.charge(30_000);
                written += 30_000;
            }
            clock.advanceMicros(1_000);
            long allowed = 1_000 * (millis + 1L);
            assertThat(written).isBetween(allowed - 30_000, allowed + 100_000 + 30_000);
        }
    }

    @Test
    void no_merge_goes_while_a_flush_waits() {
        IoBudget budget = new IoBudget(clock, 1_000_000);
        assertThat(budget.isLimited()).isTrue();
        budget.charge(200_000);
        assertThat(budget.flushMayGo()).isFalse();
        budget.beginFlushWait();
        clock.advanceMicros(1_000_000);
        assertThat(budget.flushMayGo()).isTrue();
        assertThat(budget.mergeMayGo()).isFalse();
        budget.endFlushWait();
        assertThat(budget.mergeMayGo()).isTrue();
    }

    @Test
    void without_a_limit_everybody_may_always_go() {
        IoBudget budget = new IoBudget(clock, 0);
        budget.charge(Long.MAX_VALUE);
        assertThat(budget.isLimited()).isFalse();
        assertThat(budget.flushMayGo()).isTrue();
        assertThat(budget.mergeMayGo()).isTrue();
    }
}
