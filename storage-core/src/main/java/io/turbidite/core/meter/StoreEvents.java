package io.turbidite.core.meter;

import io.turbidite.core.InvalidRequestException;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The events of a store: the newest are kept, all are told to listeners.
 *
 * <p><em>Thread-safe.</em> Listeners are called by the thread that publishes, which holds none of
 * the store's locks; they must be quick. A listener that throws, be it an error of the JVM, is
 * logged and not called again: observing never breaks a store.
 */
public final class StoreEvents {
    /** Kept for {@link #recent()}: some hours of a busy store's flushes and merges. */
    public static final int RECENT_COUNT_MAX = 512;

    /** More than that is a listener added again and again by mistake. */
    public static final int LISTENER_COUNT_MAX = 32;

    private static final Logger LOG = LoggerFactory.getLogger(StoreEvents.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<StoreEvent> recent = new ArrayDeque<>();
    private final CopyOnWriteArrayList<Listener> listeners = new CopyOnWriteArrayList<>();
    private final AtomicLong publishedCount = new AtomicLong();

    /** Is told each event. */
    @FunctionalInterface
    public interface Listener {
        /** Takes an event; called by the thread that caused it, so it must not wait. */
        void on(StoreEvent event);
    }

    /**
     * Tells {@code listener} of every event from now on.
     *
     * @throws InvalidRequestException if there are {@link #LISTENER_COUNT_MAX} already
     */
    public void listen(Listener listener) {
        lock.lock();
        try {
            if (listeners.size() >= LISTENER_COUNT_MAX) {
                throw new InvalidRequestException(
                        "a store has at most %d event listeners".formatted(LISTENER_COUNT_MAX));
            }
            listeners.add(listener);
        } finally {
            lock.unlock();
        }
    }

    /** Undoes {@link #listen}; nothing happens if the listener isn't there. */
    public void forget(Listener listener) {
        listeners.remove(listener);
    }

    /** Tells all listeners, and keeps it among the recent ones. */
    public void publish(StoreEvent event) {
        publishedCount.incrementAndGet();
        lock.lock();
        try {
            if (recent.size() == RECENT_COUNT_MAX) {
                recent.removeFirst();
            }
            recent.addLast(event);
        } finally {
            lock.unlock();
        }
        for (Listener listener : listeners) {
            try {
                listener.on(event);
            } catch (RuntimeException | Error e) {
                listeners.remove(listener);
                LOG.warn(
                        "event listener {} failed on {} and is not called again",
                        listener,
                        event,
                        e);
            }
        }
    }

    /** The newest events, oldest first; a copy. */
    public List<StoreEvent> recent() {
        lock.lock();
        try {
            return List.copyOf(recent);
        } finally {
            lock.unlock();
        }
    }

    /** How many events there were since the store was opened. */
    public long publishedCount() {
        return publishedCount.get();
    }
}
