package io.turbidite.ops.job;

import io.turbidite.core.record.RecordView;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;

import org.jspecify.annotations.Nullable;

/**
 * The rows of one instance of an operator, counted; those of a source pause after each thousand, so
 * that a worker's step ends. <em>Confined to one thread at a time.</em>
 */
final class OperatorRows implements Rows {
    private static final int ROWS_A_TURN = 1_024;

    private final Rows rows;
    private final OperatorMeter meter;

    /** Null: it is no source. */
    private final StageWorker.@Nullable Turn turn;

    private int count;
    private boolean yielded;

    OperatorRows(Rows rows, OperatorMeter meter, StageWorker.@Nullable Turn turn) {
        this.rows = rows;
        this.meter = meter;
        this.turn = turn;
    }

    @Override
    public boolean next() {
        yielded = false;
        if (count == ROWS_A_TURN) {
            count();
            if (turn != null) {
                turn.pause();
                yielded = true;
                return false;
            }
        }
        if (rows.next()) {
            count++;
            return true;
        }
        count();
        return false;
    }

    private void count() {
        meter.add(count);
        count = 0;
    }

    @Override
    public boolean isPaused() {
        return yielded || rows.isPaused();
    }

    @Override
    public RecordView row() {
        return rows.row();
    }

    @Override
    public void close() {
        count();
        rows.close();
    }
}
