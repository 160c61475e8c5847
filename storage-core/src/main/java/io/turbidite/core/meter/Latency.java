package io.turbidite.core.meter;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How long something takes: a histogram of nanoseconds with two significant digits, since the
 * start.
 *
 * <p><em>Thread-safe</em>: recording is wait-free (about 25 ns: for flushes, syncs and page loads,
 * not for every record); reading takes a lock that recorders never see.
 */
public final class Latency implements Instrument {
    /** One hour; longer times count as that. Two digits up to there take 25 KiB a histogram. */
    private static final long NANOS_MAX = 3_600_000_000_000L;

    private static final int DIGITS = 2;

    private final String name;
    private final Map<String, String> tags;
    private final Recorder recorder = new Recorder(NANOS_MAX, DIGITS);
    private final LongAdder nanosSum = new LongAdder();
    private final ReentrantLock readLock = new ReentrantLock();
    private final Histogram total = new Histogram(NANOS_MAX, DIGITS);

    /** What the recorder fills while {@link #total} is read; swapped back and forth. */
    private Histogram interval = recorder.getIntervalHistogram();

    Latency(String name, Map<String, String> tags) {
        this.name = name;
        this.tags = tags;
    }

    /** Counts one that took {@code nanos}; a clock that went backwards counts as 0. */
    public void record(long nanos) {
        long bounded = Math.clamp(nanos, 0, NANOS_MAX);
        recorder.recordValue(bounded);
        nanosSum.add(bounded);
    }

    /** What was recorded so far. */
    public Summary summary() {
        readLock.lock();
        try {
            interval = recorder.getIntervalHistogram(interval);
            total.add(interval);
            return new Summary(
                    total.getTotalCount(),
                    nanosSum.sum(),
                    total.getValueAtPercentile(50),
                    total.getValueAtPercentile(99),
                    total.getValueAtPercentile(99.9),
                    total.getMaxValue());
        } finally {
            readLock.unlock();
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Map<String, String> tags() {
        return tags;
    }

    @Override
    public String toString() {
        return name + tags + "=" + summary();
    }

    /**
     * A latency's figures; all 0 if nothing was recorded.
     *
     * @param nanosSum all times together
     * @param p50Nanos half were faster, to two significant digits; the others likewise
     */
    public record Summary(
            long count,
            long nanosSum,
            long p50Nanos,
            long p99Nanos,
            long p999Nanos,
            long maxNanos) {}
}
