package io.turbidite.core.task;

import io.turbidite.core.ClosedException;
import io.turbidite.core.Undo;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Workers on daemon threads, one each while they work. A worker that rests for long gives its
 * thread back, so that a store to which nobody talks has none; then its rest may last 50 ms longer,
 * and 250 ms if it is of a second or more.
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

    /** Whoever rests for less keeps its thread: to get one costs some 50 us. */
    private static final long REST_NANOS_MIN = 100_000_000;

    /** Looks at the condition before parking: a group commit in memory takes less than a park. */
    private static final int SPIN_COUNT = 100;

    /** Workers of the process that were started and have not ended; for leak checks. */
    static final Set<Object> OPEN = ConcurrentHashMap.newKeySet();

    private final String name;
    private final BiConsumer<String, Throwable> onError;
    private final Set<ThreadWorker> workers = ConcurrentHashMap.newKeySet();
    private final Set<Thread> waiters = ConcurrentHashMap.newKeySet();
    private final AtomicInteger waiterCount = new AtomicInteger();
    private final Executor threads;
    private volatile boolean closed;

    private ThreadTasks(String name, BiConsumer<String, Throwable> onError, Executor threads) {
        this.name = name;
        this.onError = onError;
        this.threads = threads;
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
        return new ThreadTasks(name, onError, WorkerThreads::execute);
    }

    /** The same, with what threads come from: there may be no more of them. */
    static ThreadTasks create(
            String name, BiConsumer<String, Throwable> onError, Executor threads) {
        return new ThreadTasks(name, onError, threads);
    }

    @Override
    public Worker start(String workerName, long idleMicros, Step step) {
        return start(workerName, () -> idleMicros, step);
    }

    @Override
    public Worker start(String workerName, LongSupplier idleMicros, Step step) {
        ThreadWorker worker = new ThreadWorker(name + "/" + workerName, idleMicros, step);
        workers.add(worker);
        OPEN.add(worker);
        if (closed) {
            worker.end();
            throw new ClosedException("tasks " + name);
        }
        try (Undo undo = Undo.of(worker::end)) {
            threads.execute(worker);
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

    private final class ThreadWorker implements Worker, Runnable, RestingWorkers.Resting {
        /** The step runs, or is about to. */
        private static final int RUNNING = 0;

        /** Parked, or about to: whoever wakes it has to unpark the thread. */
        private static final int PARKED = 1;

        /** Woken, and has not started the step that the wake asked for. */
        private static final int NOTIFIED = 2;

        /** Without a thread, or about to be: whoever wakes it has to find it one. */
        private static final int RESTING = 3;

        private static final int ENDED = 4;

        private final AtomicInteger state = new AtomicInteger(RUNNING);
        private final CountDownLatch ended = new CountDownLatch(1);
        private final String workerName;
        private final Step step;
        private final LongSupplier idleMicros;

        /** Where it runs or ran last. */
        private volatile @Nullable Thread thread;

        /** Written before it rests. */
        private volatile long dueNanos;

        private volatile boolean stopped;

        ThreadWorker(String workerName, LongSupplier idleMicros, Step step) {
            this.workerName = workerName;
            this.step = step;
            this.idleMicros = idleMicros;
        }

        @Override
        public long dueNanos() {
            return dueNanos;
        }

        @Override
        public void resume() {
            if (state.compareAndSet(RESTING, RUNNING)) {
                RestingWorkers.all().remove(this);
                run();
            }
        }

        /** Works until it rests or ends, on a thread that does nothing else meanwhile. */
        @Override
        public void run() {
            Thread current = Thread.currentThread();
            String ownName = current.getName();
            thread = current;
            boolean rests = false;
            try {
                rests = work(current);
            } catch (ClosedException error) {
                if (!closed && !stopped) {
                    onError.accept(workerName, error);
                }
            } catch (Throwable error) {
                onError.accept(workerName, error);
            } finally {
                current.setName(ownName);
                // An interrupt means nothing here, and the thread's next work is another.
                boolean _ = Thread.interrupted();
                if (!rests) {
                    end();
                }
            }
        }

        /** Whether it gave the thread back, to go on later; else it has ended. */
        private boolean work(Thread current) {
            boolean isNamed = false;
            while (!stopped) {
                state.set(RUNNING);
                boolean more = step.run();
                long idle = more ? 0 : TimeUnit.MICROSECONDS.toNanos(idleMicros.getAsLong());
                if (idle >= REST_NANOS_MIN) {
                    dueNanos = RestingWorkers.endOfRest(idle);
                    if (rest()) {
                        return true;
                    }
                    continue;
                }
                if (!isNamed) {
                    current.setName(workerName);
                    isNamed = true;
                }
                if (!more && state.compareAndSet(RUNNING, PARKED) && !stopped) {
                    LockSupport.parkNanos(ThreadTasks.this, idle);
                    boolean _ = Thread.interrupted();
                }
            }
            return false;
        }

        /** Whether the thread may go: nobody has woken the worker or stopped it. */
        private boolean rest() {
            thread = null;
            RestingWorkers.all().add(this);
            if (!state.compareAndSet(RUNNING, RESTING)) {
                RestingWorkers.all().remove(this);
                thread = Thread.currentThread();
                return false;
            }
            // Who stops it looks at the state afterwards: one of both sees the other.
            return !stopped || !state.compareAndSet(RESTING, RUNNING);
        }

        private void end() {
            state.set(ENDED);
            RestingWorkers.all().remove(this);
            workers.remove(this);
            OPEN.remove(this);
            ended.countDown();
        }

        @Override
        public void wake() {
            // What the caller did before must be seen by the step that starts after RUNNING is set:
            // without the fence the state could be read before the caller's stores are visible.
            VarHandle.fullFence();
            while (true) {
                int was = state.get();
                if (was == NOTIFIED || was == ENDED) {
                    return;
                }
                if (was == RESTING) {
                    if (state.compareAndSet(RESTING, RUNNING)) {
                        RestingWorkers.all().remove(this);
                        start();
                        return;
                    }
                } else if (state.compareAndSet(was, NOTIFIED)) {
                    if (was == PARKED) {
                        LockSupport.unpark(thread);
                    }
                    return;
                }
            }
        }

        /** Goes on after a rest. */
        private void start() {
            try {
                threads.execute(this);
            } catch (OutOfMemoryError noThread) {
                // Not the caller's fault: those that are due have a thread, or get one later.
                dueNanos = RestingWorkers.NOW.monotonicNanos();
                RestingWorkers.all().add(this);
                state.set(RESTING);
            }
        }

        void stopSoon() {
            stopped = true;
            if (state.compareAndSet(RESTING, RUNNING)) {
                end();
            } else {
                LockSupport.unpark(thread);
            }
        }

        @Override
        public void close() {
            stopSoon();
            if (Thread.currentThread().equals(thread)) {
                return;
            }
            boolean interrupted = false;
            while (true) {
                try {
                    ended.await();
                    break;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public String toString() {
            return workerName;
        }
    }
}
