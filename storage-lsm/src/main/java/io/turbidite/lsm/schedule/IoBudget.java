package io.turbidite.lsm.schedule;

import io.turbidite.core.time.Clock;
import io.turbidite.core.time.Pacer;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The bytes per second that background work may write. A flush goes before merges: while one waits,
 * no merge may go.
 *
 * <p>Bytes are charged when they are written, and the next step waits until they are paid: so the
 * rate holds over any time but for one step of each worker.
 *
 * <p><em>Thread-safe.</em>
 */
public final class IoBudget {
    /** Unused budget that may be saved up. */
    private static final long CREDIT_NANOS = 100_000_000;

    private final long bytesPerSecond;
    private final @Nullable Pacer pacer;
    private final AtomicInteger flushesWaiting = new AtomicInteger();

    /**
     * @param bytesPerSecond 0 for no limit
     */
    public IoBudget(Clock clock, long bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
        this.pacer = bytesPerSecond == 0 ? null : new Pacer(clock, CREDIT_NANOS);
    }

    /** Whether there is a limit. */
    public boolean isLimited() {
        return pacer != null;
    }

    /** Counts bytes that were written, a flush's or a merge's. */
    public void charge(long bytes) {
        if (pacer != null) {
            pacer.charge((long) (bytes * 1e9 / bytesPerSecond), Long.MAX_VALUE / 4);
        }
    }

    /** Whether a flush may write. */
    public boolean flushMayGo() {
        return pacer == null || pacer.waitNanos() <= 0;
    }

    /** Whether a merge may write. */
    public boolean mergeMayGo() {
        return pacer == null || (flushesWaiting.get() == 0 && pacer.waitNanos() <= 0);
    }

    /** A flush is about to wait for its turn. */
    public void beginFlushWait() {
        flushesWaiting.incrementAndGet();
    }

    /** It no longer waits. */
    public void endFlushWait() {
        flushesWaiting.decrementAndGet();
    }
}
