package io.turbidite.core.task;

import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Workers of all {@link ThreadTasks} of this process that rest without a thread, until their time
 * is over or somebody wakes them. One thread keeps the time; it hands those that are due to another
 * one, which looks into each in turn. Most find nothing and rest again, so that two hundred of them
 * cost two wakes of a thread and not two hundred.
 *
 * <p><em>Thread-safe.</em>
 */
final class RestingWorkers {
    /** Rests end at multiples of this, so that many end at once. */
    private static final long TICK_NANOS = 50_000_000;

    /**
     * Rests of so long, or longer, end at multiples of it, and those of twice as long at multiples
     * of that: nobody waits for what such a rest is for, and so the clock wakes seldom.
     */
    private static final long LONG_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final long REST_NANOS_MAX = TimeUnit.DAYS.toNanos(365);

    /** The clock ends when nobody has rested for as long. */
    private static final long SPARE_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Rests are measured on it. */
    static final Clock NOW = Clock.system();

    private static final RestingWorkers ALL = new RestingWorkers(time ->
            Thread.ofPlatform().daemon().name(WorkerThreads.NAME + "-clock").start(time));

    private final Function<Runnable, Thread> starter;

    private final Set<Resting> resting = ConcurrentHashMap.newKeySet();

    /** When the clock looks next; written by it alone. */
    private volatile long nextNanos;

    private volatile @Nullable Thread clock;

    /**
     * @param starter gives the clock a thread: there may be no more of them
     */
    RestingWorkers(Function<Runnable, Thread> starter) {
        this.starter = starter;
    }

    /** A worker that gave its thread back. */
    interface Resting {
        /** When its rest is over, of {@link #NOW}. */
        long dueNanos();

        /** Works on the caller's thread, if it still rests. */
        void resume();
    }

    /** Those of this process. */
    static RestingWorkers all() {
        return ALL;
    }

    /** The end of a rest that begins now: up to 50 ms late, 500 if it is so long, or a second. */
    static long endOfRest(long restNanos) {
        long nanos = Math.min(restNanos, REST_NANOS_MAX); // beyond it a clock would be behind us
        long tick = nanos < LONG_REST_NANOS
                ? TICK_NANOS
                : nanos < 2 * LONG_REST_NANOS ? LONG_REST_NANOS : 2 * LONG_REST_NANOS;
        long end = NOW.monotonicNanos() + nanos + tick - 1;
        return end - Math.floorMod(end, tick);
    }

    /**
     * From now on it is resumed when it is due. Where there is no thread for the clock, not before
     * another one comes to rest and finds one.
     */
    void add(Resting worker) {
        resting.add(worker);
        Thread running = clock;
        if (running == null) {
            startClock();
        } else if (worker.dueNanos() - nextNanos < 0) {
            LockSupport.unpark(running);
        }
    }

    /** It was woken, or has ended. */
    void remove(Resting worker) {
        resting.remove(worker);
    }

    /** Those that rest now. */
    Set<Resting> resting() {
        return Set.copyOf(resting);
    }

    private synchronized void startClock() {
        if (clock != null) {
            return;
        }
        try {
            clock = starter.apply(this::keepTime);
        } catch (OutOfMemoryError noThread) {
            // Not the fault of who rests, or wakes: who waits for its end would wait for ever.
        }
    }

    /** Whether there is nothing to wait for. */
    private synchronized boolean mayEnd() {
        Thread own = clock;
        clock = null; // whoever adds a worker from here on starts another one
        if (resting.isEmpty()) {
            return true;
        }
        clock = own;
        return false;
    }

    private void keepTime() {
        Round round = new Round(List.of());
        boolean wasEmpty = false;
        while (true) {
            boolean isEmpty = resting.isEmpty();
            if (isEmpty && wasEmpty && mayEnd()) {
                return;
            }
            wasEmpty = isEmpty;
            long now = NOW.monotonicNanos();
            // Before the look: whoever is added from here on is seen by it, or wakes this thread.
            nextNanos = now + SPARE_NANOS;
            long next = nextNanos;
            List<Resting> due = new ArrayList<>();
            for (Resting worker : resting) {
                if (worker.dueNanos() - now <= 0) {
                    due.add(worker);
                } else if (worker.dueNanos() - next < 0) {
                    next = worker.dueNanos();
                }
            }
            if (!due.isEmpty()) {
                // what is left of it, behind a worker that keeps its thread, is due again
                round.cancel();
                round = new Round(due);
                tryStart(round);
                next = Math.min(next, now + TICK_NANOS);
            }
            nextNanos = next;
            LockSupport.parkNanos(this, next - NOW.monotonicNanos());
        }
    }

    private static void tryStart(Round round) {
        try {
            WorkerThreads.execute(round);
        } catch (OutOfMemoryError noThread) {
            // at the next tick there may be one
        }
    }

    /** Workers that are due together. */
    private static final class Round implements Runnable {
        private final List<Resting> due;
        private final AtomicInteger next = new AtomicInteger();

        Round(List<Resting> due) {
            this.due = due;
        }

        void cancel() {
            next.set(due.size());
        }

        @Override
        public void run() {
            while (true) {
                int at = next.getAndIncrement();
                if (at >= due.size()) {
                    return;
                }
                due.get(at).resume(); // it stays among those that rest until then
            }
        }
    }
}
