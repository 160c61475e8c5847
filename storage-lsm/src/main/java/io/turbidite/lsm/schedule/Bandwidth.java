package io.turbidite.lsm.schedule;

/**
 * Bytes per second as measured lately: sums of bytes and of the time they took, halved whenever the
 * time reaches a window, so that what is old counts less and less.
 *
 * <p><em>Thread-safe</em> by its monitor.
 */
public final class Bandwidth {
    /** Half of what counts is from the last ten seconds of work. */
    private static final long WINDOW_NANOS = 10_000_000_000L;

    private double bytes;
    private double nanos;

    /** Written under the monitor; read by every writer that is slowed down. */
    private volatile double bytesPerSecond;

    /**
     * @param assumedBytesPerSecond what holds until something was measured
     */
    public Bandwidth(long assumedBytesPerSecond) {
        this.bytesPerSecond = assumedBytesPerSecond;
    }

    /** Notes that so many bytes took so many nanoseconds. */
    public synchronized void record(long moreBytes, long tookNanos) {
        bytes += moreBytes;
        nanos += Math.max(0, tookNanos);
        if (nanos > WINDOW_NANOS) {
            bytes /= 2;
            nanos /= 2;
        }
        // a clock that stood still has measured nothing
        if (nanos > 0 && bytes > 0) {
            bytesPerSecond = Math.max(1, bytes * 1e9 / nanos);
        }
    }

    /** At least 1. */
    public double bytesPerSecond() {
        return bytesPerSecond;
    }
}
