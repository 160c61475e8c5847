package io.turbidite.lsm.partition;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Flushes and merges in the background, and the writers' throttle.
 *
 * <p>One worker flushes, one merges. A flush is due when the unflushed layers hold half of the write
 * memory (the largest goes first, so that components are large), or when the log has grown to its limit
 * (the partition that keeps the oldest record alive goes first). When the disk is full or handles run
 * out, the output is dropped and the work is tried again after a pause; any other failure fails the
 * store (D6).
 *
 * <p><em>Thread-safe.</em>
 */
public final class BackgroundWork implements AutoCloseable {
    private static final long IDLE_MICROS = 20_000;
    private static final long RETRY_NANOS = 100_000_000;

    private final Substrate substrate;
    private final long writeMemoryBytes;
    private final long logBytesMax;
    private final Tasks.Worker flusher;
    private final Tasks.Worker merger;
    private final ConcurrentLinkedQueue<Request> flushRequests = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Request> mergeRequests = new ConcurrentLinkedQueue<>();
    private volatile boolean flushPaused;
    private long flushAfterNanos;
    private long mergeAfterNanos;

    public BackgroundWork(Substrate substrate, long writeMemoryBytes, long logBytesMax) {
        this.substrate = substrate;
        this.writeMemoryBytes = writeMemoryBytes;
        this.logBytesMax = logBytesMax;
        this.flusher = substrate.tasks().start("flush", IDLE_MICROS, this::flushStep);
        this.merger = substrate.tasks().start("merge", IDLE_MICROS, this::mergeStep);
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
     * Returns when there is memory to write into; starts a flush in good time.
     *
     * @throws io.turbidite.core.StoreFailedException if the store failed while waiting
     */
    public void awaitRoom() {
        long unflushed = substrate.partitions().unflushedBytes();
        if (unflushed < writeMemoryBytes / 2) {
            return;
        }
        flusher.wake();
        if (unflushed >= writeMemoryBytes) {
            long startNanos = substrate.clock().monotonicNanos();
            substrate
                    .tasks()
                    .await(() -> substrate.partitions().unflushedBytes() < writeMemoryBytes
                            || substrate.health().firstFailure() != null
                            || substrate.health().isClosing());
            substrate.events().stalled(substrate.clock().monotonicNanos() - startNanos);
            substrate.health().checkWritable();
        }
    }

    /**
     * Flushes what the partition holds in memory now; returns when it is on disk.
     *
     * @throws StorageException if it can't be written
     */
    public void flush(Partition partition) {
        submit(flushRequests, flusher, partition);
    }

    /** Merges all components of each of the partition's trees into one. */
    public void mergeAll(Partition partition) {
        submit(mergeRequests, merger, partition);
    }

    private void submit(
            ConcurrentLinkedQueue<Request> queue, Tasks.Worker worker, Partition partition) {
        substrate.health().checkWritable();
        Request request = new Request(partition);
        queue.add(request);
        worker.wake();
        substrate.tasks().await(() -> request.done || substrate.health().isClosing());
        StorageException failure = request.failure;
        if (failure != null) {
            throw failure;
        }
        if (!request.done) {
            substrate.health().checkReadable();
        }
    }

    private boolean flushStep() {
        substrate.graveyard().dig();
        Request request = flushRequests.poll();
        if (request != null) {
            serve(request, () -> flushAll(request.partition));
            return true;
        }
        if (substrate.health().firstFailure() != null || substrate.health().isClosing()) {
            return false;
        }
        if (flushPaused && substrate.clock().monotonicNanos() < flushAfterNanos) {
            return false;
        }
        Partition due = dueForFlush();
        if (due == null) {
            return false;
        }
        try {
            new Flush(due).run();
            flushPaused = false;
            merger.wake();
            return true;
        } catch (StorageException failure) {
            if (isTransient(failure)) {
                flushPaused = true;
                flushAfterNanos = substrate.clock().monotonicNanos() + RETRY_NANOS;
                substrate.events().paused("flush", failure);
            } else {
                fail(failure);
            }
            return false;
        }
    }

    private void flushAll(Partition partition) {
        if (partition.frozenLayer() != null) {
            new Flush(partition).run();
        }
        new Flush(partition).run();
        merger.wake();
    }

    private @Nullable Partition dueForFlush() {
        for (Partition partition : substrate.partitions().all()) {
            if (partition.frozenLayer() != null) {
                return partition;
            }
        }
        if (substrate.partitions().unflushedBytes() >= writeMemoryBytes / 2) {
            return substrate.partitions().largest();
        }
        return substrate.log().bytes() >= logBytesMax ? substrate.partitions().oldest() : null;
    }

    private boolean mergeStep() {
        Request request = mergeRequests.poll();
        if (request != null) {
            serve(request, () -> {
                boolean more = true;
                while (more) {
                    more = new Merge(request.partition).runFull();
                }
            });
            return true;
        }
        if (substrate.health().firstFailure() != null
                || substrate.health().isClosing()
                || substrate.clock().monotonicNanos() < mergeAfterNanos) {
            return false;
        }
        boolean merged = false;
        try {
            for (Partition partition : substrate.partitions().all()) {
                merged |= new Merge(partition).run();
            }
        } catch (StorageException failure) {
            if (isTransient(failure)) {
                mergeAfterNanos = substrate.clock().monotonicNanos() + RETRY_NANOS;
                substrate.events().paused("merge", failure);
            } else {
                fail(failure);
            }
        }
        return merged;
    }

    private void serve(Request request, Runnable work) {
        try {
            work.run();
        } catch (StorageException failure) {
            request.failure = failure;
            if (!isTransient(failure)) {
                fail(failure);
            }
        } finally {
            request.done = true;
            substrate.tasks().signal();
        }
    }

    private void fail(StorageException failure) {
        substrate.health().fail(failure);
        substrate.tasks().signal();
    }

    /** Whether waiting may help: a full disk, no file handles. */
    private static boolean isTransient(StorageException failure) {
        return failure instanceof StorageIoException io
                && (io.kind() == StorageIoException.Kind.NO_SPACE
                        || io.kind() == StorageIoException.Kind.TOO_MANY_FILES);
    }

    @Override
    public void close() {
        flusher.close();
        merger.close();
        substrate.graveyard().dig();
    }
}
