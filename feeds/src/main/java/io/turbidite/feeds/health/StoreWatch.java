package io.turbidite.feeds.health;

import io.turbidite.core.meter.Meters;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a server remembers of the last minute of a store and of itself, for rules that look at more
 * than the figures of now: a sample each ten seconds. Without a server it remembers nothing.
 *
 * <p><em>Thread-safe.</em>
 */
public final class StoreWatch {
    /** Between samples. */
    public static final long SAMPLE_NANOS = 10_000_000_000L;

    private final List<Meters> sources = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Moment> samples = new ArrayDeque<>();

    StoreWatch(Meters store) {
        sources.add(store);
    }

    /** That of a store. */
    public static StoreWatch of(Meters store) {
        return store.once(StoreWatch.class, StoreWatch::new);
    }

    /** From now on the figures of a server count too, until {@link #forget}. */
    public void alsoOf(Meters server) {
        sources.add(server);
    }

    /** Undoes {@link #alsoOf}, and forgets the minute. */
    public void forget(Meters server) {
        sources.remove(server);
        lock.lock();
        try {
            samples.clear();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes a sample if the newest is ten seconds old.
     *
     * @param nowNanos by the monotonic clock
     */
    public void sample(long nowNanos) {
        lock.lock();
        try {
            if (!samples.isEmpty() && nowNanos - samples.getLast().nanos() < SAMPLE_NANOS) {
                return;
            }
            samples.addLast(Findings.OF_MINUTE.at(nowNanos, sources));
            dropOld(nowNanos);
        } finally {
            lock.unlock();
        }
    }

    /** All but one are of the last minute: that one makes it whole. */
    private void dropOld(long nowNanos) {
        while (samples.size() > 1) {
            Moment oldest = samples.removeFirst();
            if (nowNanos - samples.getFirst().nanos() < Minute.NANOS) {
                samples.addFirst(oldest);
                return;
            }
        }
    }

    /** Whether rules of the last minute can tell. */
    public boolean isWhole(long nowNanos) {
        return minute(nowNanos).isWhole();
    }

    /** The figures of now and of the last minute, of no feed yet. */
    Minute minute(long nowNanos) {
        Moment now = Findings.OF_NOW.at(nowNanos, sources);
        lock.lock();
        try {
            dropOld(nowNanos);
            return new Minute(new ArrayList<>(samples), now, Moment.NO_FEED);
        } finally {
            lock.unlock();
        }
    }
}
