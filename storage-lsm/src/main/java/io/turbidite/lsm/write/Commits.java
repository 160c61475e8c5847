package io.turbidite.lsm.write;

import io.turbidite.core.ClosedException;
import io.turbidite.core.StorageException;
import io.turbidite.core.task.Tasks;
import io.turbidite.lsm.partition.StoreCore;

import org.jspecify.annotations.Nullable;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * Tells listeners of the writes that became durable, in the order of the log, on a thread of its
 * own: one that is slow holds up the others, and no write. <em>Thread-safe.</em>
 */
public final class Commits implements AutoCloseable {
    /** Listeners that may wait to be told; a few megabytes of them. */
    public static final int LISTENERS_MAX = 65_536;

    /** What takes longer is told in an event. */
    private static final long SLOW_NANOS = 1_000_000_000L;

    private static final long IDLE_MICROS = 1_000_000;

    private record Waiting(
            long sequence, long arrival, Consumer<@Nullable StorageException> listener) {}

    private final StoreCore core;
    private final WritePath writes;

    private final PriorityQueue<Waiting> waiting = new PriorityQueue<>(
            Comparator.comparingLong(Waiting::sequence).thenComparingLong(Waiting::arrival));

    private long arrivals;

    /** Made with the first listener: most stores have none. */
    private Tasks.@Nullable Worker teller;

    private boolean isClosed;

    /** Told and not told yet, the one in hand among them. */
    private volatile int count;

    /** The thread that runs a listener now; 0 if none does. */
    private volatile long telling;

    public Commits(StoreCore core, WritePath writes) {
        this.core = core;
        this.writes = writes;
    }

    /**
     * Whether the log has all up to {@code sequence} as safe as its mode says.
     *
     * @throws io.turbidite.core.StoreFailedException if it never will
     */
    public boolean isDurable(long sequence) {
        try {
            return core.log().isDurable(sequence);
        } catch (StorageException failure) {
            core.health().fail(failure);
            throw failure;
        }
    }

    /** As {@link WritePath#awaitDurable}. */
    public void awaitDurable(long sequence) {
        writes.awaitDurable(sequence);
    }

    /**
     * Has a listener told once the log has all up to {@code sequence}: null, or why it never will.
     *
     * @throws ClosedException if the store is closed
     */
    public void add(long sequence, Consumer<@Nullable StorageException> listener) {
        // a listener that waited for others to be told would wait for itself
        while (!tryAdd(sequence, listener)) {
            core.tasks().await(() -> count < LISTENERS_MAX);
        }
    }

    private synchronized boolean tryAdd(
            long sequence, Consumer<@Nullable StorageException> listener) {
        if (isClosed) {
            throw new ClosedException("the store");
        }
        if (count >= LISTENERS_MAX && !isTelling()) {
            return false;
        }
        Tasks.Worker running = teller;
        if (running == null) {
            running = core.start("commits", IDLE_MICROS, this::step);
            teller = running;
        }
        // what can fail comes before it counts: a close waits for those who count
        waiting.add(new Waiting(sequence, arrivals++, listener));
        count = count + 1;
        running.wake();
        return true;
    }

    private boolean isTelling() {
        return telling == Thread.currentThread().threadId();
    }

    private boolean step() {
        Waiting first;
        synchronized (this) {
            first = waiting.peek();
        }
        if (first == null) {
            return false;
        }
        StorageException failure = null;
        try {
            writes.awaitDurable(first.sequence());
        } catch (StorageException lost) {
            failure = lost;
        }
        synchronized (this) {
            if (!first.equals(waiting.peek())) {
                return true; // one of an earlier write came, which may be durable where this is not
            }
            waiting.remove();
        }
        tell(first.listener(), failure);
        return true;
    }

    private void tell(
            Consumer<@Nullable StorageException> listener, @Nullable StorageException failure) {
        long start = core.clock().monotonicNanos();
        telling = Thread.currentThread().threadId();
        try {
            listener.accept(failure);
        } catch (RuntimeException | Error thrown) {
            core.events().failed("a listener to a commit", thrown);
        } finally {
            telling = 0;
            synchronized (this) {
                count = count - 1;
            }
            core.tasks().signal();
        }
        long nanos = core.clock().monotonicNanos() - start;
        if (nanos > SLOW_NANOS) {
            core.events().listenerSlow(nanos);
        }
    }

    /**
     * Returns when all listeners have been told.
     *
     * @throws IllegalStateException if one of them calls this
     */
    @Override
    public void close() {
        checkMayClose();
        do {
            core.awaitBeforeClose(() -> count + " listeners to commits", () -> count == 0);
        } while (!refuseMore());
        Tasks.Worker worker = teller;
        if (worker != null) {
            worker.close();
        }
    }

    /** Refuses listeners from now on; false, and nothing changes, if one has come meanwhile. */
    private synchronized boolean refuseMore() {
        isClosed = count == 0;
        return isClosed;
    }

    /** Checks that it is no listener who closes the store: it would wait for itself. */
    public void checkMayClose() {
        if (isTelling()) {
            throw new IllegalStateException("a listener to a commit can't close the store");
        }
    }
}
