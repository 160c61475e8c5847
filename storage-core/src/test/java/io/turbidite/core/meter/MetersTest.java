package io.turbidite.core.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.SimClock;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

class MetersTest {
    private final Meters meters = new Meters();

    @Test
    void the_same_name_and_tags_are_the_same_counter() {
        Counter plain = meters.counter("write.upserts");
        Counter tagged = meters.scope("dataset", "A").counter("write.upserts");
        Counter again = meters.scope("dataset", "A").counter("write.upserts");
        plain.increment();
        tagged.add(5);
        assertThat(again).isSameAs(tagged);
        assertThat(again.sum()).isEqualTo(5);
        assertThat(plain.sum()).isEqualTo(1);
        assertThat(meters.instruments()).containsExactly(tagged, plain);
    }

    @Test
    void a_room_makes_its_instruments_once_and_for_each_store_its_own() {
        Room first = meters.once(Room.class, made -> new Room(made.counter("x")));
        Room second = meters.once(Room.class, made -> new Room(made.counter("y")));
        assertThat(second).isSameAs(first);
        assertThat(meters.instruments()).containsExactly(first.counter());
        assertThat(new Meters().once(Room.class, made -> new Room(made.counter("x"))))
                .isNotEqualTo(first);
    }

    private record Room(Counter counter) {}

    @Test
    void what_is_taken_away_by_a_tag_is_told_and_gone_and_comes_anew() {
        Counter other = meters.scope("feed", "b").counter("x");
        Counter first = meters.scope("feed", "a").counter("x");
        meters.scope("feed", "a").gauge("y", () -> 1);
        List<Instrument> gone = new ArrayList<>();
        List<Instrument> come = new ArrayList<>();
        meters.observe(come::add, gone::add);
        meters.remove("feed", "a");
        assertThat(gone).extracting(Instrument::name).containsExactlyInAnyOrder("x", "y");
        assertThat(meters.instruments()).containsExactly(other);
        meters.remove("feed", "a");
        assertThat(gone).hasSize(2);
        Counter again = meters.scope("feed", "a").counter("x");
        assertThat(again).isNotSameAs(first);
        assertThat(come).last().isSameAs(again);
    }

    @Test
    void the_order_of_scopes_does_not_matter() {
        Counter one = meters.scope("a", "1").scope("b", "2").counter("x");
        Counter two = meters.scope("b", "2").scope("a", "1").counter("x");
        assertThat(one).isSameAs(two);
    }

    @Test
    void a_name_is_of_one_kind() {
        meters.counter("x");
        assertThatThrownBy(() -> meters.latency("x")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> meters.counter("segments.created"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("OpenMetrics keeps");
        assertThatThrownBy(() -> meters.counter("Bad Name"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_latency_knows_its_percentiles() {
        Latency latency = meters.latency("log.sync");
        assertThat(latency.summary().count()).isZero();
        for (int i = 1; i <= 1_000; i++) {
            latency.record(i * 1_000L);
            if (i == 500) {
                assertThat(latency.summary().count()).isEqualTo(500);
            }
        }
        latency.record(-5);
        Latency.Summary summary = latency.summary();
        assertThat(summary.count()).isEqualTo(1_001);
        assertThat(summary.nanosSum()).isEqualTo(500_500_000);
        assertThat(summary.p50Nanos()).isCloseTo(500_000, Percentage.withPercentage(2));
        assertThat(summary.p99Nanos()).isCloseTo(990_000, Percentage.withPercentage(2));
        assertThat(summary.maxNanos()).isCloseTo(1_000_000, Percentage.withPercentage(2));
    }

    @Test
    void percentiles_are_of_the_last_minute_and_counts_of_all_time() {
        SimClock clock = new SimClock();
        Latency latency = new Meters(clock).latency("log.sync");
        long second = 1_000_000_000L;
        latency.record(9 * second);
        for (int i = 0; i < 54; i++) {
            clock.advanceMicros(1_000_000);
            latency.record(1_000);
        }
        assertThat(latency.summary().maxNanos()).isEqualTo(9 * second);
        clock.advanceMicros(6_000_000);
        Latency.Summary slid = latency.summary();
        assertThat(slid.maxNanos()).isEqualTo(1_000);
        assertThat(slid.recentCount()).isBetween(44L, 54L);
        assertThat(slid.count()).isEqualTo(55);
        assertThat(slid.nanosSum()).isEqualTo(9 * second + 54_000);
        clock.advanceMicros(60_000_000);
        assertThat(latency.summary())
                .isEqualTo(new Latency.Summary(55, 9 * second + 54_000, 0, 0, 0, 0, 0));
        latency.record(7); // takes the place of a part of old
        assertThat(latency.summary().recentCount()).isEqualTo(1);
        assertThat(latency.summary().p50Nanos()).isEqualTo(7);
    }

    @Test
    void a_percentile_is_within_a_hundredth_at_every_size() {
        SimClock clock = new SimClock();
        for (long nanos = 0; nanos < 3_700_000_000_000L; nanos += 1 + nanos / 50) {
            Latency latency = new Meters(clock).latency("x");
            latency.record(nanos);
            latency.record(3_600_000_000_000L);
            long bounded = Math.min(nanos, 3_600_000_000_000L);
            assertThat(latency.summary().p50Nanos())
                    .isBetween((long) (bounded * 0.992), (long) Math.ceil(bounded * 1.008));
            assertThat(latency.summary().p999Nanos())
                    .isCloseTo(3_600_000_000_000L, within(30_000_000_000L));
        }
    }

    @Test
    void times_recorded_by_many_threads_are_all_counted() throws Exception {
        Latency latency = meters.latency("log.sync");
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            int base = t;
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 20_000; i++) {
                    latency.record(base * 1_000L + i);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join(10_000);
            assertThat(thread.isAlive()).isFalse();
        }
        assertThat(latency.summary().count()).isEqualTo(80_000);
        assertThat(latency.summary().recentCount()).isEqualTo(80_000);
        assertThat(latency.summary().maxNanos()).isEqualTo(22_999);
    }

    @Test
    void units_stand_at_the_end_of_names_and_times_are_in_seconds() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new MicrometerBinder(meters).bindTo(registry);
        meters.counter("merge.bytes.read").add(5);
        meters.counter("feed.busy.nanos").add(3_000_000_000L);
        meters.gauge("merge.pace.bytes", () -> 9);
        meters.gauge("not.described", () -> 1);
        meters.latency("flush.time");
        var read = registry.get("turbidite.merge.read.bytes").functionCounter();
        assertThat(read.count()).isEqualTo(5);
        assertThat(read.getId().getBaseUnit()).isEqualTo("bytes");
        assertThat(read.getId().getDescription())
                .isEqualTo("size of the components that merges read");
        assertThat(registry.get("turbidite.feed.busy.seconds").functionCounter().count())
                .isEqualTo(3);
        assertThat(registry.get("turbidite.merge.pace.bytes.per.second").gauge().value())
                .isEqualTo(9);
        assertThat(registry.get("turbidite.not.described").gauge().getId().getDescription())
                .isNull();
        assertThat(registry.get("turbidite.flush.time.quantile")
                        .tag("quantile", "0.99")
                        .gauge()
                        .value())
                .isNaN();
        registry.close();
    }

    @Test
    void micrometer_sees_what_was_there_and_what_comes() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        Counter before = meters.scope("dataset", "A").counter("write.upserts");
        new MicrometerBinder(meters).bindTo(registry);
        AtomicLong bytes = new AtomicLong(7);
        meters.gauge("cache.bytes", bytes::get);
        meters.total("cache.loads", bytes::get);
        Latency latency = meters.latency("cache.load");
        before.add(3);
        bytes.set(8);
        latency.record(2_000_000);
        latency.record(4_000_000);
        assertThat(registry.get("turbidite.write.upserts")
                        .tag("dataset", "A")
                        .functionCounter()
                        .count())
                .isEqualTo(3);
        assertThat(registry.get("turbidite.cache.bytes").gauge().value()).isEqualTo(8);
        assertThat(registry.get("turbidite.cache.loads").functionCounter().count())
                .isEqualTo(8);
        var timer = registry.get("turbidite.cache.load").functionTimer();
        assertThat(timer.count()).isEqualTo(2);
        assertThat(timer.totalTime(TimeUnit.MILLISECONDS)).isEqualTo(6);
        assertThat(registry.get("turbidite.cache.load.quantile")
                        .tag("quantile", "1")
                        .gauge()
                        .value())
                .isCloseTo(0.004, Percentage.withPercentage(2));
        registry.close();
    }

    @Test
    void a_second_source_of_a_reading_takes_over() {
        meters.gauge("x", () -> 1);
        meters.gauge("x", () -> 2);
        assertThat(meters.instruments())
                .singleElement()
                .satisfies(x -> assertThat(((Reading) x).value()).isEqualTo(2));
    }

    @Test
    void events_reach_listeners_and_the_newest_are_kept() {
        StoreEvents events = new StoreEvents();
        List<StoreEvent> heard = new ArrayList<>();
        StoreEvents.Listener listener = heard::add;
        events.listen(listener);
        for (int i = 0; i < StoreEvents.RECENT_COUNT_MAX + 10; i++) {
            events.publish(new StoreEvent.Stalled(i, "A", 0, "memory", 5));
        }
        events.forget(listener);
        events.publish(new StoreEvent.Failed(99, "merge", null));
        assertThat(heard).hasSize(StoreEvents.RECENT_COUNT_MAX + 10);
        assertThat(events.recent()).hasSize(StoreEvents.RECENT_COUNT_MAX);
        assertThat(events.recent().getFirst().wallMicros()).isEqualTo(11);
        assertThat(events.recent().getLast()).isInstanceOf(StoreEvent.Failed.class);
        assertThat(events.publishedCount()).isEqualTo(StoreEvents.RECENT_COUNT_MAX + 11);
    }

    @Test
    void a_listener_that_throws_is_dropped_and_the_others_hear_on() {
        StoreEvents events = new StoreEvents();
        List<StoreEvent> heard = new ArrayList<>();
        int[] thrown = {0};
        events.listen(_ -> {
            thrown[0]++;
            throw new IllegalStateException("as planned");
        });
        events.listen(heard::add);
        events.publish(new StoreEvent.SpaceChanged(1, true, "merge"));
        events.publish(new StoreEvent.SpaceChanged(2, false, "merge"));
        assertThat(heard).hasSize(2);
        assertThat(thrown[0]).isEqualTo(1);
    }

    @Test
    void listeners_are_bounded() {
        StoreEvents events = new StoreEvents();
        for (int i = 0; i < StoreEvents.LISTENER_COUNT_MAX; i++) {
            events.listen(_ -> {});
        }
        assertThatThrownBy(() -> events.listen(_ -> {}))
                .isInstanceOf(InvalidRequestException.class);
    }
}
