package io.turbidite.core.log;

import io.turbidite.core.ClosedException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * How far the log is, and whether it accepts more: what producers, writer and keeper know of each
 * other.
 *
 * <p>Invariants: (1) {@code durable <= written} and both only grow. (2) Once {@code failure} is
 * set, {@code durable} never changes again. (3) Claims are admitted exactly while there is no
 * failure, no close, and room for everything that can be in flight. (4)
 * {@code vouchedDurable <= vouched <= durable}.
 *
 * <p><em>Thread-safe</em>: changes under the monitor, reads of volatile fields without.
 */
final class LogProgress {
    private final Tasks tasks;

    /** Threads in {@link #await}. */
    private final AtomicInteger waiting = new AtomicInteger();

    private volatile boolean open;
    private volatile boolean closed;
    private volatile boolean roomy;
    private volatile long written;
    private volatile long durable;
    private volatile long vouched;
    private volatile long vouchedDurable;
    private volatile long vouchWanted;
    private volatile long vouchRefused;
    private volatile @Nullable Throwable failure;
    private volatile @Nullable StorageIoException refusal;

    LogProgress(Tasks tasks, long next) {
        this.tasks = tasks;
        this.written = next;
        this.durable = next;
    }

    /**
     * Waits until {@code condition} holds; for whom {@link #signal} is meant.
     *
     * @see Tasks#await
     */
    void await(BooleanSupplier condition) {
        waiting.incrementAndGet();
        try {
            tasks.await(condition);
        } finally {
            waiting.decrementAndGet();
        }
    }

    /**
     * Waits for what the keeper does: no step of the writer is worth a wake, and a sync takes as
     * long as thousands of them.
     */
    void awaitKeeper(BooleanSupplier condition) {
        tasks.await(condition);
    }

    /** Wakes who waits, after a sync. */
    void signalSynced() {
        tasks.signal();
    }

    /**
     * Wakes who waits here, after a step of the writer. Others of the store wait for other things,
     * and most of the time somebody does: to wake them for each record would cost more than the
     * record.
     */
    void signal() {
        // pairs with the count in await: either it is seen here, or what was done before is there
        VarHandle.fullFence();
        if (waiting.get() > 0) {
            tasks.signal();
        }
    }

    /** Whether a claim may be admitted: the one read on a producer's path. */
    boolean isOpen() {
        return open;
    }

    /** Whether there is room for everything that may be in flight. */
    boolean isRoomy() {
        return roomy;
    }

    /** Every record below has been handed to the operating system. */
    long written() {
        return written;
    }

    /** Every record below has been synced. */
    long durable() {
        return durable;
    }

    /** A frame that has been written says that every record below has been synced. */
    long vouched() {
        return vouched;
    }

    /** A frame that has been synced says so. */
    long vouchedDurable() {
        return vouchedDurable;
    }

    /** Only the writer calls it. */
    void advanceVouched(long below) {
        vouched = below;
    }

    /** After a sync that returned, of all that {@link #vouched} counted before it began. */
    synchronized void advanceVouchedDurable(long below) {
        if (failure == null) {
            vouchedDurable = Math.max(vouchedDurable, below);
        }
    }

    /** Asks for a durable mark that says it of {@code below}, which has been synced. */
    synchronized void wantVouched(long below) {
        vouchWanted = Math.max(vouchWanted, below);
    }

    /** Whether somebody waits for a mark that has not been written. */
    boolean wantsMark() {
        return vouchWanted > Math.max(vouched, vouchRefused);
    }

    /** Whether somebody waits for the sync of a mark that has been written. */
    boolean wantsMarkSynced() {
        return vouchWanted > vouchedDurable && vouched >= vouchWanted;
    }

    /** There is no space for a mark of what has been synced now. Only the writer calls it. */
    void refuseMark() {
        vouchRefused = durable;
        tasks.signal();
    }

    /** Whether a mark of the present {@link #durable} was refused: the next record will do. */
    boolean markRefused() {
        return vouchRefused >= durable;
    }

    /** Whether nobody need wait for a durable mark of {@code below} any more. */
    boolean isVouchedOrNeverWill(long below) {
        return vouchedDurable >= below || vouchRefused >= below || refusing();
    }

    boolean failed() {
        return failure != null;
    }

    boolean closed() {
        return closed;
    }

    synchronized void advanceWritten(long next) {
        if (next < written) {
            throw new IllegalStateException("written goes back from " + written + " to " + next);
        }
        written = next;
    }

    /** After a sync that returned; does nothing once the log has failed (D6). */
    synchronized void advanceDurable(long next) {
        if (failure == null) {
            if (next > written) {
                throw new IllegalStateException("durable %d, written %d".formatted(next, written));
            }
            durable = Math.max(durable, next);
        }
    }

    /** Keeps the first cause and lets nothing more in. */
    void fail(Throwable cause) {
        synchronized (this) {
            if (failure == null) {
                failure = cause;
            }
            updateAdmission();
        }
        tasks.signal();
    }

    void close() {
        synchronized (this) {
            closed = true;
            updateAdmission();
        }
        tasks.signal();
    }

    void setRoomy(boolean newRoomy) {
        synchronized (this) {
            roomy = newRoomy;
            if (newRoomy) {
                refusal = null;
            }
            updateAdmission();
        }
        tasks.signal();
    }

    /** Why there is no room, if that is known: claims are refused with it instead of waiting. */
    void refuse(StorageIoException cause) {
        refusal = cause;
        tasks.signal();
    }

    /** Whether the last try to make room has failed. */
    boolean isRoomRefused() {
        return refusal != null;
    }

    /** Whether {@link #checkAccepting} would throw. */
    boolean refusing() {
        return closed || failure != null || (refusal != null && !roomy);
    }

    /** Throws what a claim must be refused with, if anything. */
    void checkAccepting() {
        checkFailure();
        if (closed) {
            throw new ClosedException("the log");
        }
        StorageIoException cause = refusal;
        if (cause != null && !roomy) {
            throw new StorageIoException(
                    cause.kind(),
                    "reserving log space",
                    "the next log segment",
                    cause.getMessage() + "; writes are accepted again when there is room",
                    cause);
        }
    }

    void checkFailure() {
        Throwable cause = failure;
        if (cause != null) {
            throw new StoreFailedException(
                    "the log has failed and accepts nothing more; reopen the store to recover: "
                            + Objects.requireNonNullElse(cause.getMessage(), cause),
                    cause);
        }
    }

    private void updateAdmission() {
        open = roomy && !closed && failure == null;
    }
}
