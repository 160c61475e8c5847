package io.turbidite.core.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.turbidite.core.InvalidRequestException;

import org.junit.jupiter.api.Test;

/** Stores that share a registry, and binders that leave it. */
class MicrometerBinderTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private double count(String store) {
        return registry.get("turbidite.write.bytes")
                .tag("store", store)
                .functionCounter()
                .count();
    }

    private static Meters meters(long bytes) {
        Meters meters = new Meters();
        meters.counter("write.bytes").add(bytes);
        meters.gauge("log.bytes", () -> bytes);
        meters.latency("flush.time").record(bytes);
        return meters;
    }

    @Test
    void two_stores_are_told_apart_by_their_tags() {
        Meters first = meters(1);
        Meters second = meters(2);
        try (MicrometerBinder a = new MicrometerBinder(first, "a")) {
            a.bindTo(registry);
            int countOfOne = registry.getMeters().size();
            MicrometerBinder b = new MicrometerBinder(second, Tags.of("store", "b", "host", "x"));
            b.bindTo(registry);
            assertThat(registry.getMeters()).hasSize(2 * countOfOne);
            assertThat(count("a")).isEqualTo(1);
            assertThat(count("b")).isEqualTo(2);
            second.scope("dataset", "T").counter("load.bytes").add(7);
            assertThat(registry.get("turbidite.load.bytes")
                            .tags("store", "b", "host", "x", "dataset", "T")
                            .functionCounter()
                            .count())
                    .isEqualTo(7);
            b.close();
            assertThat(registry.getMeters()).hasSize(countOfOne);
            second.counter("late");
            assertThat(registry.getMeters()).hasSize(countOfOne);
            assertThatThrownBy(() -> b.bindTo(registry))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(count("a")).isEqualTo(1);
        }
        assertThat(registry.getMeters()).isEmpty();
    }

    @Test
    void a_second_store_of_the_same_tags_is_refused_and_the_first_stays() {
        Meters first = meters(1);
        MicrometerBinder a = new MicrometerBinder(first);
        a.bindTo(registry);
        int countOfOne = registry.getMeters().size();
        Meters second = meters(2);
        second.counter("aaa.first");
        MicrometerBinder b = new MicrometerBinder(second);
        assertThatThrownBy(() -> b.bindTo(registry))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("turbidite.")
                .hasMessageContaining("a tag of its own");
        assertThat(registry.getMeters()).hasSize(countOfOne);
        assertThat(registry.get("turbidite.write.bytes").functionCounter().count())
                .isEqualTo(1);
        second.counter("late");
        assertThat(registry.getMeters()).hasSize(countOfOne);
    }

    @Test
    void a_gauge_that_takes_another_s_place_is_the_one_that_is_shown() {
        Meters meters = new Meters();
        new MicrometerBinder(meters).bindTo(registry);
        meters.gauge("log.bytes", () -> 1);
        meters.gauge("log.bytes", () -> 2);
        assertThat(registry.get("turbidite.log.bytes").gauge().value()).isEqualTo(2);
    }

    @Test
    void what_a_registry_refuses_does_not_reach_the_store() {
        Meters meters = new Meters();
        new MicrometerBinder(meters).bindTo(new SimpleMeterRegistry() {
            @Override
            protected <T> io.micrometer.core.instrument.FunctionCounter newFunctionCounter(
                    Meter.Id id, T obj, java.util.function.ToDoubleFunction<T> value) {
                throw new IllegalArgumentException("no such names");
            }
        });
        meters.counter("write.bytes").add(1);
        assertThat(meters.counter("write.bytes").sum()).isEqualTo(1);
    }
}
