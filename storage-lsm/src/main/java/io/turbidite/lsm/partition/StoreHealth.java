package io.turbidite.lsm.partition;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Whether the store is open, and whether it still takes writes (D6): the first failure is kept,
 * reads go on, only reopening recovers.
 *
 * <p><em>Thread-safe.</em>
 */
public final class StoreHealth {
    private static final String READING =
            "the store is open for reading only; open it for writing to change it";

    private final AtomicReference<@Nullable Throwable> firstFailure = new AtomicReference<>();
    private volatile boolean closing;
    private volatile boolean closed;
    private volatile boolean broken;
    private volatile boolean reading;

    /** Refuses writes from now on because of {@code cause}; later causes are ignored. */
    public void fail(Throwable cause) {
        firstFailure.compareAndSet(null, cause);
    }

    /**
     * A bug has ended some background work: what was asked of it will never be done. Writes are
     * refused from now on.
     */
    public void breakDown(String work, Throwable bug) {
        fail(new StoreFailedException(
                "the background work \"%s\" broke: %s".formatted(work, bug), bug));
        broken = true;
    }

    /** The store is read and never changed: background work does nothing, writes are refused. */
    public void beginReading() {
        reading = true;
        fail(new InvalidRequestException(READING));
    }

    public boolean isReading() {
        return reading;
    }

    /** Background work ends early, writes are refused, reads go on. */
    public void beginClose() {
        closing = true;
    }

    public boolean isClosing() {
        return closing;
    }

    public void close() {
        closing = true;
        closed = true;
    }

    public boolean isClosed() {
        return closed;
    }

    /** Whether nobody should wait for background work any more: it ends early, or it has ended. */
    public boolean isOver() {
        return closing || broken;
    }

    /**
     * Tells who has waited for background work in vain why.
     *
     * @throws ClosedException if the store was closed
     * @throws StoreFailedException if a bug has ended background work
     */
    public void checkUnbroken() {
        checkReadable();
        if (broken) {
            checkWritable();
        }
    }

    /**
     * Checks that the manifest may be changed, also while the store is being closed.
     *
     * @throws StoreFailedException with the first cause if the store failed
     * @throws InvalidRequestException if it is open for reading only
     */
    public void checkUnfailed() {
        if (reading) {
            throw new InvalidRequestException(READING);
        }
        Throwable cause = firstFailure.get();
        if (cause != null) {
            throw new StoreFailedException(
                    "the store takes no writes since a failure (%s); reopen it to recover"
                            .formatted(Objects.requireNonNullElse(cause.getMessage(), cause)),
                    cause);
        }
    }

    public @Nullable Throwable firstFailure() {
        return firstFailure.get();
    }

    /**
     * Checks that the store can be read.
     *
     * @throws ClosedException if it was closed
     */
    public void checkReadable() {
        if (closed) {
            throw new ClosedException("the store");
        }
    }

    /** Whether {@link #checkWritable} would not throw. */
    public boolean isWritable() {
        return !closing && firstFailure.get() == null;
    }

    /**
     * Checks that the store takes writes.
     *
     * @throws ClosedException if it was closed
     * @throws StoreFailedException with the first cause if it failed
     */
    public void checkWritable() {
        if (closing) {
            throw new ClosedException("the store");
        }
        checkUnfailed();
    }
}
