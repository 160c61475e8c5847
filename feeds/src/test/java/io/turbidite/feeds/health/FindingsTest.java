package io.turbidite.feeds.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.meter.Meters;
import io.turbidite.feeds.flow.FeedMeters;

import org.junit.jupiter.api.Test;

final class FindingsTest {
    private final Meters meters = new Meters();

    private Meters feed(String name) {
        return meters.scope(FeedMeters.FEED_TAG, name);
    }

    @Test
    void a_finding_names_the_feed_that_gives_most_cause() {
        feed("calm").gauge("feed.spill.percent", () -> 12);
        feed("tweets").gauge("feed.spill.percent", () -> 97);
        feed("ships").gauge("feed.spill.percent", () -> 91);
        Finding found =
                assertThat(Findings.ofFigures(meters, 0)).singleElement().actual();
        assertThat(found.what()).startsWith("feed tweets: the files that it spills to");
        assertThat(found.figureText()).isEqualTo("97 %");
        assertThat(found.metric()).isEqualTo("feed.spill.percent");
    }

    @Test
    void nothing_is_found_at_the_bounds_of_the_rules() {
        feed("tweets").gauge("feed.spill.percent", () -> 90);
        feed("tweets").counter("feed.missed");
        meters.counter("components.quarantined");
        assertThat(Findings.ofFigures(meters, 0)).isEmpty();
        feed("tweets").counter("feed.missed").increment();
        assertThat(Findings.ofFigures(meters, 0))
                .singleElement()
                .satisfies(one -> assertThat(one.level()).isEqualTo("bad"));
    }

    /** A route's counter comes with its first request; a gauge that comes has grown by nothing. */
    @Test
    void what_comes_within_the_minute_counts_from_0_if_it_is_a_counter() {
        long nanos = 0;
        for (int i = 0; i < 6; i++, nanos += StoreWatch.SAMPLE_NANOS) {
            StoreWatch.of(meters).sample(nanos);
        }
        meters.scope("route", "/v1/stores")
                .scope("code", "503")
                .counter("http.requests")
                .add(40);
        feed("tweets").gauge("feed.lag.bytes", () -> 1L << 30);
        feed("tweets").counter("feed.rejected").increment();
        assertThat(Findings.ofFigures(meters, nanos))
                .extracting(Finding::metric)
                .containsExactly("feed.rejected", "http.requests");
        assertThat(Findings.ofFigures(new Meters(), nanos)).isEmpty();
    }

    @Test
    void what_is_of_no_feed_names_none() {
        meters.counter("log.refuges").increment();
        assertThat(Findings.ofFigures(meters, 0))
                .singleElement()
                .satisfies(one -> assertThat(one.what()).startsWith("the log met a full disk"));
    }

    @Test
    void what_somebody_may_not_see_is_not_told_and_hides_nothing_else() {
        feed("tweets").gauge("feed.spill.percent", () -> 97);
        feed("ships").gauge("feed.spill.percent", () -> 91);
        assertThat(Findings.ofFigures(meters, 0, false, "ships"::equals))
                .singleElement()
                .satisfies(one -> assertThat(one.what()).startsWith("feed ships: "));
        assertThat(Findings.ofFigures(meters, 0, false, feed -> false)).isEmpty();
        meters.gauge("feed.spill.percent", () -> 99);
        assertThat(Findings.ofFigures(meters, 0, false, feed -> false))
                .as("what is of no feed is for everybody")
                .hasSize(1);
    }
}
