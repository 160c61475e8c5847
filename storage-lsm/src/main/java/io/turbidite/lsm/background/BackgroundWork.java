package io.turbidite.lsm.background;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.task.Tasks;
import io.turbidite.lsm.flush.Flush;
import io.turbidite.lsm.flush.WriterThrottle;
import io.turbidite.lsm.merge.run.MergeWork;
import io.turbidite.lsm.partition.DirectoryWatch;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.Backoff;
import io.turbidite.lsm.schedule.FailureRule;
import io.turbidite.lsm.schedule.IoBudget;
import io.turbidite.lsm.schedule.WritePace;
import io.turbidite.lsm.schedule.WriteShares;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairOptions;
import io.turbidite.lsm.strategy.PrimaryRepair;
import io.turbidite.lsm.strategy.StrategyHooks;
import io.turbidite.lsm.strategy.bitmap.run.InvalidationBudget;
import io.turbidite.lsm.strategy.validation.LiveWork;
import io.turbidite.lsm.strategy.validation.RepairWork;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Flushes and merges in the background, and the writers' throttle.
 *
 * <p>One worker flushes; {@link MergeWork} merges, beside it and behind it: a flush of a partition
 * never waits for its merges, its I/O goes first, and merges pause while writers run out of memory.
 * A flush is due when the unflushed layers hold half to three quarters of the write memory, as late
 * as writers leave time for it (the largest goes first, so that components are large), or when the
 * log has grown to its limit (the partition that keeps the oldest record alive goes first). What a
 * failure means, {@link FailureRule} says; a partition whose flush fails alone is tried again after
 * a pause, and those of the others go on.
 *
 * <p><em>Thread-safe.</em>
 */
public final class BackgroundWork implements AutoCloseable {
    private static final long IDLE_MICROS = 20_000;
    private static final long QUIET_MICROS = 100_000;
    private static final long REST_MICROS = 1_000_000;

    /** So many looks find nobody writing before the flusher rests. */
    private static final int QUIET_LOOK_COUNT = 10;

    private static final long PAUSE_NANOS_FIRST = 100_000_000;
    private static final long PAUSE_NANOS_MAX = 2_000_000_000;

    /** Between two tries of a flush that fails alone. */
    private static final long HELD_NANOS_MAX = 10_000_000_000L;

    private final PartitionRegistry partitions;
    private final StoreCore core;
    private final long logBytesMax;
    private final long syncBytes;
    private final long flushBytesMin;
    private final WriterThrottle throttle;
    private final WriteShares.Share share;
    private final InvalidationBudget invalidations;
    private final IoBudget io;
    private final Backoff backoff;
    private final Tasks.Worker flusher;

    /** Confined to the flusher. */
    private long drawnBefore;

    private int quietLooks;

    /** Whether the flusher rests for long, and a writer is to wake it. */
    private volatile boolean flusherRests;

    private final MergeWork merges;
    private final RetentionWork retention;
    private final LiveWork lives;
    private final RepairWork repairs;
    private final GarbageWatch garbage;
    private final DirectoryWatch watch;

    /** Partitions whose flushes failed alone, until when; the flusher's. */
    private final Map<Partition, Backoff> heldBack = new HashMap<>();

    private final ConcurrentLinkedQueue<Request> flushRequests = new ConcurrentLinkedQueue<>();

    /**
     * @param writeMemoryBytes where writers stop; flushes begin at half of it or later. As much may
     *     be held besides for readers of what writers invalidate
     * @param logBytesMax log size that triggers flushes
     * @param segmentBytes space that the log wants at once
     * @param io what flushes and merges may write, those of other stores too that share it
     */
    public BackgroundWork(
            PartitionRegistry partitions,
            long writeMemoryBytes,
            long logBytesMax,
            long segmentBytes,
            BackgroundOptions options,
            IoBudget io) {
        this.partitions = partitions;
        this.core = partitions.core();
        this.logBytesMax = logBytesMax;
        this.syncBytes = options.syncBytes();
        this.flushBytesMin = writeMemoryBytes / 16;
        this.throttle = new WriterThrottle(
                core, new WritePace(writeMemoryBytes, options.backlogComponentsMax()));
        this.invalidations = new InvalidationBudget(partitions, writeMemoryBytes);
        this.io = io;
        this.share = core.account().share();
        this.backoff = new Backoff(core.clock(), PAUSE_NANOS_FIRST, PAUSE_NANOS_MAX);
        this.merges = new MergeWork(
                partitions, options, io, throttle, writeMemoryBytes, StrategyHooks::new);
        this.retention = new RetentionWork(partitions);
        // a flush, and as much log meanwhile, of which the next segment is wanted whole
        this.watch = new DirectoryWatch(core, 2 * writeMemoryBytes + segmentBytes);
        this.lives = new LiveWork(partitions);
        this.repairs = new RepairWork(
                core, merges::wake, this::lookForGarbage, this::lookRestMicros, lives::step);
        core.liveVersions().whenAsked(repairs::wake);
        this.garbage = new GarbageWatch(partitions, repairs, merges, this::flushWaits);
        core.quarantine().whenMet(merges::wake);
        repairs.start(options.mergeWorkers());
        this.flusher = core.start("flush", this::flushIdleMicros, this::flushStep);
        share.onTurn(flusher::wake);
    }

    /** Work that somebody waits for. */
    private static final class Request {
        final Partition partition;
        volatile boolean done;
        volatile @Nullable StorageException failure;

        Request(Partition partition) {
            this.partition = partition;
        }
    }

    /**
     * Returns when a write of {@code bytes} may come in; starts a flush in good time. To be called
     * before anything is held.
     *
     * @throws io.turbidite.core.StoreFailedException if the store failed while waiting
     * @throws StorageIoException if there is no room, and no space on disk to make some
     */
    public void awaitRoom(long bytes, long putBytes) {
        if (flusherRests) {
            flusherRests = false;
            flusher.wake();
        } else if (throttle.flushIsDue()) {
            flusher.wake();
        }
        throttle.awaitRoom(bytes, putBytes);
    }

    /**
     * Whether writes that invalidate entries of components must
     * {@link #awaitInvalidationRoom wait}.
     */
    public boolean isFullOfInvalidations() {
        return invalidations.isFull();
    }

    /**
     * As {@link #awaitRoom}, for what old snapshots need of the entries that a write invalidates.
     *
     * @throws StorageIoException if there is none as long as they stay
     */
    public void awaitInvalidationRoom() {
        flusher.wake();
        invalidations.await();
    }

    /**
     * Flushes what the partition holds in memory now; returns when it is on disk.
     *
     * @throws StorageException if it can't be written
     */
    public void flush(Partition partition) {
        core.health().checkWritable();
        Request request = new Request(partition);
        flushRequests.add(request);
        flusher.wake();
        core.awaitWork("a flush, which goes on,", () -> request.done);
        StorageException failure = request.failure;
        if (failure != null) {
            throw failure;
        }
        if (!request.done) {
            core.health().checkUnbroken();
        }
    }

    /** There may be something to merge that was not there before. */
    public void wakeMerges() {
        merges.wake();
    }

    /** Merges all components of each of the partition's trees into one. */
    public void mergeAll(Partition partition) {
        merges.mergeAll(partition);
    }

    /** Rewrites each component of the partition that is of an older format. */
    public void renew(Partition partition) {
        merges.renew(partition);
    }

    /**
     * Checks indexes of partitions against what was flushed of their primaries, as far as nobody
     * reads below; what is invalid is marked.
     *
     * @param indexIds of indexes that are not eager
     */
    public RepairCounts repair(
            List<Partition> partitions, List<Integer> indexIds, RepairOptions options) {
        return repairs.repair(partitions, indexIds, options);
    }

    /**
     * Repairs indexes by the records of the primary instead, in the caller's thread, for comparison
     * ({@link PrimaryRepair}).
     */
    public RepairCounts repairByRecords(List<Partition> partitions, List<Integer> indexIds) {
        core.health().checkWritable();
        RepairCounts counts = RepairCounts.NONE;
        for (Partition partition : partitions) {
            counts = counts.plus(PrimaryRepair.run(partition, indexIds));
        }
        return counts;
    }

    /** Merges that have begun and not ended. */
    public int mergeCount() {
        return merges.count();
    }

    /** How fast merges may write now, to keep out of the way of commits. */
    public long mergeBytesPerSecond() {
        return merges.pace().bytesPerSecond();
    }

    /** Bytes that merges under way have still to read. */
    public long mergeBytesLeft() {
        return merges.remainingBytes();
    }

    /** How many components the index that is most behind has more than its policy tolerates. */
    public int componentsBehind() {
        return throttle.componentsBehind();
    }

    /**
     * Nobody writes and nobody waits: the next writer wakes it, and it looks ten times before it
     * rests again. One whose write passes by just when it comes to rest does not; the next one
     * does, and if there is none, nothing is urgent.
     */
    private long flushIdleMicros() {
        long drawn = core.timestamps().lastDrawn();
        boolean isQuiet = drawn == drawnBefore
                && flushRequests.isEmpty()
                && !(throttle.flushIsDue() && share.isTurn())
                && !invalidations.isFull()
                && heldBack.isEmpty()
                && !backoff.isFailing();
        drawnBefore = drawn;
        boolean isCalled = quietLooks > QUIET_LOOK_COUNT && !flusherRests;
        quietLooks = isQuiet && !isCalled ? quietLooks + 1 : 0;
        flusherRests = quietLooks > QUIET_LOOK_COUNT;
        return flusherRests ? REST_MICROS : isQuiet ? QUIET_MICROS : IDLE_MICROS;
    }

    private boolean flushStep() {
        // a cursor that was busy when its version became old may have been idle since
        partitions.letIdleCursorsGo();
        core.timestamps().takeOldSnapshots().forEach(core.events()::snapshotOld);
        core.reaper().deleteObsolete();
        throttle.sample();
        invalidations.forget();
        Request request = flushRequests.poll();
        if (request != null) {
            serve(request, () -> flushAll(request.partition));
            return true;
        }
        Throwable broken = core.health().firstFailure();
        if (broken != null) {
            share.trouble(broken); // what it holds stays until it is closed
        }
        if (broken != null || core.health().isClosing()) {
            return false;
        }
        if (!backoff.mayTry()) {
            return false;
        }
        Due due = dueForFlush();
        if (due == null) {
            return false;
        }
        try {
            flushOnce(due.partition, due.cause);
            return true;
        } catch (StorageException failure) {
            return fail(due.partition, failure);
        }
    }

    /** Whether flushes of other partitions may go on at once. */
    private boolean fail(Partition partition, StorageException failure) {
        switch (FailureRule.of(failure)) {
            case WAIT -> pause(failure);
            case ALONE -> {
                holdBack(partition, failure);
                return true;
            }
            case STORE -> fail(failure);
        }
        return false;
    }

    private void holdBack(Partition partition, StorageException failure) {
        throttle.flushPaused(failure);
        Backoff held = heldBack.computeIfAbsent(
                partition, _ -> new Backoff(core.clock(), PAUSE_NANOS_FIRST, HELD_NANOS_MAX));
        long nanos = held.fail();
        if (nanos > 0) {
            core.pause("flush of " + partition, failure, nanos);
        }
    }

    private boolean isHeldBack(Partition partition) {
        Backoff held = heldBack.get(partition);
        return held != null && !held.mayTry();
    }

    private void flushAll(Partition partition) {
        if (partition.frozenLayer() != null) {
            flushOnce(partition, "frozen");
        }
        flushOnce(partition, "request");
    }

    private void flushOnce(Partition partition, String cause) {
        if (new Flush(partition, partitions, io, merges.pace(), syncBytes, throttle).run(cause)
                && backoff.succeed()) {
            core.events().resumed("flush");
        }
        if (heldBack.remove(partition) != null) {
            core.events().resumed("flush of " + partition);
        }
        merges.wake();
        repairs.wake(); // there may be garbage now
    }

    private void pause(StorageException cause) {
        if (cause instanceof StorageIoException) {
            DirectoryWatch.makeRoom(core);
        }
        throttle.flushPaused(cause);
        long nanos = backoff.fail();
        if (nanos > 0) {
            core.pause("flush", cause, nanos);
        }
    }

    /** What is to be flushed next, and what asks for it. */
    private record Due(Partition partition, String cause) {}

    private @Nullable Due dueForFlush() {
        heldBack.keySet().removeIf(Partition::isDropped);
        for (Partition partition : partitions.all()) {
            if (partition.frozenLayer() != null && !isHeldBack(partition)) {
                return new Due(partition, "frozen");
            }
        }
        if (throttle.flushIsDue()) {
            return dueForMemory();
        }
        return dueForLog();
    }

    /** Memory is short; where several stores share it, it may be another's turn. */
    private @Nullable Due dueForMemory() {
        if (!share.isTurn()) {
            share.wakeNext();
        } else {
            Partition largest = partitions.largest(this::mayFlush);
            // what can't go may fill the memory: small components of all others would not help
            if (largest != null
                    && (heldBack.isEmpty() || largest.currentBytes() >= flushBytesMin)) {
                return new Due(largest, "memory");
            }
            share.decline();
            share.wakeNext();
        }
        return dueForLog();
    }

    private @Nullable Due dueForLog() {
        Partition oldest = core.log().bytes() >= logBytesMax ? partitions.oldest() : null;
        return oldest != null && mayFlush(oldest) ? new Due(oldest, "log") : null;
    }

    private boolean mayFlush(Partition partition) {
        return !isHeldBack(partition);
    }

    private void lookForGarbage() {
        garbage.look();
    }

    private long lookRestMicros() {
        return garbage.restMicros();
    }

    private boolean flushWaits() {
        return throttle.flushIsDue() || partitions.all().stream().anyMatch(Partition::hasFrozen);
    }

    private void serve(Request request, Runnable work) {
        try {
            work.run();
        } catch (StorageException failure) {
            request.failure = failure;
            if (FailureRule.of(failure) != FailureRule.WAIT) {
                var _ = fail(request.partition, failure);
            }
        }
        request.done = true;
        core.tasks().signal();
    }

    private void fail(StorageException failure) {
        if (failure instanceof ClosedException && core.health().isClosing()) {
            return; // it was broken off
        }
        core.health().fail(failure);
        core.tasks().signal();
    }

    @Override
    public void close() {
        new Cleanup()
                .add(flusher::close)
                .add(retention::close)
                .add(repairs::close)
                .add(lives::close)
                .add(merges::close)
                .add(watch::close)
                .add(core.reaper()::deleteObsolete)
                .run();
    }
}
