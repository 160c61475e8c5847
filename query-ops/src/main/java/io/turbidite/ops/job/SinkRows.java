package io.turbidite.ops.job;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

/**
 * Changes a dataset by all rows of its input, in batches, and then has one row that counts them.
 * Each batch is done or not, whatever happens. <em>Confined to one thread at a time.</em>
 */
final class SinkRows implements Rows {
    private static final int STOP_INTERVAL = 1_024;

    private final String operator;
    private final ChangeMaker maker;
    private final ChangeBatch batch;
    private final Input input;
    private final ChangedCounts counts;
    private final RecordWriter writer;
    private final RecordView row;
    private long taken;
    private long changed;
    private boolean paused;
    private boolean given;

    /**
     * What it reads.
     *
     * @param options what it may use, and who stops it
     */
    record Input(Rows rows, int partition, RunOptions options) {}

    /** @param operator its name */
    SinkRows(
            RecordType type,
            String operator,
            ChangeMaker maker,
            ChangeBatch batch,
            Input input,
            ChangedCounts counts) {
        this.operator = operator;
        this.maker = maker;
        this.batch = batch;
        this.input = input;
        this.counts = counts;
        this.writer = new RecordWriter(type);
        this.row = new RecordView(type);
    }

    @Override
    public boolean next() {
        paused = false;
        if (given) {
            return false;
        }
        Rows rows = input.rows();
        while (rows.next()) {
            if (taken++ % STOP_INTERVAL == 0) {
                input.options().checkNotStopped();
            }
            Slice made = made(rows.row());
            if (!batch.hasRoom(made.length())) {
                write();
            }
            maker.put(batch, made);
        }
        if (rows.isPaused()) {
            paused = true;
            return false;
        }
        // rows of a worker that has failed end too: what it gave is no whole
        input.options().checkNotStopped();
        write();
        given = true;
        writer.begin();
        writer.setLong(0, changed);
        row.wrap(writer.finish());
        return true;
    }

    private Slice made(RecordView from) {
        try {
            return maker.of(from);
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "operator '%s': row %d%s: %s"
                            .formatted(
                                    operator,
                                    taken,
                                    input.partition() == 0
                                            ? ""
                                            : " of partition " + input.partition(),
                                    e.getMessage()),
                    e);
        }
    }

    private void write() {
        int size = batch.size();
        if (size == 0) {
            return;
        }
        batch.write();
        batch.clear();
        changed += size;
        counts.add(operator, size);
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public RecordView row() {
        return row;
    }

    /** What is in the batch is not written. */
    @Override
    public void close() {
        input.rows().close();
    }
}
