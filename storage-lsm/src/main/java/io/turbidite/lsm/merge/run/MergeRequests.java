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

    /**
     * A wish to merge all that was flushed up to a timestamp into one, without what is invalid, and
     * who waits for it.
     */
    static final class Request {
        final Partition partition;
        final long maxTimestamp;

        /** What was invalid when it was asked: what is found since waits for the next time. */
        final Set<Long> bitmapFiles;

        volatile boolean done;
        volatile @Nullable StorageException failure;

        /**
         * @param invalid gives the files of invalid entries of a version
         */
        Request(Partition partition, Function<Version, Set<Long>> invalid) {
            this.partition = partition;
            this.maxTimestamp = partition.flushedTimestamp();
            Version pinned = partition.pinUnlessDropped();
            try {
                this.bitmapFiles = pinned == null ? Set.of() : invalid.apply(pinned);
            } finally {
                if (pinned != null) {
                    pinned.unpin();
                }
            }
        }
    }

    MergeRequests(StoreCore core) {
        this.core = core;
    }

    /** Waits until all is merged that is flushed now. */
    void await(Partition partition, Runnable wake) {
        Request request = new Request(partition, MergePlan::bitmapFiles);
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
