package io.turbidite.core.meter;

import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The operations of a store that took longer than 99.9 % of those of their kind before them, each
 * with what its time went to; the newest 1,024.
 *
 * <p><em>Thread-safe.</em> An operation that is not slow costs one increment of a striped bucket
 * and two volatile reads: no allocation, no lock. Waits leave their time with their thread, where
 * the operation finds it if it turns out slow; who never waited has nothing there. Reads
 * by key are cheaper still: see {@link ReadTally}.
 *
 * <p>The percentile is of a histogram with eight buckets for each power of two, so it is up to an
 * eighth too high; it is computed anew each second, and what is older than a minute or so counts
 * little.
 */
public final class SlowOperations {
    /** Operations that are kept. */
    public static final int KEPT_COUNT_MAX = 1_024;

    /** What is slow while there are fewer than a thousand to compare with. */
    private static final long FIRST_NANOS = 1_000_000;

    private static final int COUNT_MIN = 1_000;
    private static final double PERCENTILE = 0.999;
    private static final long FOLD_NANOS = 1_000_000_000;

    /** What a second leaves of the seconds before: half in 44 s. */
    private static final double KEPT_SHARE = 63.0 / 64;

    private static final int STRIPE_COUNT = 8;
    private static final int SUB_BITS = 3;
    private static final int BUCKET_COUNT = 512;

    private static final long NEVER = Long.MIN_VALUE;

    /** Waits of a thread that are remembered; an operation with more shows the newest. */
    private static final int WAIT_COUNT_MAX = 64;

    /** What is compared with its like. */
    public enum Kind {
        /** A write or a batch of them. */
        WRITE,
        /** A record or a batch of them, by primary key. */
        READ;

        /** As it is told: {@code "write"}. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** What an operation may wait for. */
    public enum Cause {
        /** Another writer of its keys, or a change of schema. */
        LOCK,
        /** The log, to have it durable. */
        LOG,
        /** Room in write memory. */
        STALL,
        /** Pages that were not in the cache. */
        PAGE_READS,
        /** Merges that are behind. */
        MERGE
    }

    /**
     * One that was slow. What its waits leave of its time is its own work.
     *
     * @param wallMicros when it ended, by the wall clock
     * @param operation what it was, as {@link Kind#label} says it
     * @param thresholdNanos the percentile that it was above
     */
    public record Slow(
            long wallMicros,
            String operation,
            long nanos,
            long thresholdNanos,
            long lockNanos,
            long logNanos,
            long stallNanos,
            long pageReadNanos,
            long mergeNanos) {}

    /** The newest waits of a thread. <em>Confined to it.</em> */
    private static final class Waits {
        private final Cause[] causes = new Cause[WAIT_COUNT_MAX];
        private final long[] starts = new long[WAIT_COUNT_MAX];
        private final long[] nanos = new long[WAIT_COUNT_MAX];
        private final long[] numbers = new long[WAIT_COUNT_MAX];
        private int count;

        void add(Cause cause, long startNanos, long waitedNanos, long number) {
            int at = count++ & (WAIT_COUNT_MAX - 1);
            causes[at] = cause;
            starts[at] = startNanos;
            nanos[at] = waitedNanos;
            numbers[at] = number;
        }

        /** When the first began of those with a greater number, as far as it is remembered. */
        long startAfter(long number) {
            long start = NEVER;
            for (int i = count - 1; i >= 0 && i >= count - WAIT_COUNT_MAX; i--) {
                int at = i & (WAIT_COUNT_MAX - 1);
                if (numbers[at] <= number) {
                    break;
                }
                start = starts[at];
            }
            return start;
        }

        long nanosOf(Cause cause, long startNanos) {
            long sum = 0;
            for (int i = 0; i < WAIT_COUNT_MAX; i++) {
                if (causes[i] == cause && starts[i] - startNanos >= 0) {
                    sum += nanos[i];
                }
            }
            return sum;
        }
    }

    /** The running percentile of a kind. */
    private static final class Percentile {
        private final AtomicIntegerArray fresh =
                new AtomicIntegerArray(STRIPE_COUNT * BUCKET_COUNT);
        private final ReentrantLock foldLock = new ReentrantLock();
        private volatile long thresholdNanos = FIRST_NANOS;
        private volatile long foldedNanos;

        /** Guarded by {@link #foldLock}. */
        private final double[] counts = new double[BUCKET_COUNT];

        void count(long nanos, int count) {
            int stripe = (int) Thread.currentThread().threadId() & (STRIPE_COUNT - 1);
            fresh.getAndAdd(stripe * BUCKET_COUNT + bucketOf(nanos), count);
        }

        void foldInTime(long nowNanos) {
            if (nowNanos - foldedNanos >= FOLD_NANOS) {
                fold(nowNanos);
            }
        }

        private void fold(long nowNanos) {
            if (!foldLock.tryLock()) {
                return; // somebody does it
            }
            try {
                if (nowNanos - foldedNanos < FOLD_NANOS) {
                    return;
                }
                foldedNanos = nowNanos;
                for (int i = 0; i < BUCKET_COUNT; i++) {
                    counts[i] *= KEPT_SHARE;
                    for (int stripe = 0; stripe < STRIPE_COUNT; stripe++) {
                        counts[i] += Integer.toUnsignedLong(
                                fresh.getAndSet(stripe * BUCKET_COUNT + i, 0));
                    }
                }
                double all = Arrays.stream(counts).sum();
                if (all < COUNT_MIN) {
                    thresholdNanos = FIRST_NANOS;
                    return;
                }
                double slowest = (1 - PERCENTILE) * all;
                double seen = 0;
                for (int i = BUCKET_COUNT - 1; i >= 0; i--) {
                    seen += counts[i];
                    if (seen > slowest && counts[i] > 0) {
                        thresholdNanos = endOf(i);
                        return;
                    }
                }
            } finally {
                foldLock.unlock();
            }
        }
    }

    private static final Waits NONE = new Waits();

    /** A store's own, so that one store's waits are not another's. */
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable Waits> waits = new ThreadLocal<>();

    private final AtomicReferenceArray<@Nullable Slow> ring =
            new AtomicReferenceArray<>(KEPT_COUNT_MAX);
    private final AtomicLong keptCount = new AtomicLong();

    /** Of all threads, so that a read needs no look at its thread's if nobody has waited. */
    private final AtomicLong waitCount = new AtomicLong();

    private final EnumMap<Kind, Percentile> percentiles = new EnumMap<>(Kind.class);
    private final Percentile reads;

    /** None yet. */
    public SlowOperations() {
        for (Kind kind : Kind.values()) {
            percentiles.put(kind, new Percentile());
        }
        this.reads = percentile(Kind.READ);
    }

    private Percentile percentile(Kind kind) {
        return Objects.requireNonNull(percentiles.get(kind));
    }

    /** Those of a store. */
    public static SlowOperations of(Meters meters) {
        return meters.once(SlowOperations.class, made -> new SlowOperations());
    }

    /**
     * The calling thread has waited.
     *
     * @param startNanos by the monotonic clock
     */
    public void waited(Cause cause, long startNanos, long nanos) {
        Waits mine = waits.get();
        if (mine == null) {
            mine = new Waits();
            waits.set(mine);
        }
        mine.add(cause, startNanos, nanos, waitCount.incrementAndGet());
    }

    /** How many waits the threads have left so far: for {@link #endedRead}. */
    public long waitCount() {
        return waitCount.get();
    }

    /**
     * A read of the calling thread has ended. If it waited for nothing, it counts as one that took
     * no time, and no clock is looked at; otherwise it is timed from its first wait on.
     *
     * @param waitsBefore what {@link #waitCount} was when it began
     */
    public void endedRead(long waitsBefore, Clock clock) {
        if (!endedAfterWaits(waitsBefore, 0, clock)) {
            endedQuick(1);
        }
    }

    /**
     * As {@link #endedRead}, but one that waited for nothing is left to the caller: false.
     *
     * @param quickCount so many before it waited for nothing; told now if this one did wait
     */
    boolean endedAfterWaits(long waitsBefore, int quickCount, Clock clock) {
        if (waitCount.get() == waitsBefore) {
            return false;
        }
        Waits mine = waits.get();
        long startNanos = mine == null ? NEVER : mine.startAfter(waitsBefore);
        if (startNanos == NEVER) {
            return false;
        }
        endedQuick(quickCount);
        ended(Kind.READ, startNanos, clock.monotonicNanos(), 0, clock);
        return true;
    }

    /** So many reads have ended that waited for nothing. */
    void endedQuick(int count) {
        reads.count(0, count);
    }

    /**
     * An operation of the calling thread has ended.
     *
     * @param startNanos by the monotonic clock, as {@code endNanos}
     * @param logNanos of that spent until it was durable
     */
    public void ended(Kind kind, long startNanos, long endNanos, long logNanos, Clock clock) {
        Percentile percentile = percentile(kind);
        long nanos = Math.max(0, endNanos - startNanos);
        percentile.count(nanos, 1);
        long threshold = percentile.thresholdNanos;
        if (nanos > threshold) {
            keep(kind.label(), startNanos, nanos, logNanos, threshold, clock);
        }
        percentile.foldInTime(endNanos);
    }

    private void keep(
            String operation,
            long startNanos,
            long nanos,
            long logNanos,
            long threshold,
            Clock clock) {
        Waits mine = Objects.requireNonNullElse(waits.get(), NONE);
        Slow slow = new Slow(
                clock.wallMicros(),
                operation,
                nanos,
                threshold,
                mine.nanosOf(Cause.LOCK, startNanos),
                mine.nanosOf(Cause.LOG, startNanos) + logNanos,
                mine.nanosOf(Cause.STALL, startNanos),
                mine.nanosOf(Cause.PAGE_READS, startNanos),
                mine.nanosOf(Cause.MERGE, startNanos));
        ring.set((int) (keptCount.getAndIncrement() & (KEPT_COUNT_MAX - 1)), slow);
    }

    /** Above this an operation of a kind is slow now. */
    public long thresholdNanos(Kind kind) {
        return percentile(kind).thresholdNanos;
    }

    /** The newest that were slow, the newest first. */
    public List<Slow> newest() {
        long last = keptCount.get();
        List<Slow> found = new ArrayList<>();
        for (long i = last - 1; i >= 0 && i >= last - KEPT_COUNT_MAX; i--) {
            Slow slow = ring.get((int) (i & (KEPT_COUNT_MAX - 1)));
            if (slow != null) {
                found.add(slow);
            }
        }
        return found;
    }

    static int bucketOf(long nanos) {
        if (nanos < 1 << SUB_BITS) {
            return (int) nanos;
        }
        int shift = 63 - Long.numberOfLeadingZeros(nanos) - SUB_BITS;
        return ((shift + 1) << SUB_BITS) + ((int) (nanos >>> shift) & ((1 << SUB_BITS) - 1));
    }

    /** The largest number of a bucket. */
    static long endOf(int bucket) {
        if (bucket < 1 << SUB_BITS) {
            return bucket;
        }
        int shift = (bucket >>> SUB_BITS) - 1;
        long first = (1L << SUB_BITS) + (bucket & ((1 << SUB_BITS) - 1));
        return ((first + 1) << shift) - 1;
    }
}
