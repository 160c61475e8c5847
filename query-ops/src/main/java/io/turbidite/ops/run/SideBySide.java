package io.turbidite.ops.run;

import io.turbidite.core.Cleanup;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Runs branches on workers and waits for all of them; the first failure stops the others, also
 * those that wait for memory, and is thrown to the caller with what fails after it.
 * <em>Thread-safe</em> by the two atomics: what a branch collected is read by the caller after it
 * saw the branch counted as ended.
 */
final class SideBySide {
    /** A worker that has ended its branch sleeps until closed; the time only bounds a lost wake. */
    private static final long IDLE_MICROS = 50_000;

    private final Tasks tasks;
    private final QueryMemory.@Nullable Share share;
    private final AtomicInteger running;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private SideBySide(Tasks tasks, QueryMemory.@Nullable Share share, int branchCount) {
        this.tasks = tasks;
        this.share = share;
        this.running = new AtomicInteger(branchCount);
    }

    /**
     * Runs all to their ends.
     *
     * @param share of the memory that they may wait for; null: there is none to wait for
     */
    static void run(Tasks tasks, QueryMemory.@Nullable Share share, List<BranchRun> runs) {
        new SideBySide(tasks, share, runs.size()).run(runs);
    }

    private void run(List<BranchRun> runs) {
        List<Tasks.Worker> workers = new ArrayList<>();
        try (Cleanup _ = Cleanup.ofAll(workers, Tasks.Worker::close)) {
            for (BranchRun run : runs) {
                workers.add(tasks.start("query", IDLE_MICROS, new Step(run)));
            }
            await();
        } finally {
            if (share != null) {
                share.allowWaits();
            }
        }
        switch (failure.get()) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
    }

    /**
     * Waits for all. An interrupt ends no branch, but it ends their waits for memory, as it would
     * the caller's own.
     */
    private void await() {
        QueryMemory.Share waitedFor = share;
        if (waitedFor == null) {
            tasks.await(() -> running.get() == 0);
        } else if (!tasks.awaitUnlessInterrupted(() -> running.get() == 0)) {
            waitedFor.interruptWaits();
            tasks.await(() -> running.get() == 0);
        }
    }

    /** Notes a failure, and ends the waits of the others for memory. */
    @SuppressWarnings("ReferenceEquality") // an exception can't be attached to itself
    private void fail(Throwable cause) {
        if (failure.compareAndSet(null, cause)) {
            if (share != null) {
                share.interruptWaits();
            }
            return;
        }
        Throwable first = Objects.requireNonNull(failure.get());
        // the others end because of the first
        if (first != cause && !(cause instanceof CancellationException)) {
            first.addSuppressed(cause);
        }
    }

    /** One branch's work. */
    private final class Step implements Tasks.Step {
        private final BranchRun branch;
        private boolean counted;

        Step(BranchRun branch) {
            this.branch = branch;
        }

        @Override
        @SuppressWarnings("CatchingUnchecked") // handed to the caller, whatever it is
        public boolean run() {
            if (counted) {
                return false;
            }
            boolean more = false;
            try {
                if (failure.get() == null) {
                    more = branch.step();
                } else {
                    branch.abandon();
                }
            } catch (RuntimeException | Error e) {
                fail(e);
            }
            if (!more) {
                counted = true;
                running.decrementAndGet();
                tasks.signal();
            }
            return more;
        }
    }
}
