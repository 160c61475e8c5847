package io.turbidite.hashlog;

import io.turbidite.core.ClosedException;
import io.turbidite.core.StorageException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.recovery.Checkpoints;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Writes index checkpoints: on request, and whenever the log has grown by so many bytes.
 *
 * <em>Thread-safe;</em> one at a time. A failed checkpoint is counted, reported as an event and
 * tried again later: a checkpoint saves work at recovery, and nothing depends on it.
 */
final class AutoCheckpoint implements AutoCloseable {
    private static final long IDLE_MICROS = 100_000;
    private static final long RETRY_MICROS = 5_000_000;

    /**
     * A large table is written more rarely: at most one byte of it for so many bytes of the log.
     */
    private static final int LOG_SHARE = 4;

    /**
     * A clean close writes a checkpoint if this share of the interval has passed, so that the next
     * opening is quick.
     */
    private static final int CLOSE_SHARE = 8;

    private final LogSite site;
    private final HybridLog log;
    private final Checkpoints checkpoints;
    private final Checkpoints.Source source;
    private final long bytesBetween;
    private final Counter count;
    private final Counter failures;
    private final Counter bytes;
    private final AtomicBoolean writing = new AtomicBoolean();
    private final Tasks.Worker worker;
    private volatile long lastFrom;
    private volatile long lastBytes;
    private volatile long retryNanos = Long.MIN_VALUE;

    /**
     * Starts the worker that writes them.
     *
     * @param opened on a disk
     */
    AutoCheckpoint(OpenedLog opened, Checkpoints.Source source, long bytesBetween) {
        this.log = opened.log();
        this.site = log.site();
        Disk disk = Objects.requireNonNull(site.disk());
        this.source = source;
        this.bytesBetween = bytesBetween;
        this.lastFrom = opened.replayedFrom();
        this.checkpoints =
                new Checkpoints(disk, site.directory(), opened.registry().logId());
        Meters meters = site.meters().scope("log", site.name());
        this.count = meters.counter("hashlog.checkpoint.count");
        this.failures = meters.counter("hashlog.checkpoint.failures");
        this.bytes = meters.counter("hashlog.checkpoint.bytes");
        this.worker = site.tasks().start("hashlog-checkpoint", IDLE_MICROS, this::step);
    }

    /**
     * Writes a checkpoint and returns its address; a recovery would replay from there.
     *
     * @return -1 if the table grew again and again meanwhile
     */
    long write() {
        boolean[] taken = {false};
        site.tasks().await(() -> {
            taken[0] = writing.compareAndSet(false, true);
            return taken[0] || log.isEnding();
        });
        if (!taken[0]) {
            log.checkUsable();
        }
        try {
            Checkpoints.@Nullable Written written = checkpoints.write(log, source);
            if (written == null) {
                return -1;
            }
            lastFrom = written.from();
            lastBytes = written.byteCount();
            count.increment();
            bytes.add(written.byteCount());
            return written.from();
        } finally {
            writing.set(false);
            site.tasks().signal();
        }
    }

    private boolean step() {
        long interval = Math.max(bytesBetween, LOG_SHARE * lastBytes);
        // one that somebody asked for is as good: a second one behind it would say the same
        if (!writing.get()
                && log.tail() - lastFrom >= interval
                && site.clock().monotonicNanos() >= retryNanos
                && !log.isFailed()) {
            tryToWrite();
        }
        return false;
    }

    private void tryToWrite() {
        try {
            if (write() >= 0) {
                return;
            }
        } catch (ClosedException closing) {
            return; // it is made as the log is closed
        } catch (StorageException e) {
            failures.increment();
            site.events()
                    .publish(new StoreEvent.Failed(
                            site.clock().wallMicros(),
                            "index checkpoint of log " + site.name(),
                            e));
        }
        retryNanos = site.clock().monotonicNanos() + RETRY_MICROS * 1_000;
    }

    /** Ends the automatic checkpoints, perhaps with a last one. */
    @Override
    public void close() {
        worker.close();
        if (!log.isFailed()
                && !log.isHurried()
                && (log.tail() - lastFrom) / 2 >= bytesBetween / CLOSE_SHARE / 2) {
            tryToWrite();
        }
    }
}
