package io.turbidite.ops.run;

import io.turbidite.core.record.RecordView;
import io.turbidite.ops.frame.OperatorMeter;

/** Rows that are counted. <em>Confined to one thread at a time.</em> Owns what it reads. */
public final class MeteredRows implements Rows {
    private final Rows rows;
    private final OperatorMeter meter;

    /** Counts what is handed on. */
    public MeteredRows(Rows rows, OperatorMeter meter) {
        this.rows = rows;
        this.meter = meter;
    }

    @Override
    public boolean next() {
        boolean found = rows.next();
        if (found) {
            meter.add(1);
        }
        return found;
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
