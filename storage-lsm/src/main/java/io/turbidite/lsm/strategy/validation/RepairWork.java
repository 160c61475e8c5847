package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.Cleanup;
import io.turbidite.core.StorageException;
import io.turbidite.core.Undo;
import io.turbidite.core.task.Tasks;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.FailureRule;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairOptions;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Standalone repairs that somebody asked for, one index of one partition at a time, several at
 * once: workers take them in turn and advance each by a step.
 *
 * <p><em>Thread-safe.</em> No step waits: a component that is being merged is looked for again
 * later.
 */
public final class RepairWork implements AutoCloseable {
    private static final long IDLE_MICROS = 20_000;

    private static final long STEP_ENTRIES = 16_384;

    private final StoreCore core;
    private final Runnable afterGiveBack;

    /** Read by the first of them while the others are started. */
    private final List<Tasks.Worker> workers = new CopyOnWriteArrayList<>();

    private final Queue<Request> waiting = new ConcurrentLinkedQueue<>();
    private final Runnable betweenSteps;
    private final LongSupplier restMicros;
    private final BooleanSupplier spareStep;

    /**
     * @param afterGiveBack told when components are free again, which a merge may have waited for
     * @param betweenSteps what a worker looks at before each step
     * @param restMicros how long it may leave that alone where nothing is repaired: who asks for a
     *     repair wakes the workers
     * @param spareStep what a worker does when no repair waits; whether there was something to do
     */
    public RepairWork(
            StoreCore core,
            Runnable afterGiveBack,
            Runnable betweenSteps,
            LongSupplier restMicros,
            BooleanSupplier spareStep) {
        this.core = core;
        this.afterGiveBack = afterGiveBack;
        this.betweenSteps = betweenSteps;
        this.restMicros = restMicros;
        this.spareStep = spareStep;
    }

    /**
     * Starts the workers; called once.
     *
     * @param workerCount how many indexes are repaired at once
     */
    public void start(int workerCount) {
        for (int i = 0; i < workerCount; i++) {
            workers.add(core.start(
                    "repair-" + i,
                    () -> waiting.isEmpty() ? restMicros.getAsLong() : IDLE_MICROS,
                    this::step));
        }
    }

    /**
     * Why there is a repair.
     *
     * @param label {@code "request"} or {@code "auto"}
     * @param holds asked before each component: whether to go on, or leave it at what is done
     */
    record Cause(String label, BooleanSupplier holds) {}

    /** A wish to check an index of a partition against all that was flushed when it was made. */
    static final class Request {
        final Partition partition;
        final TreeId tree;
        final RepairOptions options;
        final Cause cause;
        final SharedKeyTrees shared;

        @Nullable
        Repair current;

        RepairCounts counts = RepairCounts.NONE;
        boolean isGivenUp;
        volatile boolean done;
        volatile @Nullable StorageException failure;

        private Request(
                Partition partition,
                TreeId tree,
                RepairOptions options,
                Cause cause,
                SharedKeyTrees shared) {
            this.partition = partition;
            this.tree = tree;
            this.options = options;
            this.cause = cause;
            this.shared = shared;
        }

        boolean isDone() {
            return done;
        }

        boolean hasFailed() {
            return failure != null;
        }

        void letGo() {
            if (current != null) {
                current.close();
                current = null;
            }
            shared.release();
        }
    }

    /**
     * Repairs indexes of partitions; returns when all is done.
     *
     * @throws StorageException the first failure, when the others have ended too
     */
    public RepairCounts repair(
            List<Partition> partitions, List<Integer> indexIds, RepairOptions options) {
        core.health().checkWritable();
        List<Request> requests =
                requests(partitions, indexIds, options, new Cause("request", () -> true));
        ask(requests);
        core.awaitWork(
                "a repair, which goes on,",
                () -> requests.stream().allMatch(request -> request.done));
        RepairCounts counts = RepairCounts.NONE;
        for (Request request : requests) {
            StorageException failure = request.failure;
            if (failure != null) {
                throw failure;
            }
            if (!request.done) {
                core.health().checkUnbroken();
            }
            counts = counts.plus(request.counts);
        }
        return counts;
    }

    /** Begins repairs that nobody waits for. */
    void ask(List<Request> requests) {
        waiting.addAll(requests);
        wake();
    }

    /** There may be something to look at. */
    public void wake() {
        workers.forEach(Tasks.Worker::wake);
    }

    /** Wishes to check these indexes, which share what they can; to be asked for. */
    List<Request> requests(
            List<Partition> partitions,
            List<Integer> indexIds,
            RepairOptions options,
            Cause cause) {
        List<Request> requests = new ArrayList<>();
        try (Undo undo = Undo.of(() -> requests.forEach(Request::letGo))) {
            for (Partition partition : partitions) {
                SharedKeyTrees shared = shared(partition, indexIds, options);
                if (shared != null) {
                    for (int indexId : indexIds) {
                        requests.add(
                                new Request(partition, TreeId.of(indexId), options, cause, shared));
                    }
                }
            }
            return undo.keep(requests);
        }
    }

    /** What the repairs of a partition stand on; null if it was dropped. */
    private @Nullable SharedKeyTrees shared(
            Partition partition, List<Integer> indexIds, RepairOptions options) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return null;
        }
        try {
            return SharedKeyTrees.of(pinned, core, indexIds, options);
        } finally {
            pinned.unpin();
        }
    }

    private boolean step() {
        if (core.health().isClosing() || core.health().isReading()) {
            return false;
        }
        betweenSteps.run();
        Request request = waiting.poll();
        if (request == null) {
            return spareStep.getAsBoolean();
        }
        boolean moved = true;
        boolean ended = false;
        try {
            core.health().checkWritable();
            if (!request.shared.isReady()) {
                moved = request.shared.advance(STEP_ENTRIES);
            } else if (request.current == null && !startNext(request)) {
                ended = isDone(request);
                moved = ended;
            } else {
                advance(request);
            }
        } catch (StorageException failure) {
            request.failure = failure;
            ended = true;
            if (FailureRule.of(failure) == FailureRule.STORE) {
                core.health().fail(failure);
            }
        } finally {
            if (ended) {
                request.counts = request.counts.plus(request.shared.takeCounts());
                request.letGo();
                request.done = true;
                afterGiveBack.run();
                core.tasks().signal();
            } else {
                waiting.add(request);
            }
        }
        return moved;
    }

    private void advance(Request request) {
        Repair current = request.current;
        if (current != null && current.advance(STEP_ENTRIES)) {
            request.counts = request.counts.plus(current.counts());
            RepairMeter.of(core.meters()).add(current.counts());
            core.events()
                    .repaired(
                            request.partition.name(),
                            current.index(),
                            request.cause.label(),
                            current.counts());
            current.close();
            request.current = null;
            afterGiveBack.run();
        }
    }

    /**
     * Starts on a component that is not checked far enough; false if there is none that is free.
     */
    private boolean startNext(Request request) {
        Version pinned = request.partition.pinUnlessDropped();
        if (pinned == null) {
            return false;
        }
        try {
            if (!request.cause.holds().getAsBoolean()) {
                request.isGivenUp = true;
                return false;
            }
            IndexSchema index = pinned.schema().index(request.tree);
            long reach = request.shared.keyTrees().reach();
            for (ComponentHandle handle : unchecked(pinned, request.tree, reach)) {
                if (index != null && request.current == null) {
                    request.current = Repair.start(
                            request.partition, index, handle, request.shared, request.options);
                }
            }
            return request.current != null;
        } finally {
            pinned.unpin();
        }
    }

    private static boolean isDone(Request request) {
        if (request.isGivenUp) {
            return true;
        }
        Version pinned = request.partition.pinUnlessDropped();
        if (pinned == null) {
            return true;
        }
        try {
            long reach = request.shared.keyTrees().reach();
            return unchecked(pinned, request.tree, reach).isEmpty();
        } finally {
            pinned.unpin();
        }
    }

    /** The components of an index that are not checked that far. */
    static List<ComponentHandle> unchecked(Version pinned, TreeId tree, long reach) {
        if (!pinned.hasTree(tree)) {
            return List.of();
        }
        return pinned.tree(tree).stream()
                .filter(handle -> handle.state().repairedTimestamp() < reach
                        && !handle.isObsolete()
                        && !handle.isQuarantined())
                .toList();
    }

    /** Ends the workers after their steps; gives up what is under way. */
    @Override
    public void close() {
        new Cleanup()
                .addAll(workers, Tasks.Worker::close)
                .add(() -> new Cleanup().addAll(waiting, Request::letGo).run())
                .add(waiting::clear)
                .run();
    }
}
