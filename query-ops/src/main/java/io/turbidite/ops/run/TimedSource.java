package io.turbidite.ops.run;

import io.turbidite.core.time.Clock;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;

import java.util.function.Function;

/**
 * A source of frames whose time is taken, without that of whoever takes the frames: each opening
 * and each step is timed, and what a frame takes to be taken is taken off. <em>Confined to one
 * thread at a time.</em> Owns the source.
 */
public final class TimedSource implements FrameSource {
    private final FrameSource source;
    private final Taker taker;
    private final Clock clock;
    private final OperatorMeter meter;

    private TimedSource(FrameSource source, Taker taker, Clock clock, OperatorMeter meter) {
        this.source = source;
        this.taker = taker;
        this.clock = clock;
        this.meter = meter;
    }

    /**
     * Makes a source; where the options have a clock, one that is timed.
     *
     * @param maker makes a source that pushes into what it is given
     * @param meter told of its time
     */
    public static FrameSource of(
            Function<FrameWriter, FrameSource> maker,
            FrameWriter target,
            RunOptions options,
            OperatorMeter meter) {
        Clock clock = options.clock();
        if (clock == null) {
            return maker.apply(target);
        }
        Taker taker = new Taker(target, clock);
        return new TimedSource(maker.apply(taker), taker, clock, meter);
    }

    @Override
    public void open() {
        long begun = clock.threadNanos();
        try {
            source.open();
        } finally {
            tell(begun);
        }
    }

    @Override
    public boolean step() {
        long begun = clock.threadNanos();
        try {
            return source.step();
        } finally {
            tell(begun);
        }
    }

    private void tell(long begun) {
        long took = clock.threadNanos() - begun - taker.nanos;
        taker.nanos = 0;
        meter.work().tookExactly(Math.max(0, took), false);
    }

    @Override
    public boolean isPaused() {
        return source.isPaused();
    }

    @Override
    public void close() {
        source.close();
    }

    /** Times what the frames of a step take to be taken. */
    private static final class Taker implements FrameWriter {
        private final FrameWriter target;
        private final Clock clock;
        private long nanos;

        Taker(FrameWriter target, Clock clock) {
            this.target = target;
            this.clock = clock;
        }

        @Override
        public void open() {
            target.open();
        }

        @Override
        public boolean frame(Frame frame) {
            long begun = clock.threadNanos();
            try {
                return target.frame(frame);
            } finally {
                nanos += clock.threadNanos() - begun;
            }
        }

        @Override
        public void fail() {
            target.fail();
        }

        @Override
        public void close() {
            target.close();
        }
    }
}
