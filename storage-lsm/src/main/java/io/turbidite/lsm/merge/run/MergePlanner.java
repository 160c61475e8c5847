package io.turbidite.lsm.merge.run;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.lsm.flush.WriterThrottle;
import io.turbidite.lsm.partition.MergeHooks;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Starts merges: first what was asked for, then what readers have met damage in, then what policies
 * want, as far as there are places in the queue and space on disk.
 *
 * <p><em>Thread-safe.</em> One plans at a time; whoever comes meanwhile has nothing to do.
 */
final class MergePlanner {
    /** Paused merges beside those that the workers advance; each holds read-ahead buffers. */
    private static final int PAUSED_COUNT_MAX = 4;

    private final PartitionRegistry partitions;
    private final StoreCore core;
    private final BackgroundOptions options;
    private final WriterThrottle throttle;
    private final MergeHooks.Factory hooks;
    private final long reservedBytes;
    private final RunQueue<Merge> queue;
    private final MergeRequests requests;
    private final MergeFailures failures;
    private final Runnable wake;
    private final ReentrantLock planning = new ReentrantLock();

    /** Partitions that are to be merged for their garbage, and why. */
    private final Map<Partition, String> garbageCauses = new ConcurrentHashMap<>();

    /** The count of installs that the last plan has seen; under {@link #planning}. */
    private volatile long plannedInstalls = -1;

    /** Where the turn of those that wish to start is; under {@link #planning}. */
    private long lastStarted = -1;

    /** Something that a plan looks at has changed, beside versions. */
    private volatile boolean isStale = true;

    /**
     * What merges are started under.
     *
     * @param reservedBytes are kept free on disk
     * @param wake runs when a merge was added to the queue
     */
    record Conditions(
            BackgroundOptions options,
            WriterThrottle throttle,
            MergeHooks.Factory hooks,
            long reservedBytes,
            Runnable wake) {}

    MergePlanner(
            PartitionRegistry partitions,
            RunQueue<Merge> queue,
            MergeRequests requests,
            MergeFailures failures,
            Conditions conditions) {
        this.partitions = partitions;
        this.core = partitions.core();
        this.queue = queue;
        this.requests = requests;
        this.failures = failures;
        this.options = conditions.options;
        this.throttle = conditions.throttle;
        this.hooks = conditions.hooks;
        this.reservedBytes = conditions.reservedBytes;
        this.wake = conditions.wake;
    }

    /** The next plan looks at everything. */
    void noteChange() {
        isStale = true;
    }

    /**
     * Has a partition merged for its garbage as soon as its policy wants no merge of it.
     *
     * @return whether that is new
     */
    boolean takeGarbage(Partition partition, String cause) {
        return garbageCauses.putIfAbsent(partition, cause) == null;
    }

    /** Whether a plan would find nothing until somebody tells of a change. */
    boolean isSettled() {
        return !isStale
                && core.account().installCount() == plannedInstalls
                && !failures.isFailing()
                && failures.held().isEmpty()
                && core.quarantine().suspects().isEmpty();
    }

    /** Starts what is wanted and has a place; measures how far merges are behind. */
    void plan() {
        if (!planning.tryLock()) {
            return;
        }
        try {
            if (isSettled()) {
                return;
            }
            isStale = false;
            long installs = core.account().installCount();
            if (installs != plannedInstalls) {
                plannedInstalls = installs;
                DebtWatch.measure(partitions, throttle);
            }
            failures.forgetMerged();
            if (failures.mayStart()) {
                core.quarantine().note();
                startRequested();
                startSuspected();
                startWanted();
            }
        } catch (StorageException failure) {
            failures.failPlan(failure);
        } finally {
            planning.unlock();
        }
    }

    private void startRequested() {
        for (MergeRequests.Request request : requests.all()) {
            if (isMerging(request.partition)) {
                continue;
            }
            Version pinned = request.partition.pinUnlessDropped();
            if (pinned == null) {
                requests.finish(request, null);
                continue;
            }
            try {
                MergePlan plan = request.next.apply(pinned);
                if (plan == null) {
                    requests.finish(request, null);
                } else {
                    start(request.partition, pinned, plan);
                }
            } catch (StorageIoException noSpace) {
                requests.finish(request, noSpace);
                throw noSpace;
            } finally {
                pinned.unpin();
            }
        }
    }

    /** Merges by themselves what readers have met damage in. */
    private void startSuspected() {
        Set<Long> suspects = core.quarantine().suspects();
        for (long fileId : List.copyOf(suspects)) {
            boolean isThere = false;
            for (Partition partition : partitions.all()) {
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
            if (plan != null && !plan.isHeld(pinned, failures.held())) {
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
            failures.holdBack(partition, plan.inputs(pinned), noSpace);
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
            for (Partition partition : partitions.all()) {
                if (!requests.isRequested(partition)) {
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
                MergeMeter.of(core.meters()).forGarbage().increment();
                core.events()
                        .mergesGarbage(
                                next.partition.name(),
                                next.partition.garbage().largestShare(),
                                String.valueOf(cause));
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
            List<MergePlan> plans = MergePlan.wanted(pinned, failures.held());
            MergePlan garbage = plans.isEmpty() ? garbagePlan(partition, pinned) : null;
            for (MergePlan plan : garbage == null ? plans : List.of(garbage)) {
                Wish wish =
                        new Wish(partition, pinned, plan, plan.inputBytes(pinned), garbage != null);
                boolean again = pinned.tryPin();
                assert again : "a pinned version can be pinned";
                wishes.add(wish);
            }
        } finally {
            pinned.unpin();
        }
    }

    /**
     * What is wanted for the garbage of a partition, of which the policy wants no merge; null if
     * nothing.
     */
    private @Nullable MergePlan garbagePlan(Partition partition, Version pinned) {
        if (!garbageCauses.containsKey(partition) || isMerging(partition)) {
            return null;
        }
        MergePlan plan = partition.garbage().isUrgent() ? MergePlan.ofGarbage(pinned) : null;
        if (plan == null) {
            garbageCauses.remove(partition);
        } else if (plan.isHeld(pinned, failures.held())) {
            return null; // its time comes
        }
        return plan;
    }

    /**
     * The first wish behind the one that was started last, in the order of partitions and trees.
     */
    private Wish nextInTurn(List<Wish> wishes) {
        for (Wish wish : wishes) {
            if (turnOf(wish) > lastStarted) {
                return wish;
            }
        }
        return wishes.getFirst();
    }

    private static long turnOf(Wish wish) {
        return ((long) wish.partition.order() << 32)
                + wish.plan.trees().getFirst().number();
    }

    private boolean start(Partition partition, Version pinned, MergePlan plan) {
        long remainingBytes =
                queue.jobs().stream().mapToLong(Merge::remainingBytes).sum();
        long needed = remainingBytes + plan.inputBytes(pinned) + reservedBytes;
        long usable = core.disk().usableBytes();
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
            isStale = true;
            return false;
        }
        queue.add(merge);
        wake.run();
        return true;
    }

    private boolean isMerging(Partition partition) {
        return queue.jobs().stream().anyMatch(merge -> merge.partition().equals(partition));
    }
}
