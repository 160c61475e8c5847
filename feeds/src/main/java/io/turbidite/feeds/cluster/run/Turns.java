package io.turbidite.feeds.cluster.run;

import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;

/**
 * The worker to whom a state machine belongs: others hand in what it is to do, and it does one
 * thing after the other; between them, each so often, it does what time asks for. The first
 * failure ends it: only opening the state machine again tells what was done.
 * <em>Thread-safe.</em>
 */
final class Turns implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Turns.class.getName());

    /** What comes faster than it can be done is lost: who needs it sends it again. */
    private static final int WAITING_MAX = 1_000;

    private final String name;
    private final Tasks tasks;
    private final Clock clock;
    private final long everyNanos;
    private final Runnable again;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private final Tasks.Worker worker;

    /** By the worker alone. */
    private long nextNanos;

    private volatile @Nullable Throwable failure;
    private volatile boolean closed;

    /**
     * Starts it.
     *
     * @param every how long after it {@code again} is called once more
     * @param again first of all, and then so often
     */
    Turns(String name, Tasks tasks, Clock clock, Duration every, Runnable again) {
        this.name = name;
        this.tasks = tasks;
        this.clock = clock;
        this.everyNanos = every.toNanos();
        this.again = again;
        this.nextNanos = clock.monotonicNanos();
        this.worker = tasks.start(name, every.toNanos() / 1_000, this::step);
    }

    /** Has it do something; false: it has too much to do, has failed, or was closed. */
    boolean offer(Runnable turn) {
        if (failure != null || closed) {
            return false;
        }
        synchronized (waiting) {
            if (waiting.size() >= WAITING_MAX) {
                return false;
            }
            waiting.add(turn);
        }
        worker.wake();
        return true;
    }

    private boolean step() {
        if (failure != null || closed) {
            return false;
        }
        Runnable turn = next();
        if (turn == null) {
            return false;
        }
        try {
            turn.run();
        } catch (RuntimeException | Error e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    name + " has ended; it does nothing until it is opened again",
                    e);
            failure = e;
        }
        tasks.signal();
        return true;
    }

    private @Nullable Runnable next() {
        long now = clock.monotonicNanos();
        if (now - nextNanos >= 0) {
            nextNanos = now + everyNanos;
            return again;
        }
        synchronized (waiting) {
            return waiting.poll();
        }
    }

    /** Waits until something holds, or it has failed, or was closed. */
    void await(BooleanSupplier condition) {
        tasks.await(() -> condition.getAsBoolean() || failure != null || closed);
    }

    /** Why it does nothing any more; null: it does. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** Ends it after what it is doing. */
    @Override
    public void close() {
        closed = true;
        worker.close();
        tasks.signal();
    }
}
