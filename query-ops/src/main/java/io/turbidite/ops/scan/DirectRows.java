package io.turbidite.ops.scan;

import io.turbidite.core.record.RecordView;
import io.turbidite.ops.batch.BatchedRows;
import io.turbidite.ops.batch.ColumnBatch;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.CallTimer;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

/**
 * The rows of a query that neither sorts nor groups: each is handed out where the storage has it,
 * as soon as it is found. No job, no frame and no copy, so that a query for one record costs little
 * more than a get. <em>Confined to one thread at a time.</em>
 */
public final class DirectRows implements BatchedRows {
    /** Rows between two looks at whether the query was stopped, where most records match. */
    private static final int STOP_INTERVAL = 64;

    private final SelectedRecords records;

    /** Rows that are not the records; null: they are. */
    private final @Nullable RecordView projected;

    private final OperatorMeter limited;
    private final RunOptions options;

    /** Null where nobody asks for the time. */
    private final @Nullable CallTimer timer;

    /** As {@link #timer}, for looks for a batch. */
    private final @Nullable CallTimer batchTimer;

    private final boolean hasBatches;
    private final long limit;
    private long handedOut;

    /** How many of these {@link #limited} has counted. */
    private long metered;

    private boolean paused;

    /**
     * @param records tuples of them have one field, the row, where that is not the record
     * @param projected reads such rows; null where a row is the record
     * @param limit most rows
     * @param limited counts rows that were handed out
     * @param hasRuns whether the records come in runs
     * @param timed has the time of looks for a record, or for a batch, if anybody asks
     */
    public DirectRows(
            SelectedRecords records,
            @Nullable RecordView projected,
            long limit,
            OperatorMeter limited,
            RunOptions options,
            boolean hasRuns,
            OperatorMeter timed) {
        this.hasBatches = hasRuns && projected == null && records.hasBatches();
        this.timer = CallTimer.of(options, timed);
        this.batchTimer = hasBatches ? CallTimer.ofBatches(options, timed) : null;
        this.records = records;
        this.projected = projected;
        this.limit = limit;
        this.limited = limited;
        this.options = options;
    }

    @Override
    public boolean next() {
        if (handedOut == limit) {
            count();
            paused = false;
            return false;
        }
        if (handedOut % STOP_INTERVAL == 0) {
            options.checkNotStopped();
            count();
        }
        SelectedRecords.Look look = look();
        while (look == SelectedRecords.Look.MORE) {
            options.checkNotStopped();
            look = look();
        }
        paused = look == SelectedRecords.Look.PAUSED;
        if (look != SelectedRecords.Look.FOUND) {
            count();
            return false;
        }
        handedOut++;
        if (handedOut == limit) {
            count();
        }
        if (projected != null) {
            projected.wrap(records.tuple()[0]);
        }
        return true;
    }

    private SelectedRecords.Look look() {
        CallTimer timed = timer;
        if (timed == null || !timed.begin()) {
            return records.next();
        }
        try {
            return records.next();
        } finally {
            timed.end();
        }
    }

    @Override
    public boolean hasBatches() {
        return hasBatches;
    }

    @Override
    public boolean nextBatch() {
        if (handedOut - metered >= STOP_INTERVAL || handedOut == 0) {
            options.checkNotStopped();
            count();
        }
        SelectedRecords.Look look = lookForBatch();
        while (look == SelectedRecords.Look.MORE) {
            options.checkNotStopped();
            look = lookForBatch();
        }
        paused = look == SelectedRecords.Look.PAUSED;
        if (look != SelectedRecords.Look.FOUND) {
            count();
            return false;
        }
        ColumnBatch found = records.batch();
        handedOut += found == null ? 1 : found.count();
        return true;
    }

    private SelectedRecords.Look lookForBatch() {
        CallTimer timed = batchTimer;
        if (timed == null || !timed.begin()) {
            return records.nextBatch();
        }
        long before = records.visitedCount();
        try {
            return records.nextBatch();
        } finally {
            timed.end(records.visitedCount() - before);
        }
    }

    @Override
    public @Nullable ColumnBatch batch() {
        return records.batch();
    }

    @Override
    public void failIfClosed(RuntimeException seen) {
        records.failIfClosed(seen);
    }

    /** Brings the meters up to date: of each row it would be an atomic addition. */
    private void count() {
        records.count();
        limited.add(handedOut - metered);
        metered = handedOut;
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public RecordView row() {
        return projected == null ? records.record() : projected;
    }

    @Override
    public void close() {
        limited.add(handedOut - metered);
        metered = handedOut;
        if (timer != null) {
            timer.tell();
        }
        if (batchTimer != null) {
            batchTimer.tell();
        }
        records.close();
    }
}
