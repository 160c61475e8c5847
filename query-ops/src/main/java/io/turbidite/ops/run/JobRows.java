package io.turbidite.ops.run;

import io.turbidite.core.bytes.Slice;

/** The rows of a job: each step brings a frame of them. <em>Confined to one thread at a time.</em> */
public final class JobRows implements Rows {
    private final Job job;
    private final RowSink sink;

    /**
     * @param sink what the job's last stage pushes into
     */
    public JobRows(Job job, RowSink sink) {
        this.job = job;
        this.sink = sink;
    }

    @Override
    public boolean next(Slice row) {
        while (!sink.next(row)) {
            if (!job.step() && !sink.hasNext()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        job.close();
    }
}
