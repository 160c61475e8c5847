package io.turbidite.ops.run;

import io.turbidite.core.time.Clock;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

/**
 * The processor time of calls that do much at once, on the thread that reads the operator: each of
 * them is timed. <em>Confined to one thread at a time.</em>
 */
public final class BatchTimer {
    private final Clock clock;
    private final OperatorMeter meter;
    private long begun;

    private BatchTimer(Clock clock, OperatorMeter meter) {
        this.clock = clock;
        this.meter = meter;
    }

    /**
     * One that tells a meter at the end of each call; null where the options have no clock.
     *
     * @param meter of the operator that is called
     */
    public static @Nullable BatchTimer of(RunOptions options, OperatorMeter meter) {
        Clock clock = options.clock();
        return clock == null ? null : new BatchTimer(clock, meter);
    }

    /** Begins a call. */
    public void begin() {
        begun = clock.threadNanos();
    }

    /** Ends the call that was begun last. */
    public void end() {
        meter.work().tookExactly(clock.threadNanos() - begun, false);
    }
}
