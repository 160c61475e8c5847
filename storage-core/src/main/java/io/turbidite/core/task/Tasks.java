package io.turbidite.core.task;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Runs background workers and lets callers wait for what they do.
 *
 * <p>The real one has a thread for each worker. The simulated one has no thread: whoever waits runs
 * steps of randomly chosen workers, seeded, until the condition holds, and moves the virtual clock
 * when nobody has work; a wait that can never end is an error that prints the seed.
 *
 * <p><em>Thread-safe.</em>
 */
public interface Tasks extends AutoCloseable {
    /**
     * Starts a worker that calls {@code step} until closed: again at once while it returns
     * {@code true} (there may be more to do), otherwise after {@link Worker#wake()} or
     * {@code idleMicros}, whichever comes first.
     *
     * @param name for thread names and traces
     */
    Worker start(String name, long idleMicros, Step step);

    /**
     * As {@link #start(String, long, Step)}, but a worker says each time how long it may rest: a
     * short while when there is something that it looks at again, a long one when all that it
     * waits for wakes it.
     *
     * @param idleMicros asked by the worker after a step that returned {@code false}
     */
    default Worker start(String name, LongSupplier idleMicros, Step step) {
        return start(name, idleMicros.getAsLong(), step);
    }

    /**
     * Blocks until {@code condition} holds. It is checked again after each {@link #signal()} and at
     * least every millisecond; it must be cheap and free of side effects.
     */
    void await(BooleanSupplier condition);

    /**
     * As {@link #await}, but also ended by an interrupt of the calling thread, which stays
     * interrupted.
     *
     * @return whether the condition holds
     */
    boolean awaitUnlessInterrupted(BooleanSupplier condition);

    /** Something that an {@link #await} may wait for has changed. Cheap when nobody waits. */
    void signal();

    /** Stops every worker after its current step. */
    @Override
    void close();

    /** A bounded piece of background work. */
    @FunctionalInterface
    interface Step {
        /**
         * Does some work.
         *
         * @return whether there may be more to do right away
         */
        boolean run();
    }

    /** A started worker. */
    interface Worker extends AutoCloseable {
        /** There is work. Cheap when the worker is already awake. */
        void wake();

        /** Stops after the current step and waits for it; a closed worker's wake does nothing. */
        @Override
        void close();
    }
}
