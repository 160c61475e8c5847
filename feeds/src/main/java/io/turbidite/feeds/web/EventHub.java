package io.turbidite.feeds.web;

import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.health.StoreWatch;
import io.turbidite.feeds.web.http.EventPush;
import io.turbidite.feeds.web.http.FailureTally;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Numbers the events of all stores, keeps the newest, and tells them to whoever listens, with a
 * sample of all figures each second while somebody does. It also has the watch of each store look
 * at its figures, whether somebody listens or not.
 *
 * <p><em>Thread-safe.</em> One thread numbers and sends; who publishes never waits for it. A
 * client that is too slow loses samples, and is told how many events it has lost.
 */
final class EventHub implements AutoCloseable {
    /** Events that are kept for clients that come back. */
    static final int KEPT_COUNT_MAX = 2_048;

    /** Events that wait for the thread; more come only if it hangs. */
    private static final int WAITING_COUNT_MAX = 4_096;

    private static final long SAMPLE_MILLIS = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(EventHub.class);

    private final Map<String, Store> stores;
    private final Meters meters;
    private final Clock clock;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("turbidite-events").factory());
    private final Map<Store, StoreEvents.Listener> listeners = new LinkedHashMap<>();
    private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicLong lost = new AtomicLong();
    private final FailureTally failures = new FailureTally(LOG);
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Numbered> kept = new ArrayDeque<>();
    private volatile Supplier<Map<String, ?>> feeds = Map::of;
    private long last;

    /** An event as it is sent. */
    private record Numbered(long number, Map<String, @Nullable Object> fields) {
        byte[] toBytes() {
            return text("store", number, fields);
        }
    }

    /** Who listens. <em>Confined to the hub's thread.</em> */
    private static final class Subscriber {
        private final EventPush push;
        private final Sight sight;
        private long lostCount;

        Subscriber(EventPush push, Sight sight) {
            this.push = push;
            this.sight = sight;
        }

        void event(Numbered event, byte[] bytes) {
            if (!sight.sees(event.fields())) {
                return;
            }
            boolean sent = (lostCount == 0 || tellLost()) && push.send(bytes);
            if (!sent) {
                lostCount++;
            }
        }

        private boolean tellLost() {
            boolean told = push.send(text("lost", -1, Map.of("count", lostCount)));
            if (told) {
                lostCount = 0;
            }
            return told;
        }
    }

    EventHub(Map<String, Store> stores, Meters meters, Clock clock) {
        meters.total("http.events.lost", lost::get);
        meters.total("http.events.failures", failures::count);
        this.stores = stores;
        this.meters = meters;
        this.clock = clock;
        stores.forEach((name, store) -> {
            StoreWatch.of(store.meters()).alsoOf(meters);
            store.events().recent().forEach(event -> keep(name, event));
            StoreEvents.Listener listener = event -> publish(() -> keep(name, event));
            store.events().listen(listener);
            listeners.put(store, listener);
        });
        var _ = thread.scheduleAtFixedRate(
                () -> guard(this::sample), SAMPLE_MILLIS, SAMPLE_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** What samples say of feeds. */
    void showFeeds(Supplier<Map<String, ?>> states) {
        feeds = states;
    }

    /**
     * At the edge of the thread: by what gets out of a task the scheduler would end all samples
     * that were to come, and nobody would hear of it.
     */
    private void guard(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            failures.note("a sample or an event is left out", e);
        }
    }

    private void publish(Supplier<Numbered> event) {
        if (waiting.incrementAndGet() > WAITING_COUNT_MAX) {
            waiting.decrementAndGet();
            lost.incrementAndGet();
            return;
        }
        try {
            thread.execute(() -> {
                waiting.decrementAndGet();
                guard(() -> {
                    Numbered numbered = event.get();
                    byte[] bytes = numbered.toBytes();
                    subscribers.forEach(one -> guard(() -> one.event(numbered, bytes)));
                });
            });
        } catch (RejectedExecutionException closed) {
            waiting.decrementAndGet();
        }
    }

    private Numbered keep(String store, StoreEvent event) {
        lock.lock();
        try {
            return numbered(EventText.of(last + 1, store, event));
        } finally {
            lock.unlock();
        }
    }

    /** The caller holds the lock. */
    private Numbered numbered(Map<String, @Nullable Object> fields) {
        Numbered event = new Numbered(++last, fields);
        if (kept.size() == KEPT_COUNT_MAX) {
            kept.removeFirst();
        }
        kept.addLast(event);
        return event;
    }

    /** The number of the newest event; 0 if there was none. */
    long lastNumber() {
        lock.lock();
        try {
            return last;
        } finally {
            lock.unlock();
        }
    }

    /** The kept events of a store that are newer than a number and in sight, oldest first. */
    List<Map<String, @Nullable Object>> since(long number, String store, Sight sight) {
        return newerThan(number).stream()
                .map(Numbered::fields)
                .filter(fields -> store.equals(fields.get("store")) && sight.sees(fields))
                .toList();
    }

    private List<Numbered> newerThan(long number) {
        lock.lock();
        try {
            return kept.stream().filter(one -> one.number() > number).toList();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Tells a client from now on.
     *
     * @param since it has seen all up to that; negative: it asks for none of before
     * @param sight what it may see
     */
    void subscribe(EventPush push, long since, Sight sight) {
        Subscriber subscriber = new Subscriber(push, sight);
        thread.execute(() -> {
            boolean begun = push.send("retry: 2000\n\n".getBytes(StandardCharsets.UTF_8));
            assert begun : "nothing was sent before";
            if (since >= 0) {
                newerThan(since).forEach(one -> guard(() -> subscriber.event(one, one.toBytes())));
            }
            subscribers.add(subscriber);
            push.onGone(() -> subscribers.remove(subscriber));
        });
    }

    private void sample() {
        long now = clock.monotonicNanos();
        // a store whose figures fail takes nothing from the others
        stores.values()
                .forEach(store -> guard(() -> StoreWatch.of(store.meters()).sample(now)));
        if (subscribers.isEmpty()) {
            return;
        }
        Map<String, Object> all = new LinkedHashMap<>();
        stores.forEach((name, store) -> all.put(name, EventText.figures(store.meters())));
        Map<String, ?> ofFeeds = feeds.get();
        byte[] whole = sample(all, ofFeeds);
        for (Subscriber one : subscribers) {
            byte[] bytes = one.sight.isWhole()
                    ? whole
                    : sample(one.sight.ofStores(all), one.sight.ofFeeds(ofFeeds));
            var _ = one.push.send(bytes); // a slow client has one the next time
        }
    }

    private byte[] sample(Map<String, ?> ofStores, Map<String, ?> ofFeeds) {
        return text(
                "sample",
                -1,
                Json.line()
                        .put("at", EventText.instant(clock.wallMicros()))
                        .put("stores", ofStores)
                        .put("feeds", ofFeeds)
                        .toMap());
    }

    private static byte[] text(String kind, long number, Map<String, ?> fields) {
        String id = number < 0 ? "" : "id: " + number + "\n";
        return "%sevent: %s\ndata: %s\n\n"
                .formatted(id, kind, Json.text(fields))
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Forgets everybody. */
    @Override
    public void close() {
        listeners.forEach((store, listener) -> {
            store.events().forget(listener);
            StoreWatch.of(store.meters()).forget(meters);
        });
        thread.shutdownNow();
        subscribers.forEach(one -> one.push.end());
        try {
            var _ = thread.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
