package io.turbidite.core.meter;

import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * How long something takes: how often and how long in all since the start, and the percentiles of
 * the last minute.
 *
 * <p>The minute slides by parts of ten seconds: five whole ones and the one that is under way. Each
 * part counts its times in buckets of their own, 64 for each power of two of nanoseconds, so a
 * percentile is within 0.8 % of a time that was recorded. A part is made when its first time is
 * recorded, with 10 KiB; a latency at rest has none.
 *
 * <p><em>Thread-safe, without a lock</em>: recording is a few atomic additions and one look at the
 * clock, for flushes, syncs and page loads; who has looked at the clock anyway, as a write has,
 * spares the look. A time that is recorded just when its part ends may count in the next one.
 */
public final class Latency implements Instrument {
    /** How far back percentiles look, in seconds. */
    public static final int WINDOW_SECONDS = 60;

    private static final int PART_COUNT = 6;
    private static final long PART_NANOS = TimeUnit.SECONDS.toNanos(WINDOW_SECONDS) / PART_COUNT;

    /** One hour; longer times count as that. */
    private static final long NANOS_MAX = TimeUnit.HOURS.toNanos(1);

    private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final String name;
    private final Map<String, String> tags;
    private final Clock clock;
    private final LongAdder count = new LongAdder();
    private final LongAdder nanosSum = new LongAdder();

    /** That of period {@code p} is at {@code p} modulo their count. */
    private final AtomicReferenceArray<Part> parts = new AtomicReferenceArray<>(PART_COUNT);

    private volatile @Nullable Seen seen;

    Latency(String name, Map<String, String> tags, Clock clock) {
        this.name = name;
        this.tags = tags;
        this.clock = clock;
    }

    /** Counts one that took {@code nanos}; a clock that went backwards counts as 0. */
    public void record(long nanos) {
        record(nanos, clock.monotonicNanos());
    }

    /**
     * As {@link #record(long)}, for who has just looked at the clock.
     *
     * @param nowNanos by the monotonic clock of the meters
     */
    public void record(long nanos, long nowNanos) {
        long bounded = Math.clamp(nanos, 0, NANOS_MAX);
        count.increment();
        nanosSum.add(bounded);
        part(Math.floorDiv(nowNanos, PART_NANOS)).add(bounded);
    }

    private Part part(long period) {
        int slot = (int) Math.floorMod(period, (long) PART_COUNT);
        Part there = parts.get(slot);
        while (there == null || there.period < period) {
            Part fresh = new Part(period);
            if (parts.compareAndSet(slot, there, fresh)) {
                return fresh;
            }
            there = parts.get(slot);
        }
        return there;
    }

    private long period() {
        return Math.floorDiv(clock.monotonicNanos(), PART_NANOS);
    }

    /** How many were recorded so far. */
    public long count() {
        return count.sum();
    }

    /** All times so far together, in nanoseconds. */
    public long nanosSum() {
        return nanosSum.sum();
    }

    /**
     * A summary that is at most 100 ms old: for who asks for several figures one after another, as
     * a scrape does.
     */
    Summary freshSummary() {
        long now = clock.monotonicNanos();
        Seen before = seen;
        if (before == null || now - before.atNanos > FRESH_NANOS) {
            before = new Seen(summary(), now);
            seen = before;
        }
        return before.summary;
    }

    private record Seen(Summary summary, long atNanos) {}

    /** What was recorded. */
    public Summary summary() {
        long period = period();
        long[] counts = new long[Buckets.COUNT];
        long recent = 0;
        long max = 0;
        for (int i = 0; i < PART_COUNT; i++) {
            Part part = parts.get(i);
            if (part != null && period - part.period < PART_COUNT) {
                recent += part.addTo(counts);
                max = Math.max(max, part.nanosMax.get());
            }
        }
        return new Summary(
                count(),
                nanosSum(),
                recent,
                Buckets.percentile(counts, recent, max, 0.5),
                Buckets.percentile(counts, recent, max, 0.99),
                Buckets.percentile(counts, recent, max, 0.999),
                max);
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
     * A latency's figures.
     *
     * @param count since the start
     * @param nanosSum all times since the start together
     * @param recentCount those of the last {@value Latency#WINDOW_SECONDS} seconds, of which the
     *     following figures are; they are 0 if there were none
     * @param p50Nanos half were faster, within 0.8 %; the others likewise
     * @param maxNanos the longest
     */
    public record Summary(
            long count,
            long nanosSum,
            long recentCount,
            long p50Nanos,
            long p99Nanos,
            long p999Nanos,
            long maxNanos) {}

    /** The times of ten seconds. */
    private static final class Part {
        private final long period;
        private final AtomicIntegerArray counts = new AtomicIntegerArray(Buckets.COUNT);
        private final LongAccumulator nanosMax = new LongAccumulator(Math::max, 0);

        Part(long period) {
            this.period = period;
        }

        void add(long nanos) {
            nanosMax.accumulate(nanos); // first: who reads looks at no bucket above it
            counts.getAndIncrement(Buckets.of(nanos));
        }

        /** How many it has added. */
        long addTo(long[] sums) {
            long all = 0;
            int end = Buckets.of(nanosMax.get()) + 1;
            for (int i = 0; i < end; i++) {
                int here = counts.getPlain(i);
                sums[i] += here;
                all += here;
            }
            return all;
        }
    }

    /** Times below 128 ns have a bucket each, those above one of 64 for their power of two. */
    private static final class Buckets {
        private static final int SUB_BITS = 6;
        private static final int COUNT = of(NANOS_MAX) + 1;

        static int of(long nanos) {
            int shift = Math.max(0, 63 - SUB_BITS - Long.numberOfLeadingZeros(nanos));
            return (shift << SUB_BITS) + (int) (nanos >>> shift);
        }

        /** The middle of a bucket. */
        static long nanos(int bucket) {
            int shift = Math.max(0, (bucket >>> SUB_BITS) - 1);
            long lowest = (long) (bucket - (shift << SUB_BITS)) << shift;
            return lowest + ((1L << shift) >>> 1);
        }

        static long percentile(long[] counts, long all, long max, double part) {
            if (all == 0) {
                return 0;
            }
            long left = Math.max(1, (long) Math.ceil(part * all));
            int bucket = 0;
            while (left > counts[bucket]) {
                left -= counts[bucket];
                bucket++;
            }
            return Math.min(nanos(bucket), max);
        }
    }
}
