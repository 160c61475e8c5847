package io.turbidite.ops.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.ops.batch.BatchTaker;
import io.turbidite.ops.batch.ColumnBatch;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.TupleWriter;
import io.turbidite.ops.run.CallTimer;
import io.turbidite.ops.scan.SelectedRecords.Look;

import org.jspecify.annotations.Nullable;

/**
 * Begins a stage with selected records: hands batches of them to who takes those, their tuples one
 * by one to a writer that takes them so, and pushes frames of them to others. A tuple that goes
 * through a frame is copied twice, which took half the time of a count of all records.
 * <em>Confined to one thread.</em>
 */
public final class RecordSource implements FrameSource {
    /** Tuples of a step, as many as one look goes through: some tens of microseconds. */
    private static final int TUPLES_A_STEP = 1_024;

    /** Where tuples are large, as much as a frame holds. */
    private static final long BYTES_A_STEP = 64 << 10;

    /** Where records of batches are large: they are read, and few of them or none copied. */
    private static final long BATCHED_BYTES_A_STEP = 512 << 10;

    private final SelectedRecords records;
    private final FrameWriter target;
    private final @Nullable CallTimer timer;

    /** Null where the target takes tuples. */
    private final @Nullable FrameEmitter emitter;

    /** Null where the target must have tuples. */
    private final @Nullable BatchTaker batches;

    private boolean paused;

    /**
     * @param batches takes batches of the records in place of their tuples; null: nobody does
     * @param timer of looks for a record, or for a batch; null: nobody asks
     */
    public RecordSource(
            SelectedRecords records,
            FrameWriter target,
            @Nullable BatchTaker batches,
            @Nullable CallTimer timer) {
        this.timer = timer;
        this.batches = records.hasBatches() ? batches : null;
        this.records = records;
        this.target = target;
        this.emitter = target instanceof TupleWriter
                ? null
                : new FrameEmitter(target, records.fieldCount(), Long.MAX_VALUE);
    }

    @Override
    public void open() {
        // the first look opens the way in
    }

    @Override
    public boolean step() {
        paused = false;
        if (target instanceof TupleWriter taker) {
            return batches == null ? handOn(taker) : handOn(taker, batches);
        }
        return emitter == null || emit(emitter);
    }

    private boolean handOn(TupleWriter taker) {
        long bytes = 0;
        for (int i = 0; i < TUPLES_A_STEP && bytes < BYTES_A_STEP; i++) {
            Look look = look();
            if (look != Look.FOUND) {
                return look != Look.END && goOn(look);
            }
            Slice[] tuple = records.tuple();
            for (Slice field : tuple) {
                bytes += field.length();
            }
            if (!taker.tuple(tuple)) {
                records.count();
                return false;
            }
        }
        records.count();
        return true;
    }

    private boolean handOn(TupleWriter taker, BatchTaker taking) {
        long visited = records.visitedCount();
        long batched = records.batchedBytes();
        long bytes = 0;
        do {
            Look look = look();
            if (look == Look.FOUND) {
                ColumnBatch batch = records.batch();
                boolean goesOn;
                if (batch == null) {
                    Slice[] tuple = records.tuple();
                    for (Slice field : tuple) {
                        bytes += field.length();
                    }
                    goesOn = taker.tuple(tuple);
                } else {
                    goesOn = records.handOn(batch, taking);
                }
                if (!goesOn) {
                    records.count();
                    return false;
                }
            } else if (look != Look.MORE) {
                return look != Look.END && goOn(look);
            }
        } while (records.visitedCount() - visited < TUPLES_A_STEP
                && records.batchedBytes() - batched < BATCHED_BYTES_A_STEP
                && bytes < BYTES_A_STEP);
        records.count();
        return true;
    }

    private boolean emit(FrameEmitter frames) {
        Look look;
        while ((look = look()) == Look.FOUND) {
            if (frames.emit(records.tuple())) {
                records.count();
                return frames.wanted();
            }
        }
        if (look != Look.END) {
            return goOn(look);
        }
        frames.flush();
        return false;
    }

    private Look look() {
        CallTimer timed = timer;
        if (timed == null || !timed.begin()) {
            return look(batches);
        }
        long before = records.visitedCount();
        try {
            return look(batches);
        } finally {
            timed.end(records.visitedCount() - before);
        }
    }

    private Look look(@Nullable BatchTaker taking) {
        return taking == null ? records.next() : records.nextBatch();
    }

    /** There may be more, at once or once others have worked. */
    private boolean goOn(Look look) {
        paused = look == Look.PAUSED;
        return true;
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public void close() {
        if (timer != null) {
            timer.tell();
        }
        records.close();
    }
}
