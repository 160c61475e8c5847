package io.turbidite.lsm.merge.run;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.task.Tasks;
import io.turbidite.lsm.flush.WriterThrottle;
import io.turbidite.lsm.merge.ComponentSize;
import io.turbidite.lsm.merge.MergeDebt;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.MergeRange;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.Substrate;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.Backoff;
import io.turbidite.lsm.schedule.DirectoryWatch;
import io.turbidite.lsm.schedule.FailureRule;
import io.turbidite.lsm.schedule.IoBudget;
import io.turbidite.lsm.schedule.MergePace;
import io.turbidite.lsm.schedule.MergeScheduler;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Merges in the background. What the policies want is started as far as there are places, and advanced by
 * the workers step by step, in the order of the {@link RunQueue}; so a merge never holds a worker for
 * long, and flushes, closing and smaller merges come in between.
 *
 * <p>A merge that finds the disk full is given up and its output deleted; new ones start after a pause,
 * and only where there is space for all that is under way and for the write memory besides: a merge must
 * not take the room that flushes and the log need.
 *
 * <p><em>Thread-safe.</em> No step waits.
 */
public final class MergeWork implements AutoCloseable {
    private static final long IDLE_MICROS = 20_000;

    /** How often a worker looks whether the I/O budget lets it go on. */
    private static final long LIMITED_IDLE_MICROS = 2_000;

    private static final long PAUSE_NANOS_FIRST = 100_000_000;
    private static final long PAUSE_NANOS_MAX = 10_000_000_000L;

    /** Paused merges beside those that the workers advance; each holds read-ahead buffers. */
    private static final int PAUSED_COUNT_MAX = 4;

    private static final long STEP_BYTES_MAX = 1 << 20;

    private final Substrate substrate;
    private final BackgroundOptions options;
    private final IoBudget io;
    private final MergePace pace;
    private final WriterThrottle throttle;
    private final MergeHooks.Factory hooks;
    private final long reservedBytes;
    private final long stepBytes;
    private final Backoff backoff;
    private final RunQueue<Merge> queue;

    /** Read by the first of them while the others are started. */
    private final List<Tasks.Worker> workers = new CopyOnWriteArrayList<>();

    private final Queue<Request> requests = new ConcurrentLinkedQueue<>();
    private final ReentrantLock planning = new ReentrantLock();

    /** Partitions that are to be merged for their garbage, and why. */
    private final Map<Partition, String> garbageCauses = new ConcurrentHashMap<>();

    /** What merges that failed alone could not read. */
    private final HeldInputs held;

    /** The count of installs that the last plan has seen; under {@link #planning}. */
    private long plannedInstalls = -1;

    /** Where the turn of those that wish to start is; under {@link #planning}. */
    private long lastStarted = -1;

    /** Something that a plan looks at has changed, beside versions. */
    private volatile boolean planIsStale = true;

    /**
     * A wish to merge all that was flushed up to a timestamp into one, without what is dead, and who waits for
     * it.
     */
    private static final class Request {
        final Partition partition;
        final long maxTimestamp;

        /** What was dead when it was asked: what is found since waits for the next time. */
        final Set<Long> deadFiles;

        volatile boolean done;
        volatile @Nullable StorageException failure;

        Request(Partition partition) {
            this.partition = partition;
            this.maxTimestamp = partition.flushedTimestamp();
            Version pinned = partition.pinUnlessDropped();
            this.deadFiles = pinned == null ? Set.of() : MergePlan.deadFiles(pinned);
            if (pinned != null) {
                pinned.unpin();
            }
        }
    }

    /**
     * @param writeMemoryBytes is kept free on disk by merges
     * @param hooks what the maintenance strategies add to merges
     */
    public MergeWork(
            Substrate substrate,
            BackgroundOptions options,
            IoBudget io,
            WriterThrottle throttle,
            long writeMemoryBytes,
            MergeHooks.Factory hooks) {
        this.substrate = substrate;
        this.options = options;
        this.io = io;
        this.pace = new MergePace(substrate.clock(), substrate.log()::takeSlowestSyncNanos);
        this.throttle = throttle;
        this.hooks = hooks;
        this.reservedBytes = writeMemoryBytes;
        this.stepBytes = Math.min(STEP_BYTES_MAX, writeMemoryBytes / 64);
        this.held = new HeldInputs(substrate.clock());
        this.backoff = new Backoff(substrate.clock(), PAUSE_NANOS_FIRST, PAUSE_NANOS_MAX);
        boolean oneAtATime = io.isLimited() && options.mergeScheduler() == MergeScheduler.GREEDY;
        this.queue =
                new RunQueue<>(options.mergeScheduler(), oneAtATime ? 1 : options.mergeWorkers());
        for (int i = 0; i < options.mergeWorkers(); i++) {
            workers.add(substrate.start(
                    "merge-" + i, io.isLimited() ? LIMITED_IDLE_MICROS : IDLE_MICROS, this::step));
        }
    }

    /** Merges all that is flushed now; returns when it is done. */
    public void mergeAll(Partition partition) {
        substrate.health().checkWritable();
        Request request = new Request(partition);
        requests.add(request);
        wake();
        substrate.awaitWork("a merge, which goes on,", () -> request.done);
        StorageException failure = request.failure;
        if (failure != null) {
            throw failure;
        }
        if (!request.done) {
            substrate.health().checkUnbroken();
        }
    }

    /**
     * Merges a partition for its garbage as soon as its policy wants no merge of it.
     *
     * @param cause for the event: {@code "idle"} or {@code "query"}
     */
    public void takeGarbage(Partition partition, String cause) {
        if (garbageCauses.putIfAbsent(partition, cause) == null) {
            wake();
        }
    }

    /** There may be something to merge. */
    public void wake() {
        planIsStale = true;
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
        Throwable failed = substrate.health().firstFailure();
        if (failed != null) {
            refuseRequests();
        }
        if (failed != null || substrate.health().isClosing()) {
            return false;
        }
        plan();
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
            if (!goesOn && backoff.succeed()) {
                throttle.mergePaused(null);
                substrate.events().resumed("merge");
            }
        } catch (StorageException failure) {
            fail(merge, failure);
        } finally {
            if (goesOn) {
                queue.giveBack(merge);
            } else {
                queue.remove(merge);
                merge.close();
                wake();
                substrate.tasks().signal();
            }
        }
    }

    /** Advances by a step and accounts for it; whether the merge is installed. */
    private boolean step(Merge merge) {
        long startNanos = substrate.clock().monotonicNanos();
        long writtenBefore = merge.writtenBytes();
        boolean installed = merge.advance(stepBytes, pace.pieceBytes(options.syncBytes()));
        long written = merge.writtenBytes() - writtenBefore;
        io.charge(written);
        pace.charge(written);
        throttle.merging(
                written,
                substrate.clock().monotonicNanos() - startNanos,
                Math.min(queue.size(), options.mergeWorkers()));
        return installed;
    }

    private void fail(Merge merge, StorageException failure) {
        switch (FailureRule.of(failure)) {
            case WAIT -> pause(failure);
            case ALONE -> failAlone(merge, failure);
            case STORE -> substrate.health().fail(failure);
        }
        for (Request request : requests) {
            if (request.partition.equals(merge.partition())) {
                finish(request, failure);
            }
        }
    }

    /**
     * What is damaged is set aside, and merges go around it (D5). Anything else may pass: a read that the system failed,
     * damage of what was just written, of a component that is set aside already and asked for what it no longer tells.
     * Merges go around that too, for a while: around the input that could not be read, or else all of the merge.
     */
    private void failAlone(Merge merge, StorageException failure) {
        if (failure instanceof CorruptionException damage
                && substrate.quarantine().take(damage)) {
            noteQuarantine();
            return;
        }
        String file = failure instanceof StorageIoException io ? io.file() : null;
        holdBack(merge.partition(), merge.inputsOf(file), failure);
    }

    private void holdBack(
            Partition partition, List<ComponentHandle> inputs, StorageException cause) {
        long nanos = held.hold(inputs);
        if (nanos > 0) {
            substrate.events().paused("merge of " + partition, cause, nanos);
        }
    }

    private void noteQuarantine() {
        try {
            substrate.quarantine().note();
        } catch (StorageException unwritten) {
            // it is set aside all the same, and noted when there is space
            failPlan(unwritten);
        }
    }

    private void failPlan(StorageException failure) {
        if (FailureRule.of(failure) == FailureRule.STORE) {
            substrate.health().fail(failure);
            substrate.tasks().signal();
        } else {
            pause(failure);
        }
    }

    private void pause(StorageException cause) {
        if (cause instanceof StorageIoException) {
            DirectoryWatch.makeRoom(substrate);
        }
        throttle.mergePaused(cause);
        long nanos = backoff.fail();
        if (nanos > 0) {
            substrate.events().paused("merge", cause, nanos);
        }
    }

    private void finish(Request request, @Nullable StorageException failure) {
        requests.remove(request);
        request.failure = failure;
        request.done = true;
        substrate.tasks().signal();
    }

    private void refuseRequests() {
        for (Request request : requests) {
            try {
                substrate.health().checkWritable();
            } catch (StorageException failure) {
                finish(request, failure);
            }
        }
    }

    /** Starts what is wanted and has a place; measures how far merges are behind. */
    private void plan() {
        if (!planning.tryLock()) {
            return;
        }
        try {
            long installs = substrate.partitions().installCount();
            if (!planIsStale
                    && installs == plannedInstalls
                    && !backoff.isFailing()
                    && held.isEmpty()
                    && substrate.quarantine().suspects().isEmpty()) {
                return;
            }
            planIsStale = false;
            if (installs != plannedInstalls) {
                plannedInstalls = installs;
                measureDebt();
            }
            forgetMerged();
            if (backoff.mayTry()) {
                substrate.quarantine().note();
                startRequested();
                startSuspected();
                startWanted();
            }
        } catch (StorageException failure) {
            failPlan(failure);
        } finally {
            planning.unlock();
        }
    }

    private void forgetMerged() {
        if (held.isEmpty()) {
            return;
        }
        Set<Long> fileIds = new HashSet<>();
        for (Partition partition : substrate.partitions().all()) {
            Version pinned = partition.pinUnlessDropped();
            if (pinned != null) {
                for (TreeId tree : pinned.schema().treeIds()) {
                    pinned.tree(tree)
                            .forEach(handle -> fileIds.add(handle.state().fileId()));
                }
                pinned.unpin();
            }
        }
        held.retain(fileIds);
    }

    private void measureDebt() {
        int behind = 0;
        for (Partition partition : substrate.partitions().all()) {
            behind = Math.max(behind, debt(partition).componentCount());
            estimateGarbage(partition);
        }
        throttle.componentsBehind(behind);
    }

    private static void estimateGarbage(Partition partition) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return;
        }
        try {
            if (!pinned.schema().deferredIndexes().isEmpty()) {
                partition.garbage().refresh(pinned);
            }
        } finally {
            pinned.unpin();
        }
    }

    /** How far the partition's index that is most behind is behind. */
    static MergeDebt debt(Partition partition) {
        MergeDebt most = MergeDebt.NONE;
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return most;
        }
        try {
            MergePolicySpec spec = pinned.schema().mergePolicy();
            for (List<TreeId> trees : MergePlan.groups(pinned.schema())) {
                List<ComponentSize> sizes = unmarked(pinned.tree(trees.getFirst()));
                MergeDebt debt = MergeDebt.NONE;
                for (MergeRange run : MergePlan.soundRuns(pinned, trees)) {
                    debt = debt.plus(MergeDebt.of(
                            spec.policy(), sizes.subList(run.firstIndex(), run.lastIndex() + 1)));
                }
                if (debt.componentCount() > most.componentCount()) {
                    most = debt;
                }
            }
        } finally {
            pinned.unpin();
        }
        return most;
    }

    private static List<ComponentSize> unmarked(List<ComponentHandle> newestFirst) {
        return newestFirst.stream().map(handle -> MergePlan.size(handle, false)).toList();
    }

    private void startRequested() {
        for (Request request : requests) {
            if (isMerging(request.partition)) {
                continue;
            }
            Version pinned = request.partition.pinUnlessDropped();
            if (pinned == null) {
                finish(request, null);
                continue;
            }
            try {
                MergePlan plan = MergePlan.all(pinned, request.maxTimestamp);
                if (plan == null) {
                    plan = MergePlan.rewriting(pinned, request.deadFiles);
                }
                if (plan == null) {
                    finish(request, null);
                } else {
                    start(request.partition, pinned, plan);
                }
            } catch (StorageIoException noSpace) {
                finish(request, noSpace);
                throw noSpace;
            } finally {
                pinned.unpin();
            }
        }
    }

    /** Merges by themselves what readers have met damage in. */
    private void startSuspected() {
        Set<Long> suspects = substrate.quarantine().suspects();
        for (long fileId : List.copyOf(suspects)) {
            boolean isThere = false;
            for (Partition partition : substrate.partitions().all()) {
                isThere |= hasOrRemakes(partition, fileId);
            }
            if (!isThere) {
                suspects.remove(fileId); // merged or dropped meanwhile
            }
        }
    }

    /** Whether the partition has the file; starts a merge of it if that is possible now. */
    private boolean hasOrRemakes(Partition partition, long fileId) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            return false;
        }
        try {
            boolean has = pinned.schema().treeIds().stream()
                    .flatMap(tree -> pinned.tree(tree).stream())
                    .anyMatch(handle -> handle.state().fileId() == fileId);
            MergePlan plan =
                    has && !isMerging(partition) ? MergePlan.remaking(pinned, fileId) : null;
            if (plan != null && !plan.isHeld(pinned, held)) {
                startOrHoldBack(partition, pinned, plan);
            }
            return has;
        } finally {
            pinned.unpin();
        }
    }

    /** What can't be merged for want of space waits alone: merges that need less go on. */
    private void startOrHoldBack(Partition partition, Version pinned, MergePlan plan) {
        try {
            start(partition, pinned, plan);
        } catch (StorageIoException noSpace) {
            holdBack(partition, plan.inputs(pinned), noSpace);
        }
    }

    private void startWanted() {
        int places = options.mergeScheduler() == MergeScheduler.FAIR
                ? options.mergeWorkers()
                : options.mergeWorkers() + PAUSED_COUNT_MAX;
        boolean more = true;
        while (more && queue.size() < places) {
            more = startOne();
        }
    }

    /** A merge that a policy wants, or garbage where no policy does; holds its version. */
    private record Wish(
            Partition partition, Version pinned, MergePlan plan, long bytes, boolean forGarbage) {}

    /** Starts one of the merges that the policies want; false if none was started. */
    private boolean startOne() {
        List<Wish> wishes = new ArrayList<>();
        try {
            for (Partition partition : substrate.partitions().all()) {
                if (!isRequested(partition)) {
                    addWishes(partition, wishes);
                }
            }
            if (wishes.isEmpty()) {
                return false;
            }
            // merges that have much garbage to take away go before all others (DEFER18's bound)
            List<Wish> urgent = wishes.stream()
                    .filter(wish -> wish.partition.garbage().isUrgent())
                    .toList();
            List<Wish> first = urgent.isEmpty() ? wishes : urgent;
            Wish next = options.mergeScheduler() == MergeScheduler.GREEDY
                    ? Collections.min(first, Comparator.comparingLong(Wish::bytes))
                    : nextInTurn(first);
            lastStarted = turnOf(next);
            boolean started = start(next.partition, next.pinned, next.plan);
            if (started && next.forGarbage) {
                String cause = garbageCauses.remove(next.partition);
                substrate.events().mergesGarbage(next.partition, String.valueOf(cause));
            }
            return started;
        } finally {
            wishes.forEach(wish -> wish.pinned.unpin());
        }
    }

    private void addWishes(Partition partition, List<Wish> wishes) {
        Version pinned = partition.pinUnlessDropped();
        if (pinned == null) {
            garbageCauses.remove(partition);
            return;
        }
        try {
            List<MergePlan> plans = MergePlan.wanted(pinned, held);
            MergePlan garbage = plans.isEmpty() ? garbagePlan(partition, pinned) : null;
            for (MergePlan plan : garbage == null ? plans : List.of(garbage)) {
                boolean again = pinned.tryPin();
                assert again : "a pinned version can be pinned";
                wishes.add(new Wish(
                        partition, pinned, plan, plan.inputBytes(pinned), garbage != null));
            }
        } finally {
            pinned.unpin();
        }
    }

    /** What is wanted for the garbage of a partition, of which the policy wants no merge; null if nothing. */
    private @Nullable MergePlan garbagePlan(Partition partition, Version pinned) {
        if (!garbageCauses.containsKey(partition) || isMerging(partition)) {
            return null;
        }
        MergePlan plan = partition.garbage().isUrgent() ? MergePlan.ofGarbage(pinned) : null;
        if (plan == null) {
            garbageCauses.remove(partition);
        } else if (plan.isHeld(pinned, held)) {
            return null; // its time comes
        }
        return plan;
    }

    /** The first wish behind the one that was started last, in the order of partitions and trees. */
    private Wish nextInTurn(List<Wish> wishes) {
        for (Wish wish : wishes) {
            if (turnOf(wish) > lastStarted) {
                return wish;
            }
        }
        return wishes.getFirst();
    }

    private static long turnOf(Wish wish) {
        return ((long) wish.partition.order() << 32) + wish.plan.trees().getFirst().number();
    }

    private boolean start(Partition partition, Version pinned, MergePlan plan) {
        long needed = remainingBytes() + plan.inputBytes(pinned) + reservedBytes;
        long usable = substrate.disk().usableBytes();
        if (usable < needed) {
            throw new StorageIoException(
                    StorageIoException.Kind.NO_SPACE,
                    "merge",
                    partition.toString(),
                    "%d bytes are free on disk, %d are needed to merge and go on"
                            .formatted(usable, needed),
                    null);
        }
        Merge merge = Merge.start(partition, pinned, plan, hooks);
        if (merge == null) {
            planIsStale = true;
            return false;
        }
        queue.add(merge);
        workers.forEach(Tasks.Worker::wake);
        return true;
    }

    private boolean isRequested(Partition partition) {
        return requests.stream().anyMatch(request -> request.partition.equals(partition));
    }

    private boolean isMerging(Partition partition) {
        return queue.jobs().stream().anyMatch(merge -> merge.partition().equals(partition));
    }

    /** Ends the workers after their steps; gives up what is under way. */
    @Override
    public void close() {
        workers.forEach(Tasks.Worker::close);
        queue.jobs().forEach(Merge::close);
    }
}
