package io.turbidite.ops.run;

import io.turbidite.core.time.Clock;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The processor time of a call that is made for each row. The first calls are timed, in which
 * operators read all before they answer; of the others one in {@value #INTERVAL}, on average, which
 * stands for those between: a look at a clock takes as long as a row.
 *
 * <p>Which calls these are is drawn, or callers and called would look at the clock in the same
 * ones. Short calls are timed by the clock that runs on, since asking for the time of the thread
 * takes some hundred nanoseconds; one that seems to have waited is left out.
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class CallTimer {
    private static final int FIRST_CALLS = 8;
    private static final int INTERVAL = 512;

    /** Of calls for some dozens of rows each, of which no two are alike: each is timed. */
    private static final int BATCH_INTERVAL = 1;

    /** The time of a few rows: of a short call that takes longer, others had the processor. */
    private static final long SHORT_NANOS_MAX = 20_000;

    /** What a row adds to that: some conditions go by values of hundreds of bytes. */
    private static final long ROW_NANOS_MAX = 500;

    /** Calls of this and more, on average, are timed by the thread's own time. */
    private static final long LONG_NANOS_MIN = 4_000;

    private static final int LOOKS = 16;

    /** So that no two of a query draw the same. */
    private static final AtomicLong TIMERS = new AtomicLong();

    private final Clock clock;
    private final OperatorMeter meter;
    private final int interval;

    /** What two looks at the clocks take by themselves. */
    private final long shortLookNanos;

    private final long longLookNanos;

    private long calls;
    private long untilTimed = 1;
    private long random;
    private boolean isLong = true;
    private boolean wasLeftOut;
    private long begun;
    private long firstNanos;
    private long sampledCalls;
    private long sampledNanos;
    private long told;

    private CallTimer(Clock clock, OperatorMeter meter, int interval) {
        this.clock = clock;
        this.interval = interval;
        this.meter = meter;
        this.random = TIMERS.incrementAndGet() * 0x9E3779B97F4A7C15L;
        this.shortLookNanos = lookNanos(clock::monotonicNanos);
        this.longLookNanos = lookNanos(clock::threadNanos);
    }

    private static long lookNanos(LongSupplier of) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < LOOKS; i++) {
            long before = of.getAsLong();
            least = Math.min(least, of.getAsLong() - before);
        }
        return least;
    }

    /**
     * One that tells a meter what it found; null where the options have no clock.
     *
     * @param meter of the operator that is called
     */
    public static @Nullable CallTimer of(RunOptions options, OperatorMeter meter) {
        Clock clock = options.clock();
        return clock == null ? null : new CallTimer(clock, meter, INTERVAL);
    }

    /** As {@link #of}, for calls for some dozens of rows each, all of which are timed. */
    public static @Nullable CallTimer ofBatches(RunOptions options, OperatorMeter meter) {
        Clock clock = options.clock();
        return clock == null ? null : new CallTimer(clock, meter, BATCH_INTERVAL);
    }

    /** Begins a call; says whether it is timed, so that its end must be told. */
    public boolean begin() {
        calls++;
        if (--untilTimed > 0) {
            return false;
        }
        begun = isLong ? clock.threadNanos() : clock.monotonicNanos();
        return true;
    }

    /** Ends a call that is timed, for a row or a few. */
    public void end() {
        end(0);
    }

    /**
     * Ends a call that is timed.
     *
     * @param rows that it has gone through
     */
    public void end(long rows) {
        long took = isLong
                ? clock.threadNanos() - begun - longLookNanos
                : clock.monotonicNanos() - begun - shortLookNanos;
        add(Math.max(0, took), SHORT_NANOS_MAX + rows * ROW_NANOS_MAX);
        untilTimed = calls < FIRST_CALLS ? 1 : draw();
    }

    private void add(long took, long shortNanosMax) {
        if (calls <= FIRST_CALLS) {
            firstNanos += took;
            isLong = calls < FIRST_CALLS || took >= LONG_NANOS_MIN;
            return;
        }
        if (!isLong && took > shortNanosMax) {
            // two in a row: the calls have become long
            isLong = wasLeftOut;
            wasLeftOut = true;
            return;
        }
        wasLeftOut = false;
        sampledCalls++;
        sampledNanos += took;
        isLong = sampledNanos >= LONG_NANOS_MIN * sampledCalls;
    }

    /** From 1 to twice the interval. */
    private long draw() {
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        return 1 + Long.remainderUnsigned(random, 2L * interval - 1);
    }

    /** Tells the meter what was found since it was told last. */
    public void tell() {
        long rest = Math.max(0, calls - FIRST_CALLS);
        long all = firstNanos
                + (sampledCalls == 0 ? 0 : Math.round((double) sampledNanos * rest / sampledCalls));
        meter.work().took(Math.max(0, all - told));
        told = Math.max(all, told);
    }
}
