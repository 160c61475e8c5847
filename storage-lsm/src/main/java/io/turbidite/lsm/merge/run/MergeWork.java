package io.turbidite.lsm.merge.run;

import io.turbidite.core.Cleanup;
import io.turbidite.core.StorageException;
import io.turbidite.core.task.Tasks;
import io.turbidite.lsm.flush.WriterThrottle;
import io.turbidite.lsm.partition.MergeHooks;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.IoBudget;
import io.turbidite.lsm.schedule.MergePace;
import io.turbidite.lsm.schedule.MergeScheduler;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Merges in the background. What the policies want is started as far as there are places, and
 * advanced by the workers step by step, in the order of the {@link RunQueue}; so a merge never
 * holds a worker for long, and flushes, closing and smaller merges come in between.
 *
 * <p>A merge that finds the disk full is given up and its output deleted; new ones start after a
 * pause, and only where there is space for all that is under way and for the write memory besides:
 * a merge must not take the room that flushes and the log need.
 *
 * <p><em>Thread-safe.</em> No step waits.
 */
public final class MergeWork implements AutoCloseable {
    private static final long IDLE_MICROS = 20_000;

    /** Where nothing is merged, but something is that nobody tells of: a pause that ends. */
    private static final long WAITING_MICROS = 100_000;

    /** Where nothing is merged, and all that may come wakes the workers. */
    private static final long REST_MICROS = 1_000_000;

    /** How often a worker looks whether the I/O budget lets it go on. */
    private static final long LIMITED_IDLE_MICROS = 2_000;

    private static final long STEP_BYTES_MAX = 1 << 20;

    private final StoreCore core;
    private final BackgroundOptions options;
    private final IoBudget io;
    private final MergePace pace;
    private final WriterThrottle throttle;
    private final long stepBytes;
    private final RunQueue<Merge> queue;
    private final MergeRequests requests;
    private final MergeFailures failures;
    private final MergePlanner planner;

    /** Read by the first of them while the others are started. */
    private final List<Tasks.Worker> workers = new CopyOnWriteArrayList<>();

    /**
     * @param writeMemoryBytes is kept free on disk by merges
     * @param hooks what the maintenance strategies add to merges
     */
    public MergeWork(
            PartitionRegistry partitions,
            BackgroundOptions options,
            IoBudget io,
            WriterThrottle throttle,
            long writeMemoryBytes,
            MergeHooks.Factory hooks) {
        this.core = partitions.core();
        this.options = options;
        this.io = io;
        this.pace = new MergePace(core.clock(), core.log()::takeSlowestSyncNanos);
        this.throttle = throttle;
        this.stepBytes = Math.min(STEP_BYTES_MAX, writeMemoryBytes / 64);
        boolean oneAtATime = io.isLimited() && options.mergeScheduler() == MergeScheduler.GREEDY;
        this.queue =
                new RunQueue<>(options.mergeScheduler(), oneAtATime ? 1 : options.mergeWorkers());
        this.requests = new MergeRequests(core);
        this.failures = new MergeFailures(partitions, throttle);
        this.planner = new MergePlanner(
                partitions,
                queue,
                requests,
                failures,
                new MergePlanner.Conditions(
                        options, throttle, hooks, writeMemoryBytes, this::wakeWorkers));
        for (int i = 0; i < options.mergeWorkers(); i++) {
            workers.add(core.start("merge-" + i, this::idleMicros, this::step));
        }
    }

    /** Who makes components wakes the workers; what pauses is looked at often enough. */
    private long idleMicros() {
        if (queue.size() == 0) {
            return planner.isSettled() ? REST_MICROS : WAITING_MICROS;
        }
        return io.isLimited() ? LIMITED_IDLE_MICROS : IDLE_MICROS;
    }

    /** Merges all that is flushed now; returns when it is done. */
    public void mergeAll(Partition partition) {
        core.health().checkWritable();
        requests.awaitAll(partition, this::wake);
    }

    /**
     * Rewrites each component of an older format by itself; returns when it is done. What is in
     * quarantine stays, and so does what an index is being built from.
     */
    public void renew(Partition partition) {
        core.health().checkWritable();
        requests.awaitRenewal(partition, this::wake);
    }

    /**
     * Merges a partition for its garbage as soon as its policy wants no merge of it.
     *
     * @param cause for the event: {@code "idle"} or {@code "query"}
     */
    public void takeGarbage(Partition partition, String cause) {
        if (planner.takeGarbage(partition, cause)) {
            wake();
        }
    }

    /** There may be something to merge. */
    public void wake() {
        planner.noteChange();
        wakeWorkers();
    }

    private void wakeWorkers() {
        workers.forEach(Tasks.Worker::wake);
    }

    /** Merges under way. */
    public int count() {
        return queue.size();
    }

    /** What keeps merges, and flushes that have time, out of the way of commits. */
    public MergePace pace() {
        return pace;
    }

    /** What merges under way have still to do. */
    public long remainingBytes() {
        return queue.jobs().stream().mapToLong(Merge::remainingBytes).sum();
    }

    private boolean step() {
        Throwable failed = core.health().firstFailure();
        if (failed != null) {
            requests.refuse();
        }
        if (failed != null || core.health().isClosing()) {
            return false;
        }
        planner.plan();
        if (!io.mergeMayGo() || throttle.flushIsUrgent() || !pace.mayGo()) {
            return false;
        }
        Merge merge = queue.take();
        if (merge == null) {
            return false;
        }
        advance(merge);
        return true;
    }

    private void advance(Merge merge) {
        boolean goesOn = false;
        try {
            goesOn = !merge.partition().isDropped() && !step(merge);
            if (!goesOn) {
                failures.succeeded();
            }
        } catch (StorageException failure) {
            failures.failed(merge, failure);
            requests.fail(merge.partition(), failure);
        } finally {
            if (goesOn) {
                queue.giveBack(merge);
            } else {
                queue.remove(merge);
                new Cleanup()
                        .add(merge::close)
                        .add(this::wake)
                        .add(core.tasks()::signal)
                        .run();
            }
        }
    }

    /** Advances by a step and accounts for it; whether the merge is installed. */
    private boolean step(Merge merge) {
        long startNanos = core.clock().monotonicNanos();
        long writtenBefore = merge.writtenBytes();
        boolean installed = merge.advance(stepBytes, pace.pieceBytes(options.syncBytes()));
        long written = merge.writtenBytes() - writtenBefore;
        io.charge(written);
        pace.charge(written);
        throttle.merging(
                written,
                core.clock().monotonicNanos() - startNanos,
                Math.min(queue.size(), options.mergeWorkers()));
        return installed;
    }

    /** Ends the workers after their steps; gives up what is under way. */
    @Override
    public void close() {
        new Cleanup()
                .addAll(workers, Tasks.Worker::close)
                .add(() -> new Cleanup().addAll(queue.jobs(), Merge::close).run())
                .run();
    }
}
