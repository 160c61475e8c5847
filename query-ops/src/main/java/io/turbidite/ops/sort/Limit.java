package io.turbidite.ops.sort;

import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;

/**
 * Lets the first rows through and then wants no more. <em>Confined to one thread at a time.</em>
 */
public final class Limit implements FrameWriter {
    private final long limit;
    private final OperatorMeter meter;
    private final FrameWriter target;
    private long left;

    /**
     * Passes on to {@code target}.
     *
     * @param meter counts rows let through
     */
    public Limit(long limit, OperatorMeter meter, FrameWriter target) {
        this.limit = limit;
        this.meter = meter;
        this.target = target;
    }

    @Override
    public void open() {
        left = limit;
        target.open();
    }

    @Override
    public boolean frame(Frame frame) {
        if (frame.tupleCount() > left) {
            frame.truncate((int) left);
        }
        left -= frame.tupleCount();
        meter.add(frame.tupleCount());
        boolean wanted = frame.tupleCount() == 0 || target.frame(frame);
        return wanted && left > 0;
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
