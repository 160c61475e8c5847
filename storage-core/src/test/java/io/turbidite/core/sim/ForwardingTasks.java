package io.turbidite.core.sim;

import io.turbidite.core.task.Tasks;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/** Tasks of others, for a test that changes something of them. */
public class ForwardingTasks implements Tasks {
    private final Tasks tasks;

    public ForwardingTasks(Tasks tasks) {
        this.tasks = tasks;
    }

    @Override
    public final Worker start(String name, long idleMicros, Step step) {
        return start(name, () -> idleMicros, step);
    }

    @Override
    public Worker start(String name, LongSupplier idleMicros, Step step) {
        return tasks.start(name, idleMicros, step);
    }

    @Override
    public void await(BooleanSupplier condition) {
        tasks.await(condition);
    }

    @Override
    public boolean awaitUnlessInterrupted(BooleanSupplier condition) {
        return tasks.awaitUnlessInterrupted(condition);
    }

    @Override
    public void signal() {
        tasks.signal();
    }

    @Override
    public void close() {
        tasks.close();
    }
}
