package io.turbidite.lsm.schedule;

import io.turbidite.core.time.Clock;
import io.turbidite.core.time.Pacer;

import java.util.function.LongSupplier;

/**
 * Keeps background work out of the way of commits: how fast merges, and flushes that have time, may
 * write follows how long the log's syncs take.
 *
 * <p>A commit that syncs waits for the device behind what merges have given it; at full speed that
 * made the slowest thousandth of commits some hundred milliseconds. So the rate falls by a third
 * whenever a sync in the last {@value #LOOK_NANOS} ns took longer than {@value #SYNC_NANOS_AIM} ns,
 * and rises slowly while all are fast, quickly while there are none: additive or multiplicative
 * steps as in congestion control, where nobody knows the device's capacity either. It never falls
 * below {@value #BYTES_PER_SECOND_MIN} bytes a second: if that is less than writers need, their
 * pace follows the backlog.
 *
 * <p>What is written is also made durable in small pieces while commits wait: a sync is behind what
 * the device has been given before it, which is a piece.
 *
 * <p>Without {@link io.turbidite.core.log.Durability#SYNC} no commit waits, and merges run free.
 *
 * <p><em>Thread-safe.</em>
 */
public final class MergePace {
    static final long SYNC_NANOS_AIM = 5_000_000;
    static final long LOOK_NANOS = 20_000_000;
    static final long BYTES_PER_SECOND_MIN = 16 << 20;
    static final long BYTES_PER_SECOND_MAX = 4L << 30;

    /**
     * Made durable at once while commits wait. With pieces of 4 MiB a sync beside them took 3 ms in
     * the median, with 1 MiB 1.3, with 512 KiB 0.65; the bytes a second were a third with either.
     */
    static final long PIECE_BYTES = 512 << 10;

    private static final double SLOWER = 0.67;
    private static final double FASTER = 1.03;
    private static final double FASTER_ALONE = 1.25;

    /** Saved up while a worker sleeps, which is 20 ms at a time. */
    private static final long CREDIT_NANOS = 25_000_000;

    private final Clock clock;
    private final LongSupplier slowestSyncNanos;
    private final Pacer pacer;
    private double bytesPerSecond = BYTES_PER_SECOND_MAX;
    private long lookedNanos;
    private volatile boolean commitsWait;

    /**
     * @param slowestSyncNanos the longest that a commit's sync has taken since this was last asked;
     *     0 if there was none
     */
    public MergePace(Clock clock, LongSupplier slowestSyncNanos) {
        this.clock = clock;
        this.slowestSyncNanos = slowestSyncNanos;
        this.pacer = new Pacer(clock, CREDIT_NANOS);
        this.lookedNanos = clock.monotonicNanos();
    }

    /**
     * How much may be written before it is made durable.
     *
     * @param bytesMax while no commit waits for the device; 0 for no limit, which is kept
     */
    public long pieceBytes(long bytesMax) {
        return commitsWait ? Math.min(bytesMax, PIECE_BYTES) : bytesMax;
    }

    /** Whether a merge, or a flush that has time, may write now. */
    public boolean mayGo() {
        look();
        return pacer.waitNanos() <= 0;
    }

    /** Counts bytes that were written. */
    public void charge(long bytes) {
        double rate;
        synchronized (this) {
            rate = bytesPerSecond;
        }
        pacer.charge((long) (bytes * 1e9 / rate), Long.MAX_VALUE / 4);
    }

    /** The rate of the moment. */
    public synchronized long bytesPerSecond() {
        return (long) bytesPerSecond;
    }

    private synchronized void look() {
        long now = clock.monotonicNanos();
        if (now - lookedNanos < LOOK_NANOS) {
            return;
        }
        lookedNanos = now;
        long slowest = slowestSyncNanos.getAsLong();
        commitsWait = slowest > 0;
        double step = slowest == 0 ? FASTER_ALONE : slowest > SYNC_NANOS_AIM ? SLOWER : FASTER;
        bytesPerSecond =
                Math.clamp(bytesPerSecond * step, BYTES_PER_SECOND_MIN, BYTES_PER_SECOND_MAX);
    }
}
