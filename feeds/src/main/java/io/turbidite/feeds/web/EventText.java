package io.turbidite.feeds.web;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.feeds.command.common.Json;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** Events and figures as JSON. Static, without state. */
final class EventText {
    private EventText() {}

    /**
     * An event with its number.
     *
     * @param store its name
     */
    static Map<String, @Nullable Object> of(long number, String store, StoreEvent event) {
        Json.Line line = Json.line()
                .put("number", number)
                .put("store", store)
                .put("at", instant(event.wallMicros()))
                .put("event", event.getClass().getSimpleName());
        if (event instanceof StoreEvent.Failed failed) {
            // a stack trace is nothing for clients
            return line.put("what", failed.what())
                    .put("cause", failed.cause() == null ? null : failed.cause().toString())
                    .toMap();
        }
        Json.fields(event).forEach((name, value) -> {
            if (!name.equals("wallMicros")) {
                line.put(name, value);
            }
        });
        return line.toMap();
    }

    static Instant instant(long wallMicros) {
        return Instant.EPOCH.plus(wallMicros, ChronoUnit.MICROS);
    }

    /**
     * All figures by name: numbers, summed over their tags, and latencies as objects; those with
     * tags are left out, for there is no sum of percentiles.
     */
    static Map<String, @Nullable Object> figures(Meters meters) {
        Map<String, @Nullable Object> figures = new LinkedHashMap<>();
        for (Instrument one : meters.instruments()) {
            switch (one) {
                case Counter counter -> add(figures, one.name(), counter.sum());
                case Reading reading -> add(figures, one.name(), reading.value());
                case Latency latency -> {
                    if (one.tags().isEmpty()) {
                        figures.put(one.name(), times(latency.summary()));
                    }
                }
            }
        }
        return figures;
    }

    private static void add(Map<String, @Nullable Object> figures, String name, long value) {
        long before = figures.get(name) instanceof Long sum ? sum : 0;
        figures.put(name, before + value);
    }

    private static Map<String, @Nullable Object> times(Latency.Summary times) {
        return Json.line()
                .put("count", times.count())
                .put("nanosSum", times.nanosSum())
                .put("p50Nanos", times.p50Nanos())
                .put("p99Nanos", times.p99Nanos())
                .put("p999Nanos", times.p999Nanos())
                .put("maxNanos", times.maxNanos())
                .toMap();
    }
}
