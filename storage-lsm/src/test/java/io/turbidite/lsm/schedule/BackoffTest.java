package io.turbidite.lsm.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.SimClock;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

class BackoffTest {
    private final SimClock clock = new SimClock();
    private final Backoff backoff = new Backoff(clock, 100_000_000, 1_000_000_000);

    @Test
    void pauses_double_up_to_the_cap_and_start_anew_after_a_success() {
        List<Long> millis = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            long nanos = backoff.fail();
            millis.add(nanos / 1_000_000);
            assertThat(backoff.mayTry()).isFalse();
            clock.advanceMicros(nanos / 1_000);
            assertThat(backoff.mayTry()).isTrue();
        }
        assertThat(millis).containsExactly(100L, 200L, 400L, 800L, 1_000L, 1_000L);
        assertThat(backoff.isFailing()).isTrue();
        assertThat(backoff.succeed()).isTrue();
        assertThat(backoff.succeed()).isFalse();
        assertThat(backoff.fail()).isEqualTo(100_000_000);
    }

    @Test
    void failures_of_what_was_under_way_do_not_prolong_the_pause() {
        backoff.fail();
        clock.advanceMicros(50_000);
        assertThat(backoff.fail()).isZero();
        clock.advanceMicros(50_000);
        assertThat(backoff.mayTry()).isTrue();
    }

    @Test
    void bandwidth_is_assumed_then_measured_then_forgotten() {
        Bandwidth bandwidth = new Bandwidth(64);
        assertThat(bandwidth.bytesPerSecond()).isEqualTo(64);
        bandwidth.record(500, 1_000_000_000);
        assertThat(bandwidth.bytesPerSecond()).isCloseTo(500, within(1e-6));
        for (int i = 0; i < 100; i++) {
            bandwidth.record(2_000, 1_000_000_000);
        }
        assertThat(bandwidth.bytesPerSecond()).isCloseTo(2_000, within(5.0));
    }

    @Test
    void wrong_options_are_refused_by_name() {
        BackgroundOptions options = BackgroundOptions.defaults();
        assertThatThrownBy(() -> options.withMergeWorkers(0))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("mergeWorkers");
        assertThatThrownBy(() -> options.withMergeWorkers(33)).hasMessageContaining("33");
        assertThatThrownBy(() -> options.withIoBytesPerSecond(1))
                .hasMessageContaining("ioBytesPerSecond");
        assertThatThrownBy(() -> options.withSyncBytes(-1)).hasMessageContaining("syncBytes");
        assertThatThrownBy(() -> options.withBacklogComponentsMax(3))
                .hasMessageContaining("backlogComponentsMax");
        assertThatThrownBy(() -> MergeScheduler.of("lazy"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("fair, greedy");
        assertThat(MergeScheduler.of("fair")).isEqualTo(MergeScheduler.FAIR);
    }
}
