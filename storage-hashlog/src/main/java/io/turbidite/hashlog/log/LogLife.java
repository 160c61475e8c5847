package io.turbidite.hashlog.log;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.file.Disk;

import org.jspecify.annotations.Nullable;

/**
 * Whether a log may be used: it was opened for that, its directory is still its own, nothing failed
 * that only reopening mends, and nobody closes it.
 *
 * <p><em>Thread-safe.</em>
 */
final class LogLife {
    private final LogSite site;
    private final boolean readOnly;
    private volatile Disk.@Nullable Lock lock;
    private volatile @Nullable RuntimeException failure;
    private volatile long waitsEndNanos = Long.MAX_VALUE;

    /** Waits end with {@link ClosedException}; closing goes on when they all have ended. */
    private volatile boolean waitsEnd;

    private volatile boolean closed;

    LogLife(LogSite site, boolean readOnly) {
        this.site = site;
        this.readOnly = readOnly;
    }

    /** {@link HybridLog#begin(Disk.Lock)}. */
    void begin(Disk.@Nullable Lock held) {
        lock = held;
    }

    /** {@link HybridLog#checkLock()}. */
    void checkLock() {
        Disk.Lock held = lock;
        if (held != null && !readOnly && !held.isInPlace()) {
            StoreFailedException gone = new StoreFailedException(
                    "the file LOCK of %s was deleted or replaced while the log was open, so that another process may have opened it; close this one, and delete that file never"
                            .formatted(site.where()),
                    null);
            fail(gone);
            throw gone;
        }
    }

    boolean isReadOnly() {
        return readOnly;
    }

    /** {@link HybridLog#checkWritable()}. */
    void checkWritable() {
        if (readOnly) {
            throw new InvalidRequestException(
                    "log %s is open for reading: open it for writing".formatted(site.name()));
        }
        checkUsable();
    }

    /** {@link HybridLog#checkUsable()}. */
    void checkUsable() {
        checkUnfailed();
        if (isEnding()) {
            throw new ClosedException("log " + site.name());
        }
    }

    // ---- failure --------------------------------------------------------------------------------

    /** {@link HybridLog#fail(RuntimeException)}. */
    void fail(RuntimeException cause) {
        if (failure == null) {
            failure = cause;
        }
        site.tasks().signal();
    }

    boolean isFailed() {
        return failure != null;
    }

    /** {@link HybridLog#checkUnfailed()}. */
    void checkUnfailed() {
        RuntimeException cause = failure;
        if (cause != null) {
            throw new StoreFailedException(
                    "log %s takes no records: %s; reopen it"
                            .formatted(site.name(), cause.getMessage()),
                    cause);
        }
    }

    // ---- its end --------------------------------------------------------------------------------

    /** {@link HybridLog#endWaitsWithin}. */
    void endWaitsWithin(long micros) {
        waitsEndNanos = site.clock().monotonicNanos() + micros * 1_000;
        site.tasks().signal();
    }

    long waitsEndNanos() {
        return waitsEndNanos;
    }

    boolean isHurried() {
        return waitsEndNanos != Long.MAX_VALUE;
    }

    void endWaits() {
        waitsEnd = true;
        site.tasks().signal();
    }

    void allowWaits() {
        waitsEnd = false;
    }

    boolean isEnding() {
        return closed || waitsEnd;
    }

    void close() {
        closed = true;
    }

    boolean isClosed() {
        return closed;
    }
}
