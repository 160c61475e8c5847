package io.turbidite.core.sim;

import io.turbidite.core.time.Clock;

/**
 * A clock that stands still until it is moved. Wall time may jump on its own; monotonic time never
 * does. <em>Thread-safe by its monitor.</em>
 */
public final class SimClock implements Clock {
    /** 2026-01-01T00:00:00Z. */
    private static final long START_WALL_MICROS = 1_767_225_600_000_000L;

    private long monotonicNanos;
    private long wallMicros = START_WALL_MICROS;
    private boolean wallFrozen;

    @Override
    public synchronized long wallMicros() {
        return wallMicros;
    }

    @Override
    public synchronized long monotonicNanos() {
        return monotonicNanos;
    }

    /** Lets time pass, by both clocks unless wall time is frozen. */
    public synchronized void advanceMicros(long micros) {
        if (micros < 0) {
            throw new IllegalArgumentException("advance by " + micros);
        }
        monotonicNanos += micros * 1_000;
        if (!wallFrozen) {
            wallMicros += micros;
        }
    }

    /** Sets wall time forward or back, as an operator or NTP would. */
    public synchronized void jumpWallMicros(long micros) {
        wallMicros += micros;
    }

    /** Stops wall time, or lets it go on from where it is. */
    public synchronized void freezeWall(boolean frozen) {
        wallFrozen = frozen;
    }
}
