package io.turbidite.ops.cluster;

import io.turbidite.core.record.RecordView;
import io.turbidite.ops.job.StaleJobException;
import io.turbidite.ops.run.Rows;

import java.util.function.Supplier;

/**
 * The rows of a job that is made anew, once, when a node refuses it since it was made for another
 * state of the cluster. A node refuses before it does anything, and only as long as no row has been
 * given out is the job made anew: so no row comes twice. <em>Confined to one thread at a time.</em>
 */
final class TriedRows implements Rows {
    private final RecordView row;
    private final Supplier<Rows> maker;
    private Rows rows;
    private boolean isSecond;
    private boolean hasGiven;

    /**
     * @param row on which the rows of both jobs stand
     * @param maker starts the job
     */
    TriedRows(RecordView row, Supplier<Rows> maker) {
        this.row = row;
        this.maker = maker;
        this.rows = maker.get();
    }

    @Override
    public boolean next() {
        try {
            boolean is = rows.next();
            hasGiven |= is;
            return is;
        } catch (StaleJobException e) {
            if (hasGiven || isSecond) {
                throw e;
            }
            rows.close();
            isSecond = true;
            rows = maker.get();
            return next();
        }
    }

    @Override
    public RecordView row() {
        return row;
    }

    @Override
    public void close() {
        rows.close();
    }
}
