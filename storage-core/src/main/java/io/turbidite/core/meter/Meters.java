package io.turbidite.core.meter;

import io.turbidite.core.time.Clock;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The instruments of one store, by name and tags.
 *
 * <p><em>Thread-safe.</em> Looking an instrument up takes a hash table: rooms do it once and keep
 * it. Asking twice for the same name and tags gives the same counter or latency.
 *
 * <pre>{@code
 * Meters meters = new Meters();
 * Counter upserts = meters.scope("dataset", "Tweets").counter("write.upserts");
 * upserts.increment();
 * new MicrometerBinder(meters, "tweets").bindTo(registry);
 * }</pre>
 */
public final class Meters {
    private static final Pattern NAME = Pattern.compile("[a-z0-9]+(\\.[a-z0-9]+)*");

    /** Ends of names that OpenMetrics keeps for itself: a scraper would see another name. */
    private static final Pattern RESERVED = Pattern.compile(".*\\.(total|created|bucket|info)");

    private final Registry registry;
    private final Map<String, String> tags;

    /** What rooms have made with these meters. */
    private final Map<Class<?>, Object> made = new ConcurrentHashMap<>();

    /** Meters that hold nothing yet, with the operating system's clock. */
    public Meters() {
        this(Clock.system());
    }

    /**
     * Meters that hold nothing yet.
     *
     * @param clock by which latencies forget
     */
    public Meters(Clock clock) {
        this(new Registry(clock), Map.of());
    }

    private Meters(Registry registry, Map<String, String> tags) {
        this.registry = registry;
        this.tags = tags;
    }

    /** A view on the same meters that tags whatever is made through it. */
    public Meters scope(String key, String value) {
        SortedMap<String, String> more = new TreeMap<>(tags);
        more.put(key, value);
        return new Meters(registry, Collections.unmodifiableSortedMap(more));
    }

    /** The counter of that name; made when first asked for. */
    public Counter counter(String name) {
        return registry.get(Counter.class, new Counter(checkName(name), tags));
    }

    /** The latency of that name; made when first asked for. */
    public Latency latency(String name) {
        return registry.get(Latency.class, new Latency(checkName(name), tags, registry.clock));
    }

    /**
     * The instruments of a room, as one object, which {@code maker} makes when it is asked for
     * first: so a room keeps its own where it counts.
     */
    public <T> T once(Class<T> type, Function<Meters, T> maker) {
        Object there = made.get(type);
        if (there == null) {
            there = made.computeIfAbsent(type, wanted -> maker.apply(this));
        }
        return type.cast(there);
    }

    /**
     * Shows a number that goes up and down; a second source of the name takes the first one's
     * place.
     */
    public void gauge(String name, LongSupplier source) {
        registry.put(new Reading(checkName(name), tags, false, source));
    }

    /** Shows a number that only grows; a second source of the name takes the first one's place. */
    public void total(String name, LongSupplier source) {
        registry.put(new Reading(checkName(name), tags, true, source));
    }

    /**
     * What a figure may be at most by an option, for who judges figures; nothing that a scraper
     * sees.
     *
     * @param option its name
     */
    public void bound(String option, long most) {
        registry.bounds.put(option, most);
    }

    /** All of {@link #bound}. */
    public Map<String, Long> bounds() {
        return Map.copyOf(registry.bounds);
    }

    /**
     * Takes all instruments away that have a tag: what they told of is no more. Who still has one
     * may count on; nobody sees it.
     */
    public void remove(String key, String value) {
        registry.removeAll(instrument -> value.equals(instrument.tags().get(key)));
    }

    /** Everything there is, of all scopes, sorted by name and tags. */
    public List<Instrument> instruments() {
        return registry.instruments.values().stream()
                .sorted((a, b) -> Registry.keyOf(a).compareTo(Registry.keyOf(b)))
                .toList();
    }

    /** Calls {@code observer} for each instrument there is, and at once for each that comes. */
    public void observe(Consumer<Instrument> observer) {
        registry.observe(new Observer(observer, instrument -> {}));
    }

    /** As {@link #observe(Consumer)}; {@code goes} is called for each that is taken away. */
    public void observe(Consumer<Instrument> observer, Consumer<Instrument> goes) {
        registry.observe(new Observer(observer, goes));
    }

    private record Observer(Consumer<Instrument> comes, Consumer<Instrument> goes) {}

    /** Undoes {@link #observe}; nothing happens if the observer isn't there. */
    public void forget(Consumer<Instrument> observer) {
        registry.observers.removeIf(one -> one.comes().equals(observer));
    }

    private static String checkName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("instrument name '" + name
                    + "' must be parts of a-z and 0-9 with dots between");
        }
        if (RESERVED.matcher(name).matches()) {
            throw new IllegalArgumentException("instrument name '" + name
                    + "' ends in a word that OpenMetrics keeps for itself");
        }
        return name;
    }

    /** What all scopes share. */
    private static final class Registry {
        private final Map<String, Instrument> instruments = new ConcurrentHashMap<>();
        private final Map<String, Long> bounds = new ConcurrentHashMap<>();
        private final List<Observer> observers = new CopyOnWriteArrayList<>();
        private final Clock clock;

        Registry(Clock clock) {
            this.clock = clock;
        }

        <T extends Instrument> T get(Class<T> type, T fresh) {
            Instrument there = instruments.putIfAbsent(keyOf(fresh), fresh);
            if (there == null) {
                announce(fresh);
                return fresh;
            }
            if (!type.isInstance(there)) {
                throw new IllegalArgumentException("instrument " + keyOf(fresh) + " is a "
                        + there.getClass().getSimpleName());
            }
            return type.cast(there);
        }

        void put(Reading reading) {
            instruments.put(keyOf(reading), reading);
            announce(reading);
        }

        void removeAll(Predicate<Instrument> which) {
            instruments.forEach((key, instrument) -> {
                if (which.test(instrument) && instruments.remove(key, instrument)) {
                    observers.forEach(observer -> observer.goes().accept(instrument));
                }
            });
        }

        void observe(Observer observer) {
            observers.add(observer);
            // one that comes at the same time may be announced twice: observers are idempotent
            instruments.values().forEach(observer.comes());
        }

        private void announce(Instrument instrument) {
            for (Observer observer : observers) {
                observer.comes().accept(instrument);
            }
        }

        static String keyOf(Instrument instrument) {
            return instrument.name() + instrument.tags();
        }
    }
}
