package io.turbidite.feeds.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.sim.SimClock;

import org.junit.jupiter.api.Test;

final class FeedMetersTest {
    private final SimClock clock = new SimClock();
    private final Meters meters = new Meters(clock);
    private final FeedMeters feed = FeedMeters.of(meters, clock, "tweets");

    private long lagSeconds() {
        return meters.instruments().stream()
                .filter(one -> one.name().equals("feed.lag.seconds"))
                .mapToLong(one -> ((Reading) one).value())
                .sum();
    }

    @Test
    void a_feed_that_never_rests_lags_behind_what_it_has_not_read_alone() {
        feed.begin(true);
        clock.advanceMicros(5_000_000);
        assertThat(lagSeconds()).isEqualTo(5);
        feed.hasReadAll();
        assertThat(lagSeconds()).isZero();
        clock.advanceMicros(2_000_000);
        assertThat(lagSeconds()).isEqualTo(2);
        feed.end();
        assertThat(lagSeconds()).isZero();
    }
}
