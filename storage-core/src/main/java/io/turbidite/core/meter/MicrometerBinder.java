package io.turbidite.core.meter;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * Exports a store's {@link Meters} to Micrometer, those too that come after binding. Closed, it
 * takes them all away again.
 *
 * <pre>{@code
 * MicrometerBinder binder = new MicrometerBinder(store.meters(), "tweets");
 * binder.bindTo(registry);
 * }</pre>
 *
 * <p>Names get the prefix {@code turbidite.} and end in the unit; they, descriptions and units are
 * those of {@link Description}. A registry of several stores needs a tag that tells them apart. A
 * latency becomes a function timer (count and total time, since the start of the store) and four
 * gauges in seconds with the tag {@code quantile}: 0.5, 0.99, 0.999, 1; they are of the last
 * {@value Latency#WINDOW_SECONDS} seconds, and {@code NaN} if there were none.
 *
 * <p><em>Thread-safe by its monitor</em>, which the thread holds that makes an instrument.
 */
@SuppressWarnings("exports") // an optional library: who names this class has it
public final class MicrometerBinder implements MeterBinder, AutoCloseable {
    /** The tag of the constructor that takes a store's name. */
    public static final String STORE_TAG = "store";

    private static final Logger LOG = LoggerFactory.getLogger(MicrometerBinder.class);
    private static final String PREFIX = "turbidite.";
    private static final String LAST_MINUTE =
            "; of the last " + Latency.WINDOW_SECONDS + " seconds";

    private final Meters meters;
    private final Tags baseTags;
    private final List<Binding> bindings = new ArrayList<>();
    private boolean closed;

    /** For a registry of one store. */
    public MicrometerBinder(Meters meters) {
        this(meters, Tags.empty());
    }

    /**
     * For a registry of several stores: each meter has the tag {@value #STORE_TAG}.
     *
     * @param store by which people know it
     */
    public MicrometerBinder(Meters meters, String store) {
        this(meters, Tags.of(STORE_TAG, store));
    }

    /**
     * With tags that each meter has.
     *
     * @param baseTags another store's in the same registry differ
     */
    public MicrometerBinder(Meters meters, Iterable<Tag> baseTags) {
        this.meters = meters;
        this.baseTags = Tags.of(baseTags);
    }

    /**
     * Registers what there is and what comes.
     *
     * @throws InvalidRequestException if the registry has meters of the same names and tags, which
     *     are another store's; nothing is registered then
     */
    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        if (closed) {
            throw new InvalidRequestException("the binder is closed");
        }
        Binding binding = new Binding(registry);
        boolean done = false;
        try {
            meters.observe(binding, binding::leave);
            binding.begun = true;
            bindings.add(binding);
            done = true;
        } finally {
            if (!done) {
                binding.end();
            }
        }
    }

    /** Takes all its meters out of the registries. */
    @Override
    public synchronized void close() {
        closed = true;
        bindings.forEach(Binding::end);
        bindings.clear();
    }

    /** What is registered with one registry. */
    private final class Binding implements Consumer<Instrument> {
        private final MeterRegistry registry;
        private final Map<String, List<Meter>> own = new HashMap<>();
        private final Set<Meter> ownMeters = Collections.newSetFromMap(new IdentityHashMap<>());
        private boolean begun;
        private boolean ended;

        Binding(MeterRegistry registry) {
            this.registry = registry;
        }

        /** Of an instrument that comes late, a store knows nothing of what a registry refuses. */
        @Override
        public void accept(Instrument instrument) {
            synchronized (MicrometerBinder.this) {
                if (ended) {
                    return;
                }
                try {
                    bind(instrument);
                } catch (RuntimeException e) {
                    if (!begun) {
                        throw e;
                    }
                    LOG.warn("{} can't be registered with {}", instrument, registry, e);
                }
            }
        }

        private void bind(Instrument instrument) {
            String key = instrument.name() + instrument.tags();
            List<Meter> before = own.remove(key);
            if (before != null) {
                before.forEach(this::remove); // one that takes another's place
            }
            Set<Meter> others = Collections.newSetFromMap(new IdentityHashMap<>());
            others.addAll(registry.getMeters());
            others.removeAll(ownMeters);
            List<Meter> registered = MicrometerBinder.register(registry, baseTags, instrument);
            for (Meter meter : registered) {
                if (others.contains(meter)) {
                    registered.stream().filter(one -> !others.contains(one)).forEach(this::remove);
                    throw new InvalidRequestException(
                            "the registry has a meter %s%s of another store already: give each store's binder a tag of its own, new MicrometerBinder(meters, \"name of the store\")"
                                    .formatted(
                                            meter.getId().getName(),
                                            meter.getId().getTags()));
                }
            }
            own.put(key, registered);
            ownMeters.addAll(registered);
        }

        /** One that is no more. */
        void leave(Instrument instrument) {
            synchronized (MicrometerBinder.this) {
                List<Meter> gone = own.remove(instrument.name() + instrument.tags());
                if (gone != null) {
                    gone.forEach(this::remove);
                }
            }
        }

        private void remove(Meter meter) {
            ownMeters.remove(meter);
            var _ = registry.remove(meter);
        }

        void end() {
            ended = true;
            meters.forget(this);
            own.values().forEach(some -> some.forEach(this::remove));
            own.clear();
        }
    }

    private static List<Meter> register(
            MeterRegistry registry, Tags baseTags, Instrument instrument) {
        List<Tag> pairs = instrument.tags().entrySet().stream()
                .map(tag -> Tag.of(tag.getKey(), tag.getValue()))
                .toList();
        Description described = Description.of(instrument.name());
        if (described == null) { // somebody's own
            described = new Description(instrument.name(), "", "", "");
        }
        Words words = new Words(
                PREFIX + described.exportedName(),
                baseTags.and(pairs),
                described.text().isEmpty() ? null : described.text(),
                described.baseUnit(),
                described.scale());
        return switch (instrument) {
            case Counter counter -> List.of(words.counter(registry, counter, Counter::sum));
            case Latency latency -> registerLatency(registry, words, latency);
            case Reading reading ->
                List.of(
                        reading.isTotal()
                                ? words.counter(registry, reading, Reading::value)
                                : words.gauge(registry, reading, Reading::value));
        };
    }

    /** How a meter is called and described. */
    private record Words(
            String name,
            Tags tags,
            @Nullable String text,
            @Nullable String baseUnit,
            double scale) {
        <T> Meter counter(MeterRegistry registry, T source, ToLongFunction<T> value) {
            return FunctionCounter.builder(name, source, one -> scale * value.applyAsLong(one))
                    .tags(tags)
                    .description(text)
                    .baseUnit(baseUnit)
                    .register(registry);
        }

        <T> Meter gauge(MeterRegistry registry, T source, ToLongFunction<T> value) {
            return Gauge.builder(name, source, one -> scale * value.applyAsLong(one))
                    .tags(tags)
                    .description(text)
                    .baseUnit(baseUnit)
                    .register(registry);
        }
    }

    private static List<Meter> registerLatency(
            MeterRegistry registry, Words words, Latency latency) {
        Meter timer = FunctionTimer.builder(
                        words.name(),
                        latency,
                        Latency::count,
                        Latency::nanosSum,
                        TimeUnit.NANOSECONDS)
                .tags(words.tags())
                .description(words.text())
                .register(registry);
        return List.of(
                timer,
                quantile(registry, words, "0.5", latency, Latency.Summary::p50Nanos),
                quantile(registry, words, "0.99", latency, Latency.Summary::p99Nanos),
                quantile(registry, words, "0.999", latency, Latency.Summary::p999Nanos),
                quantile(registry, words, "1", latency, Latency.Summary::maxNanos));
    }

    private static Meter quantile(
            MeterRegistry registry,
            Words words,
            String quantile,
            Latency latency,
            ToLongFunction<Latency.Summary> nanos) {
        return Gauge.builder(
                        words.name() + ".quantile",
                        latency,
                        timed -> seconds(timed.freshSummary(), nanos))
                .tags(words.tags().and("quantile", quantile))
                .description(words.text() == null ? null : words.text() + LAST_MINUTE)
                .baseUnit("seconds")
                .register(registry);
    }

    private static double seconds(Latency.Summary summary, ToLongFunction<Latency.Summary> nanos) {
        return summary.recentCount() == 0 ? Double.NaN : nanos.applyAsLong(summary) / 1e9;
    }
}
