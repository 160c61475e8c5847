package io.turbidite.core.sim;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Brings two threads to the same place within nanoseconds, again and again: for races whose window
 * a barrier that parks would miss.
 *
 * <p><em>Thread-safe.</em>
 */
public final class Meeting {
    private static final int SPINS = 10_000;

    private final AtomicInteger arrived = new AtomicInteger();

    /**
     * Returns when both are here.
     *
     * @param number of the meeting, from 1; both come to every one
     */
    public void come(int number) {
        arrived.incrementAndGet();
        for (int spins = 0; arrived.get() < 2 * number; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(1); // there may be one processor, or others want it
            }
        }
    }
}
