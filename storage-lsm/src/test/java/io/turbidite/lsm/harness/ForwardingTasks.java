package io.turbidite.lsm.harness;

import io.turbidite.core.task.Tasks;

import java.util.function.BooleanSupplier;

/** Tasks of which a test changes something. */
public interface ForwardingTasks extends Tasks {
    /** Who does what is not changed. */
    Tasks tasks();

    /** The worker, which calls {@code hook} before it is woken. */
    static Worker onWake(Worker worker, Runnable hook) {
        return new Worker() {
            @Override
            public void wake() {
                hook.run();
                worker.wake();
            }

            @Override
            public void close() {
                worker.close();
            }
        };
    }

    @Override
    default Worker start(String name, long idleMicros, Step step) {
        return tasks().start(name, idleMicros, step);
    }

    @Override
    default void await(BooleanSupplier condition) {
        tasks().await(condition);
    }

    @Override
    default boolean awaitUnlessInterrupted(BooleanSupplier condition) {
        return tasks().awaitUnlessInterrupted(condition);
    }

    @Override
    default void signal() {
        tasks().signal();
    }

    @Override
    default void close() {
        tasks().close();
    }
}
