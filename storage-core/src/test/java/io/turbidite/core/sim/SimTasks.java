package io.turbidite.core.sim;

import io.turbidite.core.ClosedException;
import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Workers without threads: steps run on the stack of whoever waits, in a seeded order.
 *
 * <p><em>Confined to the thread that made it.</em> A step that waits runs the steps of the other
 * workers inside itself; a worker whose step is under way is not entered again. Two consequences
 * for the code under test, which are sound rules for threads too:
 *
 * <ol>
 *   <li>hold no lock while waiting: a step may run inside the wait, and a re-entrant lock would let
 *       it in. What must be held is taken by {@code await(() -> tryAcquire(..))} and has no owner
 *       thread;
 *   <li>what a waiting step needs may be done by any other worker, but not by what waits below it
 *       on the stack: such a wait is reported as stuck.
 * </ol>
 *
 * <p>A step that throws stops its worker, and the exception reaches whoever waits.
 */
public final class SimTasks implements Tasks {
    /** Virtual time after which a wait counts as endless; idle workers are run all the while. */
    private static final long WAIT_NANOS_MAX = 600_000_000_000L;

    /** Steps after which a wait counts as endless. */
    private static final long WAIT_STEP_COUNT_MAX = 5_000_000;

    /** A step takes up to this much virtual time. */
    private static final int STEP_MICROS_MAX = 50;

    private final long seed;
    private final SimClock clock;
    private final SplittableRandom random;
    private final Thread owner = Thread.currentThread();
    private final List<SimWorker> workers = new ArrayList<>();
    private long stepCount;
    private boolean closed;

    public SimTasks(long seed, SimClock clock) {
        this.seed = seed;
        this.clock = clock;
        this.random = new SplittableRandom(seed);
    }

    @Override
    public Worker start(String name, long idleMicros, Step step) {
        return start(name, () -> idleMicros, step);
    }

    @Override
    public Worker start(String name, LongSupplier idleMicros, Step step) {
        checkOpen();
        SimWorker worker = new SimWorker(name, idleMicros, step);
        workers.add(worker);
        return worker;
    }

    @Override
    public void await(BooleanSupplier condition) {
        checkOwner();
        long startNanos = clock.monotonicNanos();
        for (long i = 0; !condition.getAsBoolean(); i++) {
            checkOpen();
            if (i == WAIT_STEP_COUNT_MAX
                    || clock.monotonicNanos() - startNanos > WAIT_NANOS_MAX
                    || !step()) {
                throw stuck("waited for something that never comes");
            }
        }
    }

    @Override
    public boolean awaitUnlessInterrupted(BooleanSupplier condition) {
        await(() -> condition.getAsBoolean() || Thread.currentThread().isInterrupted());
        return condition.getAsBoolean();
    }

    @Override
    public void signal() {
        // Nobody is parked: who waits looks at its condition after each step.
    }

    /**
     * Runs one step of a worker chosen among those that have work; if none has, moves the clock to
     * when the first of them is due.
     *
     * @return false if there is no worker that could be run, now or later
     */
    public boolean step() {
        checkOwner();
        SimWorker chosen = chooseReady();
        if (chosen == null) {
            chosen = firstDue();
            if (chosen == null) {
                return false;
            }
            long waitNanos = chosen.dueNanos - clock.monotonicNanos();
            clock.advanceMicros((Math.max(0, waitNanos) + 999) / 1_000);
        }
        run(chosen);
        return true;
    }

    /** Runs steps until every worker has said that it has nothing to do. */
    public void runUntilIdle() {
        checkOwner();
        for (long i = 0; ; i++) {
            SimWorker chosen = chooseReady();
            if (chosen == null) {
                return;
            }
            if (i == WAIT_STEP_COUNT_MAX) {
                throw stuck("the workers never become idle");
            }
            run(chosen);
        }
    }

    /** Lets virtual time pass, running whoever has work or becomes due on the way. */
    public void runForMicros(long micros) {
        checkOwner();
        long endNanos = clock.monotonicNanos() + micros * 1_000;
        for (long i = 0; ; i++) {
            if (i == WAIT_STEP_COUNT_MAX) {
                throw stuck("too many steps in %d us".formatted(micros));
            }
            SimWorker due = firstDue();
            boolean ready = chooseReady() != null;
            if (clock.monotonicNanos() >= endNanos
                    || (!ready && (due == null || due.dueNanos > endNanos))) {
                break;
            }
            step();
        }
        long leftNanos = endNanos - clock.monotonicNanos();
        if (leftNanos > 0) {
            clock.advanceMicros(leftNanos / 1_000);
        }
    }

    /** Steps run so far. */
    public long stepCount() {
        return stepCount;
    }

    /** Workers that were started and not closed, for leak checks. */
    public int workerCount() {
        return workers.size();
    }

    @Override
    public void close() {
        closed = true;
        workers.forEach(worker -> worker.closed = true);
        workers.clear();
    }

    @Override
    public String toString() {
        return "SimTasks[seed %d, %d workers, %d steps]".formatted(seed, workers.size(), stepCount);
    }

    private void run(SimWorker worker) {
        stepCount++;
        worker.ready = false;
        worker.running = true;
        boolean done = false;
        try {
            worker.ready |= worker.step.run();
            done = true;
        } finally {
            worker.running = false;
            if (!done) {
                worker.close();
            }
        }
        clock.advanceMicros(random.nextInt(STEP_MICROS_MAX));
        worker.dueNanos = worker.dueAfter(clock.monotonicNanos());
    }

    private @Nullable SimWorker chooseReady() {
        long now = clock.monotonicNanos();
        int readyCount = 0;
        for (SimWorker worker : workers) {
            if (worker.isReady(now)) {
                readyCount++;
            }
        }
        if (readyCount == 0) {
            return null;
        }
        int skip = random.nextInt(readyCount);
        for (SimWorker worker : workers) {
            if (worker.isReady(now) && skip-- == 0) {
                return worker;
            }
        }
        throw new AssertionError("a ready worker was counted and not found");
    }

    private @Nullable SimWorker firstDue() {
        SimWorker first = null;
        for (SimWorker worker : workers) {
            if (!worker.running && (first == null || worker.dueNanos < first.dueNanos)) {
                first = worker;
            }
        }
        return first == null || first.dueNanos == Long.MAX_VALUE ? null : first;
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException(toString());
        }
    }

    private void checkOwner() {
        if (!owner.equals(Thread.currentThread())) {
            throw new IllegalStateException("simulated tasks of thread %s used by thread %s"
                    .formatted(owner.getName(), Thread.currentThread().getName()));
        }
    }

    private IllegalStateException stuck(String what) {
        StringBuilder text =
                new StringBuilder(what).append(", seed ").append(seed).append("; workers:");
        for (SimWorker worker : workers) {
            text.append(' ').append(worker.name);
            text.append(
                    worker.running ? " (its step waits)" : worker.ready ? " (ready)" : " (idle)");
        }
        return new IllegalStateException(text.toString());
    }

    private final class SimWorker implements Worker {
        private final String name;
        private final LongSupplier idleMicros;
        private final Step step;
        private boolean ready = true;
        private boolean running;
        private boolean closed;
        private long dueNanos;

        SimWorker(String name, LongSupplier idleMicros, Step step) {
            this.name = name;
            this.idleMicros = idleMicros;
            this.step = step;
        }

        boolean isReady(long nowNanos) {
            return !running && (ready || dueNanos <= nowNanos);
        }

        long dueAfter(long nowNanos) {
            long micros = idleMicros.getAsLong();
            return micros > (Long.MAX_VALUE - nowNanos) / 1_000
                    ? Long.MAX_VALUE
                    : nowNanos + micros * 1_000;
        }

        @Override
        public void wake() {
            ready = !closed;
        }

        @Override
        public void close() {
            closed = true;
            workers.remove(this);
        }
    }
}
