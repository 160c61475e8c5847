package io.turbidite.ops.run;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;

/**
 * The rows of a job: each step brings a frame of them. <em>Confined to one thread at a time.</em>
 */
public final class JobRows implements Rows {
    private final Job job;
    private final RowSink sink;
    private final Slice bytes = new Slice();
    private final RecordView row;

    /**
     * @param sink what the job's last stage pushes into
     * @param rowType of what is pushed
     */
    public JobRows(Job job, RowSink sink, RecordType rowType) {
        this.job = job;
        this.sink = sink;
        this.row = new RecordView(rowType);
    }

    @Override
    public boolean next() {
        while (!sink.next(bytes)) {
            boolean more = job.step();
            if (!sink.hasNext() && (!more || job.isPaused())) {
                return false;
            }
        }
        row.wrap(bytes);
        return true;
    }

    @Override
    public boolean isPaused() {
        return job.isPaused();
    }

    @Override
    public RecordView row() {
        return row;
    }

    @Override
    public void close() {
        job.close();
    }
}
