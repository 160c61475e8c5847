package io.turbidite.lsm.schedule;

import io.turbidite.core.time.Clock;

/**
 * When to try again what failed for want of space or handles: after a pause that doubles with each
 * failure up to a cap, so that a full disk is neither hammered nor forgotten.
 *
 * <p><em>Thread-safe</em> by its monitor.
 */
public final class Backoff {
    private final Clock clock;
    private final long firstNanos;
    private final long maxNanos;
    private long pauseNanos;
    private long againAtNanos;

    /**
     * Waits for the first time at the first try, twice as long at each further one, and never
     * longer than the most; in nanoseconds.
     */
    public Backoff(Clock clock, long firstNanos, long maxNanos) {
        this.clock = clock;
        this.firstNanos = firstNanos;
        this.maxNanos = maxNanos;
    }

    /**
     * Notes a failure. Failures during a pause (several were under way) don't prolong it.
     *
     * @return the pause that begins, in nanoseconds; 0 if one was under way
     */
    public synchronized long fail() {
        long now = clock.monotonicNanos();
        if (pauseNanos > 0 && now < againAtNanos) {
            return 0;
        }
        pauseNanos = pauseNanos == 0 ? firstNanos : Math.min(2 * pauseNanos, maxNanos);
        againAtNanos = now + pauseNanos;
        return pauseNanos;
    }

    /**
     * Notes a success.
     *
     * @return whether it ends a row of failures
     */
    public synchronized boolean succeed() {
        boolean ended = pauseNanos > 0;
        pauseNanos = 0;
        return ended;
    }

    /** Whether the last try failed. */
    public synchronized boolean isFailing() {
        return pauseNanos > 0;
    }

    /** Whether now is the time to try. */
    public synchronized boolean mayTry() {
        return pauseNanos == 0 || clock.monotonicNanos() >= againAtNanos;
    }
}
