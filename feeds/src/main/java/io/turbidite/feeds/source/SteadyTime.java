package io.turbidite.feeds.source;

import io.turbidite.core.time.Clock;

/**
 * The time that the wall clock told once, and what has gone by since: whoever sets the clock
 * changes nothing of it. For ages of what the wall clock has stamped. <em>Immutable.</em>
 */
public final class SteadyTime {
    private final Clock clock;
    private final long wallMicros;
    private final long startNanos;

    private SteadyTime(Clock clock) {
        this.clock = clock;
        this.wallMicros = clock.wallMicros();
        this.startNanos = clock.monotonicNanos();
    }

    /** From now on. */
    public static SteadyTime of(Clock clock) {
        return new SteadyTime(clock);
    }

    /** Microseconds since 1970-01-01T00:00:00Z, if the wall clock was right then. */
    public long micros() {
        return wallMicros + (clock.monotonicNanos() - startNanos) / 1_000;
    }

    /**
     * How old at least a stamp of the wall clock is, if that was set at most once since: the stamp
     * may be of before or behind it.
     */
    public long ageMicros(long stampMicros) {
        return Math.min(micros(), clock.wallMicros()) - stampMicros;
    }

    /** Where the time comes from. */
    public Clock clock() {
        return clock;
    }
}
