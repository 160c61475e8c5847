package io.turbidite.ops.run;

import io.turbidite.core.record.RecordView;
import io.turbidite.ops.frame.OperatorMeter;

/** Rows whose time is taken. <em>Confined to one thread at a time.</em> Owns what it reads. */
public final class TimedRows implements Rows {
    private final Rows rows;
    private final CallTimer timer;

    private TimedRows(Rows rows, CallTimer timer) {
        this.rows = rows;
        this.timer = timer;
    }

    /**
     * The same rows; where the options have a clock, with their time.
     *
     * @param meter told of the time that they take, all below them included
     */
    public static Rows of(Rows rows, RunOptions options, OperatorMeter meter) {
        CallTimer timer = CallTimer.of(options, meter);
        return timer == null ? rows : new TimedRows(rows, timer);
    }

    @Override
    public boolean next() {
        if (!timer.begin()) {
            return rows.next();
        }
        try {
            return rows.next();
        } finally {
            timer.end();
        }
    }

    @Override
    public boolean isPaused() {
        return rows.isPaused();
    }

    @Override
    public RecordView row() {
        return rows.row();
    }

    @Override
    public void close() {
        timer.tell();
        rows.close();
    }
}
