package io.turbidite.core.time;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Spaces work out in time: whoever has gone pays for it in nanoseconds, and the next may go when
 * all before is paid. With a cost of {@code bytes / rate} that is a token bucket that holds no
 * tokens but the time at which it is full again (the generic cell rate algorithm of ATM networks):
 * one word of state, no refill task.
 *
 * <p><em>Thread-safe</em> by compare-and-swap. It never waits itself: the caller does, where it
 * holds nothing.
 */
public final class Pacer {
    private final Clock clock;
    private final long creditNanosMax;
    private final AtomicLong paidAtNanos;

    /**
     * @param creditNanosMax how much unused time may be saved up: the burst that may follow a pause
     */
    public Pacer(Clock clock, long creditNanosMax) {
        this.clock = clock;
        this.creditNanosMax = creditNanosMax;
        this.paidAtNanos = new AtomicLong(clock.monotonicNanos() - creditNanosMax);
    }

    /**
     * Adds the cost of work that was done or is about to be.
     *
     * @param costNanos 0 or more
     * @param debtNanosMax the debt is cut there, so that one expensive piece can't block for ever
     * @return for how long from now the next should wait; not positive if it may go
     */
    public long charge(long costNanos, long debtNanosMax) {
        while (true) {
            long now = clock.monotonicNanos();
            long before = paidAtNanos.get();
            long after = Math.max(before, now - creditNanosMax) + Math.min(costNanos, debtNanosMax);
            after = Math.min(after, now + debtNanosMax);
            if (paidAtNanos.compareAndSet(before, after)) {
                return after - now;
            }
        }
    }

    /** Nanoseconds until all before is paid; not positive if somebody may go. */
    public long waitNanos() {
        return paidAtNanos.get() - clock.monotonicNanos();
    }
}
