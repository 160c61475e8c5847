package io.turbidite.hashlog.scan;

import io.turbidite.hashlog.log.ReadTimes;

/**
 * What reading from the log's device costs, learnt from the reads themselves: the threshold of
 * adaptive read-ahead (FISH19 §7.2; the release has one fixed figure for all devices).
 *
 * <p><em>Thread-safe without locks:</em> two moving averages; a lost update loses one sample.
 */
public final class DeviceProfile implements ReadTimes {
    /** The release's figure, for 150 us of latency at 900 MB/s: until there are samples. */
    static final double GAP_BYTES_DEFAULT = 138_240;

    private static final double GAP_BYTES_MIN = 4_096;
    private static final double GAP_BYTES_MAX = 4 << 20;

    /** Reads up to this size are latency, reads from the other on are throughput. */
    private static final int SMALL_BYTES = 16 << 10;

    private static final int LARGE_BYTES = 128 << 10;

    /** A new sample's weight: a burst of cached reads is forgotten after some dozens. */
    private static final double WEIGHT = 1 / 16.0;

    private volatile double smallNanos;
    private volatile double nanosPerByte;

    @Override
    public void note(int byteCount, long nanos) {
        if (byteCount <= SMALL_BYTES) {
            smallNanos = mixed(smallNanos, (double) nanos);
        } else if (byteCount >= LARGE_BYTES) {
            nanosPerByte = mixed(nanosPerByte, nanos / (double) byteCount);
        }
    }

    private static double mixed(double before, double sample) {
        return before == 0 ? sample : before + WEIGHT * (sample - before);
    }

    /**
     * Phi: how many bytes the device reads in a row in the time that one more small read takes. A
     * gap between two key pointers that is smaller is worth reading over.
     */
    public double gapBytes() {
        double latency = smallNanos;
        double pace = nanosPerByte;
        if (latency == 0 || pace == 0) {
            return GAP_BYTES_DEFAULT;
        }
        return Math.clamp(latency / pace, GAP_BYTES_MIN, GAP_BYTES_MAX);
    }
}
