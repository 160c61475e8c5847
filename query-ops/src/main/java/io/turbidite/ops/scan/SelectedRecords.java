package io.turbidite.ops.scan;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.batch.BatchTaker;
import io.turbidite.ops.batch.ColumnBatch;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/**
 * Select and project, where records are still where the storage has them: a record that does not
 * match is never copied, and of one that does only what is asked for. Every way in ends here.
 * <em>Confined to one thread.</em>
 */
public final class SelectedRecords implements AutoCloseable {
    /** What one look for a tuple came to. */
    public enum Look {
        FOUND,
        /** None yet: time to ask whether anybody still waits for it. */
        MORE,
        /** None yet, and nothing to look at before others have worked. */
        PAUSED,
        END
    }

    /** Most records that one look goes through: some tens of microseconds. */
    private static final int RECORDS_A_LOOK = 1_024;

    /** Of a run of fewer records each is looked at by itself: a batch takes longer to begin. */
    private static final int BATCH_RECORDS_MIN = 4;

    private static final Slice[] NONE = {};

    private final WayIn wayIn;
    private final RecordPredicate[] predicates;
    private final TupleMaker maker;
    private final boolean isMultiple;

    /** Counting all records needs none of their bytes. */
    private final boolean readsRecord;

    private final OperatorMeter meter;
    private final RecordType type;
    private final RecordView view;

    /** Records that the stream went over in one go; null where it must stand on each. */
    private final @Nullable RecordRun run;

    /** The record of the run that comes next. */
    private int next;

    private final Slice record = new Slice();
    private @Nullable RecordStream records;
    private Slice[] tuple = NONE;

    /** Made by the first run that is long enough: a short query needs none. */
    private @Nullable ColumnBatch batch;

    /** Whether the last look has found a batch. */
    private boolean isBatch;

    /** Of the records of all batches, selected ones or not. */
    private long batchedBytes;

    private long matching;
    private long visitedMetered;

    /**
     * @param predicates all must hold
     * @param maker makes tuples of matching records
     * @param readsAll whether whoever takes the tuples takes all: the stream may go ahead then
     * @param meter counts matching records
     */
    public SelectedRecords(
            WayIn wayIn,
            RecordType type,
            RecordPredicate[] predicates,
            TupleMaker maker,
            boolean readsAll,
            OperatorMeter meter) {
        this.wayIn = wayIn;
        this.predicates = predicates;
        this.maker = maker;
        this.isMultiple = maker.isMultiple();
        this.readsRecord = predicates.length > 0 || maker.readsRecord();
        this.meter = meter;
        this.type = type;
        this.view = new RecordView(type);
        this.run = readsAll && !maker.readsStream() ? new RecordRun() : null;
    }

    /** Fields of each tuple. */
    public int fieldCount() {
        return maker.fieldCount();
    }

    /** Looks for the next record that matches; the first look opens the way in. */
    public Look next() {
        RecordStream stream = opened();
        try {
            return look(stream, RECORDS_A_LOOK);
        } catch (RuntimeException e) {
            if (run != null) {
                failIfClosed(stream, e);
            }
            throw e;
        }
    }

    private RecordStream opened() {
        RecordStream stream = records;
        if (stream == null) {
            stream = wayIn.opener().get();
            records = stream;
        }
        return stream;
    }

    /** Whether {@link #nextBatch} may be called in place of {@link #next}. */
    boolean hasBatches() {
        return run != null && !isMultiple;
    }

    /**
     * As {@link #next}, for a run of records at once: it is found if one of them matches. Where
     * {@link #batch} is null then, one was found as by {@link #next}.
     */
    Look nextBatch() {
        RecordStream stream = opened();
        RecordRun going = Objects.requireNonNull(run);
        try {
            if (next >= going.count()) {
                if (!stream.nextRun(going)) {
                    return end(stream);
                }
                next = 0;
            }
            int left = going.count() - next;
            isBatch = left >= BATCH_RECORDS_MIN;
            return isBatch ? select(stream, going) : look(stream, left);
        } catch (RuntimeException e) {
            failIfClosed(stream, e);
            throw e;
        }
    }

    private Look select(RecordStream stream, RecordRun going) {
        ColumnBatch selected = batch;
        if (selected == null) {
            selected = new ColumnBatch(type, stream);
            batch = selected;
        }
        int from = next;
        batchedBytes += going.bytes(from);
        next = going.count();
        selected.select(going, from, readsRecord);
        for (RecordPredicate predicate : predicates) {
            selected.narrow(predicate);
        }
        matching += selected.count();
        return selected.count() > 0 ? Look.FOUND : Look.MORE;
    }

    /** What the records of all batches took together, those included that did not match. */
    long batchedBytes() {
        return batchedBytes;
    }

    /** What {@link #nextBatch} has found; null where it was one record. */
    @Nullable
    ColumnBatch batch() {
        return isBatch ? batch : null;
    }

    /** Throws what a failure is where the records were closed meanwhile; else does nothing. */
    void failIfClosed(RuntimeException seen) {
        failIfClosed(opened(), seen);
    }

    /**
     * Hands on the batch that was found. What is read of it while it is closed is of no account:
     * the next look says that it was closed.
     */
    boolean handOn(ColumnBatch found, BatchTaker taker) {
        try {
            return taker.batch(found);
        } catch (RuntimeException e) {
            failIfClosed(opened(), e);
            throw e;
        }
    }

    /** Records whose memory was given up by a close meanwhile look damaged, and are not. */
    private static void failIfClosed(RecordStream stream, RuntimeException seen) {
        try {
            stream.checkOpen();
        } catch (ClosedException closed) {
            if (closed != seen) {
                closed.addSuppressed(seen);
            }
            throw closed;
        }
    }

    private Look look(RecordStream stream, int recordsMax) {
        if (isMultiple && nextOfRecord()) {
            return Look.FOUND;
        }
        for (int i = 0; i < recordsMax; i++) {
            if (!move(stream)) {
                return end(stream);
            }
            if (matches()) {
                matching++;
                tuple = maker.make(stream, view);
                if (!isMultiple || nextOfRecord()) {
                    return Look.FOUND;
                }
            }
        }
        count();
        return Look.MORE;
    }

    private Look end(RecordStream stream) {
        count();
        return stream instanceof PausingRecords pausing && pausing.isPaused()
                ? Look.PAUSED
                : Look.END;
    }

    /** Moves the view to the next record; false at the end. */
    private boolean move(RecordStream stream) {
        RecordRun records = run;
        if (records == null) {
            if (!stream.next()) {
                return false;
            }
            if (readsRecord) {
                view.wrap(stream.record());
            }
            return true;
        }
        if (next >= records.count()) {
            if (!stream.nextRun(records)) {
                return false;
            }
            next = 0;
        } else {
            stream.checkOpen();
        }
        if (readsRecord) {
            view.wrap(records.record(next, record));
        }
        next++;
        return true;
    }

    /** Whether the record that was found last has one more tuple. */
    private boolean nextOfRecord() {
        Slice[] next = maker.next();
        if (next == null) {
            return false;
        }
        tuple = next;
        return true;
    }

    private boolean matches() {
        for (RecordPredicate predicate : predicates) {
            if (!predicate.matches(view)) {
                return false;
            }
        }
        return true;
    }

    /** Records that were looked at. */
    long visitedCount() {
        RecordStream stream = records;
        return stream == null ? 0 : stream.visitedCount();
    }

    /** What was found; valid until the next look. */
    public Slice[] tuple() {
        return tuple;
    }

    /** The record that was found, where it lies; valid until the next look. */
    RecordView record() {
        return view;
    }

    /** Brings the meters up to date. */
    public void count() {
        meter.add(matching);
        matching = 0;
        RecordStream stream = records;
        if (stream != null) {
            long visited = stream.visitedCount();
            wayIn.visited().add(visited - visitedMetered);
            visitedMetered = visited;
        }
    }

    @Override
    public void close() {
        maker.release();
        RecordStream stream = records;
        if (stream != null) {
            count();
            records = null;
            wayIn.layers().add(stream.layers());
            stream.close();
        }
    }
}
