package io.turbidite.hashlog.log;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

/**
 * Makes written pages durable while the flusher writes the next ones: the device is waited for by
 * this worker, and checksums and copies into the page cache go on meanwhile.
 *
 * <p>After a failed sync the pages may be gone, and the next sync not know: what was asked for
 * before is asked for no more, so that the flusher has to write it again.
 *
 * <p><em>Confined:</em> {@link #request} and {@link #synced} are the flusher's, the step is its
 * worker's. The flusher's release of {@code wanted} publishes what it wrote, the worker's of
 * {@code synced} that it is durable.
 */
final class PageSyncs implements AutoCloseable {
    private static final long IDLE_MICROS = 100_000;

    private final HybridLog log;
    private final SegmentFiles files;
    private final Runnable onSynced;
    private final Tasks.Worker worker;
    private volatile long wanted;
    private volatile long synced;
    private volatile @Nullable StorageIoException failure;

    /**
     * @param onSynced called when there is something new to ask {@link #synced} for
     */
    PageSyncs(HybridLog log, SegmentFiles files, Runnable onSynced) {
        this.log = log;
        this.files = files;
        this.onSynced = onSynced;
        this.worker = log.site().tasks().start("hashlog-sync", IDLE_MICROS, this::step);
    }

    /** Pages below {@code page} were written, and are to be durable. */
    void request(long page) {
        wanted = page;
        worker.wake();
    }

    /**
     * Pages below it are durable.
     *
     * @throws StorageIoException once, if the last sync failed: pages that are not synced are to be
     *     written again, then another {@link #request} tries again
     */
    long synced() {
        StorageIoException failed = failure;
        if (failed != null) {
            wanted = synced;
            failure = null;
            throw failed;
        }
        return synced;
    }

    private boolean step() {
        long to = wanted;
        long from = log.shape().pageOf(log.durable());
        if (failure != null || log.isFailed()) {
            return false;
        }
        try {
            // with each sync that of the note of the one before, and within the idle time the last
            files.syncNotes();
            if (to <= synced) {
                return false;
            }
            files.sync(from, to - 1);
            synced = to;
        } catch (StorageIoException e) {
            failure = e;
        }
        onSynced.run();
        return false;
    }

    @Override
    public void close() {
        worker.close();
    }
}
