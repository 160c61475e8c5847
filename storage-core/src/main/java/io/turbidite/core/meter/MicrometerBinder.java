package io.turbidite.core.meter;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * Exports a store's {@link Meters} to Micrometer, those too that come after binding.
 *
 * <p><em>Thread-safe.</em> Names get the prefix {@code turbidite.}. A latency becomes a function
 * timer (count and total time) and four gauges in seconds with the tag {@code quantile}: 0.5, 0.99,
 * 0.999, 1; they are since the start of the store, as our histograms are.
 */
@SuppressWarnings("exports") // an optional library: who names this class has it
public final class MicrometerBinder implements MeterBinder {
    private static final String PREFIX = "turbidite.";

    private final Meters meters;

    public MicrometerBinder(Meters meters) {
        this.meters = meters;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        meters.observe(instrument -> bind(registry, instrument));
    }

    private static void bind(MeterRegistry registry, Instrument instrument) {
        String name = PREFIX + instrument.name();
        List<Tag> pairs = instrument.tags().entrySet().stream()
                .map(tag -> Tag.of(tag.getKey(), tag.getValue()))
                .toList();
        Tags tags = Tags.of(pairs);
        switch (instrument) {
            case Counter counter ->
                FunctionCounter.builder(name, counter, Counter::sum).tags(tags).register(registry);
            case Latency latency -> bindLatency(registry, name, tags, latency);
            case Reading reading -> {
                if (reading.isTotal()) {
                    FunctionCounter.builder(name, reading, Reading::value)
                            .tags(tags)
                            .register(registry);
                } else {
                    Gauge.builder(name, reading, Reading::value).tags(tags).register(registry);
                }
            }
        }
    }

    private static void bindLatency(
            MeterRegistry registry, String name, Tags tags, Latency latency) {
        registry.more()
                .timer(
                        name,
                        tags,
                        latency,
                        timed -> timed.summary().count(),
                        timed -> timed.summary().nanosSum(),
                        TimeUnit.NANOSECONDS);
        quantile(registry, name, tags.and("quantile", "0.5"), latency, Latency.Summary::p50Nanos);
        quantile(registry, name, tags.and("quantile", "0.99"), latency, Latency.Summary::p99Nanos);
        quantile(
                registry, name, tags.and("quantile", "0.999"), latency, Latency.Summary::p999Nanos);
        quantile(registry, name, tags.and("quantile", "1"), latency, Latency.Summary::maxNanos);
    }

    private static void quantile(
            MeterRegistry registry,
            String name,
            Tags tags,
            Latency latency,
            ToLongFunction<Latency.Summary> nanos) {
        Gauge.builder(
                        name + ".quantile",
                        latency,
                        timed -> nanos.applyAsLong(timed.summary()) / 1e9)
                .tags(tags)
                .baseUnit("seconds")
                .register(registry);
    }
}
