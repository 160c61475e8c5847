package io.turbidite.ops.frame;

import java.util.concurrent.atomic.LongAdder;

/** Rows that an operator handed on, all its partitions together. <em>Thread-safe</em> by striping. */
public final class OperatorMeter {
    private final LongAdder rows = new LongAdder();

    /** Counts rows; called for many rows at once, not for each. */
    public void add(long rowCount) {
        rows.add(rowCount);
    }

    public long rows() {
        return rows.sum();
    }
}
