package io.turbidite.core.time;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.SimClock;

import org.junit.jupiter.api.Test;

class PacerTest {
    private static final long NEVER_CUT = Long.MAX_VALUE / 4;

    private final SimClock clock = new SimClock();
    private final Pacer pacer = new Pacer(clock, 1_000_000);

    @Test
    void what_was_charged_is_paid_by_time() {
        pacer.charge(1_000_000, NEVER_CUT); // by credit
        assertThat(pacer.waitNanos()).isZero();
        assertThat(pacer.charge(5_000_000, NEVER_CUT)).isEqualTo(5_000_000);
        clock.advanceMicros(3_000);
        assertThat(pacer.waitNanos()).isEqualTo(2_000_000);
        clock.advanceMicros(2_000);
        assertThat(pacer.waitNanos()).isZero();
    }

    @Test
    void whoever_waits_until_it_is_paid_keeps_the_rate() {
        long startNanos = clock.monotonicNanos();
        for (int i = 0; i < 1_000; i++) {
            long wait = Math.max(0, pacer.charge(700_000, NEVER_CUT));
            clock.advanceMicros((wait + 999) / 1_000);
        }
        long took = clock.monotonicNanos() - startNanos;
        assertThat(took).isBetween(699_000_000L, 700_000_000L);
    }

    @Test
    void a_long_pause_saves_up_no_more_than_the_credit() {
        clock.advanceMicros(60_000_000);
        assertThat(pacer.charge(3_000_000, NEVER_CUT)).isEqualTo(2_000_000);
    }

    @Test
    void a_debt_is_cut_where_it_was_asked_for() {
        assertThat(pacer.charge(Long.MAX_VALUE, 10_000_000)).isEqualTo(9_000_000);
        assertThat(pacer.charge(Long.MAX_VALUE, 10_000_000)).isEqualTo(10_000_000);
        assertThat(pacer.charge(Long.MAX_VALUE, 10_000_000)).isEqualTo(10_000_000);
    }
}
