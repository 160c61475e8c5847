package io.turbidite.lsm.merge.run;

import io.turbidite.core.StorageException;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;

/**
 * Who waits for merges of all that was flushed when they asked.
 *
 * <p><em>Thread-safe.</em>
 */
final class MergeRequests {
    private final StoreCore core;
    private final Queue<Request> waiting = new ConcurrentLinkedQueue<>();

    /** A wish, and who waits for it. */
    static final class Request {
        final Partition partition;

        /** The next merge that it takes, or none when it is met. */
        final Function<Version, @Nullable MergePlan> next;

        volatile boolean done;
        volatile @Nullable StorageException failure;

        Request(Partition partition, Function<Version, @Nullable MergePlan> next) {
            this.partition = partition;
            this.next = next;
        }
    }

    MergeRequests(StoreCore core) {
        this.core = core;
    }

    /** Waits until all is merged into one that is flushed now, without what is invalid now. */
    void awaitAll(Partition partition, Runnable wake) {
        long maxTimestamp = partition.flushedTimestamp();
        Set<Long> bitmapFiles = bitmapFiles(partition, MergePlan::bitmapFiles);
        await(
                new Request(partition, pinned -> {
                    MergePlan all = MergePlan.all(pinned, maxTimestamp);
                    return all != null ? all : MergePlan.rewriting(pinned, bitmapFiles);
                }),
                wake);
    }

    /** Waits until nothing is of an older format that can be merged. */
    void awaitRenewal(Partition partition, Runnable wake) {
        await(new Request(partition, MergePlan::renewing), wake);
    }

    /**
     * Files of invalid entries, as of now.
     *
     * @param of gives those of a version
     */
    static Set<Long> bitmapFiles(Partition partition, Function<Version, Set<Long>> of) {
        Version pinned = partition.pinUnlessDropped();
        try {
            return pinned == null ? Set.of() : of.apply(pinned);
        } finally {
            if (pinned != null) {
                pinned.unpin();
            }
        }
    }

    private void await(Request request, Runnable wake) {
        waiting.add(request);
        wake.run();
        core.awaitWork("a merge, which goes on,", () -> request.done);
        StorageException failure = request.failure;
        if (failure != null) {
            throw failure;
        }
        if (!request.done) {
            core.health().checkUnbroken();
        }
    }

    Iterable<Request> all() {
        return waiting;
    }

    boolean isRequested(Partition partition) {
        return waiting.stream().anyMatch(request -> request.partition.equals(partition));
    }

    /** Says that a request is met, or why it is not. */
    void finish(Request request, @Nullable StorageException failure) {
        waiting.remove(request);
        request.failure = failure;
        request.done = true;
        core.tasks().signal();
    }

    /** A merge of the partition has failed. */
    void fail(Partition partition, StorageException failure) {
        for (Request request : waiting) {
            if (request.partition.equals(partition)) {
                finish(request, failure);
            }
        }
    }

    /** The store merges no more: says so to all. */
    void refuse() {
        for (Request request : waiting) {
            try {
                core.health().checkWritable();
            } catch (StorageException failure) {
                finish(request, failure);
            }
        }
    }
}
