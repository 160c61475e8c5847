package io.turbidite.core.task;

import io.turbidite.core.ClosedException;
import io.turbidite.core.Undo;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Workers on daemon threads of their own, one each.
 *
 * <p><em>Thread-safe.</em> {@link #await} is not ended by an interrupt: the wait goes on and the
 * thread's interrupt status is set again when it returns, because what is waited for (durability,
 * space in the log) happens whether the caller hurries or not.
 *
 * <p>A worker whose step throws is stopped, and the error is handed to the error handler; the
 * others go on. Waits that are still open when the tasks are closed throw {@link ClosedException}.
 */
public final class ThreadTasks implements Tasks {
    private static final Logger LOG = LoggerFactory.getLogger(ThreadTasks.class);

    /** A wait looks again this often, should a signal have been forgotten. */
    private static final long RECHECK_NANOS = 1_000_000;

    /** Looks at the condition before parking: a group commit in memory takes less than a park. */
    private static final int SPIN_COUNT = 100;

    private final String name;
    private final BiConsumer<String, Throwable> onError;
    private final Set<ThreadWorker> workers = ConcurrentHashMap.newKeySet();
    private final Set<Thread> waiters = ConcurrentHashMap.newKeySet();
    private final AtomicInteger waiterCount = new AtomicInteger();
    private final Consumer<Thread> starter;
    private volatile boolean closed;

    private ThreadTasks(
            String name, BiConsumer<String, Throwable> onError, Consumer<Thread> starter) {
        this.name = name;
        this.onError = onError;
        this.starter = starter;
    }

    /** Tasks whose uncaught errors go to the log; {@code name} starts the threads' names. */
    public static ThreadTasks create(String name) {
        return create(name, (worker, error) -> LOG.error("worker {} stopped", worker, error));
    }

    /**
     * Tasks with an error handler.
     *
     * @param onError is given the worker's name and what its step threw, on the worker's thread;
     *     the worker has stopped
     */
    public static ThreadTasks create(String name, BiConsumer<String, Throwable> onError) {
        return new ThreadTasks(name, onError, Thread::start);
    }

    /** The same, with what starts threads: there may be no more of them. */
    static ThreadTasks create(
            String name, BiConsumer<String, Throwable> onError, Consumer<Thread> starter) {
        return new ThreadTasks(name, onError, starter);
    }

    @Override
    public Worker start(String workerName, long idleMicros, Step step) {
        return start(workerName, () -> idleMicros, step);
    }

    @Override
    public Worker start(String workerName, LongSupplier idleMicros, Step step) {
        ThreadWorker worker = new ThreadWorker(name + "/" + workerName, idleMicros, step);
        workers.add(worker);
        if (closed) {
            workers.remove(worker);
            throw new ClosedException("tasks " + name);
        }
        try (Undo undo = Undo.of(() -> workers.remove(worker))) {
            starter.accept(worker.thread);
            return undo.keep(worker);
        }
    }

    @Override
    public void await(BooleanSupplier condition) {
        boolean holds = await(condition, false);
        assert holds;
    }

    @Override
    public boolean awaitUnlessInterrupted(BooleanSupplier condition) {
        return await(condition, true);
    }

    private boolean await(BooleanSupplier condition, boolean interruptEnds) {
        for (int i = 0; i < SPIN_COUNT; i++) {
            if (condition.getAsBoolean()) {
                return true;
            }
            Thread.onSpinWait();
        }
        Thread waiter = Thread.currentThread();
        boolean interrupted = false;
        waiters.add(waiter);
        // Pairs with the fence in signal(): either the signaller sees the count, or the condition
        // that is looked at next sees what the signaller did before.
        waiterCount.incrementAndGet();
        try {
            while (!condition.getAsBoolean()) {
                if (closed) {
                    throw new ClosedException("tasks " + name);
                }
                interrupted |= Thread.interrupted();
                if (interruptEnds && interrupted) {
                    return false;
                }
                LockSupport.parkNanos(this, RECHECK_NANOS);
            }
            return true;
        } finally {
            waiterCount.decrementAndGet();
            waiters.remove(waiter);
            if (interrupted) {
                waiter.interrupt();
            }
        }
    }

    @Override
    public void signal() {
        VarHandle.fullFence();
        if (waiterCount.get() == 0) {
            return;
        }
        for (Thread waiter : waiters) {
            LockSupport.unpark(waiter);
        }
    }

    @Override
    public void close() {
        closed = true;
        for (ThreadWorker worker : workers) {
            worker.stopSoon();
        }
        signal();
        for (ThreadWorker worker : workers) {
            worker.close();
        }
    }

    @Override
    public String toString() {
        return "ThreadTasks[%s, %d workers]".formatted(name, workers.size());
    }

    private final class ThreadWorker implements Worker {
        /** The step runs, or is about to. */
        private static final int RUNNING = 0;

        /** Parked, or about to: whoever wakes it has to unpark the thread. */
        private static final int PARKED = 1;

        /** Woken, and has not started the step that the wake asked for. */
        private static final int NOTIFIED = 2;

        private final AtomicInteger state = new AtomicInteger(RUNNING);
        private final Step step;
        private final LongSupplier idleMicros;
        private final Thread thread;
        private volatile boolean stopped;

        ThreadWorker(String threadName, LongSupplier idleMicros, Step step) {
            this.step = step;
            this.idleMicros = idleMicros;
            this.thread = Thread.ofPlatform().daemon().name(threadName).unstarted(this::run);
        }

        private void run() {
            OwnThreads.adopt();
            try {
                while (!stopped) {
                    state.set(RUNNING);
                    if (step.run()) {
                        continue;
                    }
                    long idleNanos = TimeUnit.MICROSECONDS.toNanos(idleMicros.getAsLong());
                    if (state.compareAndSet(RUNNING, PARKED) && !stopped) {
                        LockSupport.parkNanos(ThreadTasks.this, idleNanos);
                        // An interrupt means nothing here, and left standing it ends every park.
                        Thread.interrupted();
                    }
                }
            } catch (ClosedException error) {
                if (!closed && !stopped) {
                    onError.accept(thread.getName(), error);
                }
            } catch (Throwable error) {
                onError.accept(thread.getName(), error);
            } finally {
                workers.remove(this);
            }
        }

        @Override
        public void wake() {
            // What the caller did before must be seen by the step that starts after RUNNING is set:
            // without the fence the state could be read before the caller's stores are visible.
            VarHandle.fullFence();
            if (state.get() != NOTIFIED && state.getAndSet(NOTIFIED) == PARKED) {
                LockSupport.unpark(thread);
            }
        }

        void stopSoon() {
            stopped = true;
            LockSupport.unpark(thread);
        }

        @Override
        public void close() {
            stopSoon();
            boolean interrupted = false;
            while (!thread.equals(Thread.currentThread()) && thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
