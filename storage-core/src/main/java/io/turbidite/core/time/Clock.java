package io.turbidite.core.time;

/**
 * Time as an argument. Order never comes from a clock (D2); this is for people, timeouts and
 * retention.
 *
 * <p><em>Thread-safe.</em>
 */
public interface Clock {
    /** Microseconds since 1970-01-01T00:00:00Z; may jump. */
    long wallMicros();

    /** Nanoseconds from an arbitrary origin; never runs backwards. */
    long monotonicNanos();

    /**
     * Nanoseconds of processor time that the calling thread has had; of one that can't tell, {@link
     * #monotonicNanos}.
     */
    default long threadNanos() {
        return monotonicNanos();
    }

    /** The operating system's clocks. */
    static Clock system() {
        return SystemClock.INSTANCE;
    }
}
