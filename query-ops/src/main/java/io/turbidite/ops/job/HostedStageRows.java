package io.turbidite.ops.job;

import io.turbidite.core.record.RecordView;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

/**
 * The rows of a stage that a host runs, on threads which are kept in a step as long as there is
 * something to do: where a source says that it is time to end the step, this goes on, once it has
 * looked whether the job was stopped. <em>Confined to one thread at a time.</em>
 */
final class HostedStageRows implements Rows {
    private final Rows rows;
    private final StageWorker.Turn turn;
    private final RunOptions options;

    HostedStageRows(Rows rows, StageWorker.Turn turn, RunOptions options) {
        this.rows = rows;
        this.turn = turn;
        this.options = options;
    }

    @Override
    public boolean next() {
        while (!rows.next()) {
            if (!rows.isPaused() || !turn.takePause()) {
                return false;
            }
            options.checkNotStopped();
        }
        return true;
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
        rows.close();
    }
}
