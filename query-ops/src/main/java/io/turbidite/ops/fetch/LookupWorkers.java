package io.turbidite.ops.fetch;

import io.turbidite.core.Cleanup;
import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The workers of a query's lookups: started with the first batch that is worth it, idle between
 * batches. <em>Confined to the reader's thread</em>, but for what workers do: they look at the
 * volatile fetch in hand.
 */
final class LookupWorkers implements AutoCloseable {
    /** A worker without a task sleeps until woken; the time only bounds a lost wake. */
    private static final long IDLE_MICROS = 50_000;

    private final Tasks tasks;
    private final int workerCount;
    private final List<Tasks.Worker> workers = new ArrayList<>();
    private final Queue<FetchedSlice> spare = new ConcurrentLinkedQueue<>();
    private volatile @Nullable ParallelFetch current;

    LookupWorkers(Tasks tasks, int workerCount) {
        this.tasks = tasks;
        this.workerCount = workerCount;
    }

    /** With the reader's thread. */
    ParallelFetch.Workers team() {
        return new ParallelFetch.Workers(tasks, workerCount + 1, this::wake, spare);
    }

    /** Sets the workers on a fetch, or with null on none. */
    void assign(@Nullable ParallelFetch fetch) {
        current = fetch;
        if (fetch == null) {
            return;
        }
        while (workers.size() < workerCount) {
            workers.add(tasks.start("lookup", IDLE_MICROS, this::step));
        }
        wake();
    }

    private void wake() {
        workers.forEach(Tasks.Worker::wake);
    }

    private boolean step() {
        ParallelFetch fetch = current;
        return fetch != null && fetch.step();
    }

    @Override
    public void close() {
        current = null;
        Cleanup all = new Cleanup().addAll(workers, Tasks.Worker::close);
        workers.clear();
        all.add(this::giveSpare).run();
    }

    private void giveSpare() {
        FetchedSlice used = spare.poll();
        while (used != null) {
            FetchedSlice.give(used);
            used = spare.poll();
        }
    }
}
