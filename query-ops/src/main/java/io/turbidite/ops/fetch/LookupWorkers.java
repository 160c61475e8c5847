package io.turbidite.ops.fetch;

import io.turbidite.core.Cleanup;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The lookups of a query, and their workers: started with the first batch that is worth it, idle
 * between batches. <em>Confined to the reader's thread</em>, but for what workers do: they look at
 * the volatile fetch in hand.
 */
final class LookupWorkers implements AutoCloseable {
    /** A worker without a task sleeps until woken; the time only bounds a lost wake. */
    private static final long IDLE_MICROS = 50_000;

    /** With fewer keys than this and all pages at hand they would be woken for nothing. */
    static final int KEYS_MIN = 512;

    /**
     * Enough keys where pages are read: each may wait for one (PERS24 §4.4.2). Workers are started
     * for each query, which costs as much as some reads: with 10 keys a query took 1.2 to 1.3 times
     * as long as alone, with 25 and more 0.8 to 0.94 ({@code bench pm}, direct I/O, busy machine).
     */
    static final int MISSING_KEYS_MIN = 16;

    /**
     * The share of the last pages that the cache lacked from which on the next are expected to be
     * lacking. With less, few keys wait for a page.
     */
    private static final double MISS_SHARE_MIN = 0.25;

    private final @Nullable Tasks tasks;
    private final int workerCount;
    private final List<Tasks.Worker> workers = new ArrayList<>();
    private final Queue<FetchedSlice> spare = new ConcurrentLinkedQueue<>();
    private volatile @Nullable ParallelFetch current;

    /**
     * Workers that look keys up beside the reader.
     *
     * @param tasks where they run; null: the reader is alone
     */
    LookupWorkers(@Nullable Tasks tasks, int workerCount) {
        this.tasks = tasks;
        this.workerCount = workerCount;
    }

    /**
     * The records of a batch, by the reader alone or with the workers, whichever pays.
     *
     * @param keys sorted and distinct; not changed while the stream is open
     */
    RecordStream fetch(ReadView view, int partition, KeyBatch keys, FetchOptions options) {
        Tasks runner = tasks;
        if (runner == null || workerCount == 0 || keys.size() < MISSING_KEYS_MIN) {
            return view.fetch(partition, keys, options);
        }
        boolean misses = view.missShare() >= MISS_SHARE_MIN;
        if (!misses && keys.size() < KEYS_MIN) {
            return view.fetch(partition, keys, options);
        }
        ParallelFetch shared = new ParallelFetch(
                view,
                partition,
                keys,
                options,
                new ParallelFetch.Workers(runner, workerCount + 1, misses, this::wake, spare));
        current = shared;
        while (workers.size() < workerCount) {
            workers.add(runner.start("lookup", IDLE_MICROS, this::step));
        }
        wake();
        return shared;
    }

    /** The workers leave the fetch in hand, before its stream is closed. */
    void rest() {
        current = null;
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
