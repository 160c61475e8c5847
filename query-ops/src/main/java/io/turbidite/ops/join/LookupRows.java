package io.turbidite.ops.join;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Projection;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.BatchTimer;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

/**
 * Index nested-loop join of rows with the records whose primary key they name: some hundred left
 * rows at a time, whose records are got together, each component read once from front to back
 * (LUO19 §3.2). Where so many records do not fit the memory, fewer are got at a time. The rows come
 * in the order of the left ones.
 *
 * <p><em>Confined to one thread at a time.</em> Owns the left side; the view is the caller's.
 */
public final class LookupRows implements Rows {
    private static final int ROWS_AT_ONCE = 512;
    private static final int LEFT_BYTES_AT_ONCE = 1 << 20;
    private static final int NO_KEY = -1;

    private final JoinSide left;
    private final Inner inner;
    private final JoinKind kind;
    private final RunOptions options;
    private final OperatorMeter meter;
    private final @Nullable JoinedRow joined;
    private final @Nullable PairTest test;
    private final RecordView row;
    private final RecordView record;
    private final KeyBatch keys = new KeyBatch(Integer.MAX_VALUE - 8);
    private final RecordBatch records;
    private final ByteSink leftBytes = new ByteSink(4 << 10, Integer.MAX_VALUE - 8);
    private final int[] leftEnds = new int[ROWS_AT_ONCE];
    private final int[] keyOfRow = new int[ROWS_AT_ONCE];
    private final Slice leftRow = new Slice();
    private final Slice found = new Slice();
    private final ByteSink keyBytes = new ByteSink(4 << 10, Integer.MAX_VALUE - 8);
    private final int[] keyEnds = new int[ROWS_AT_ONCE];
    private final Slice key = new Slice();

    /** Left rows that are there. */
    private int rowCount;

    /** Those of them whose records are there, or were. */
    private int lookedUpCount;

    /** Most of them whose records are got together. */
    private int rowsAtOnce = ROWS_AT_ONCE;

    private int nextRow;
    private boolean ended;

    /** Of lookups; null: nobody asks. */
    private final @Nullable BatchTimer timer;

    /**
     * What is looked up.
     *
     * @param predicates all must hold of a record, or it is as if it were not there
     * @param projection makes the right rows; null: they are the records
     * @param recordBytesMax most bytes of records got together
     * @param meter counts records that were got, each as often as it was
     */
    public record Inner(
            ReadView view,
            @SuppressWarnings("ArrayRecordComponent") // nobody compares these
            RecordPredicate[] predicates,
            @Nullable Projection projection,
            int recordBytesMax,
            OperatorMeter meter) {}

    /**
     * Joins left rows, whose keys are encoded primary keys, with records.
     *
     * @param rightType of the right rows
     * @param meter counts joined rows
     */
    public LookupRows(
            JoinSide left,
            Inner inner,
            JoinOutput output,
            RecordType rightType,
            RunOptions options,
            OperatorMeter meter) {
        this.left = left;
        this.inner = inner;
        this.kind = output.kind();
        this.options = options;
        this.meter = meter;
        this.joined = kind.hasPairs() ? new JoinedRow(left.type(), rightType, output) : null;
        this.test = output.test();
        this.row = new RecordView(output.rowType());
        this.record = new RecordView(inner.view.source().type());
        this.records = new RecordBatch(inner.recordBytesMax);
        this.timer = BatchTimer.of(options, inner.meter);
    }

    @Override
    public boolean next() {
        while (nextRow < lookedUpCount || lookUp() || fill()) {
            if (nextRow == lookedUpCount) {
                continue;
            }
            int at = nextRow++;
            int start = at == 0 ? 0 : leftEnds[at - 1];
            leftRow.set(leftBytes.segment(), start, leftEnds[at] - start);
            Slice right = find(at);
            boolean given = right != null ? kind != JoinKind.ANTI : kind.givesUnmatched();
            if (given) {
                show(right);
                meter.add(1);
                return true;
            }
        }
        return false;
    }

    @Override
    public RecordView row() {
        return row;
    }

    /** Takes the next left rows; false if there are none. */
    private boolean fill() {
        options.checkNotStopped();
        rowCount = 0;
        lookedUpCount = 0;
        nextRow = 0;
        keyBytes.clear();
        leftBytes.clear();
        while (!ended && rowCount < ROWS_AT_ONCE && leftBytes.length() < LEFT_BYTES_AT_ONCE) {
            ended = !left.next();
            if (!ended) {
                // no record has a longer key
                boolean hasKey = left.makeKey() && left.key().length() <= Limits.KEY_BYTES_MAX;
                keyOfRow[rowCount] = hasKey ? 0 : NO_KEY;
                if (hasKey) {
                    keyBytes.putBytes(left.key());
                }
                keyEnds[rowCount] = keyBytes.length();
                leftBytes.putBytes(left.row());
                leftEnds[rowCount++] = leftBytes.length();
            }
        }
        return rowCount > 0;
    }

    /** Gets the records of the next left rows; false if all were looked up. */
    private boolean lookUp() {
        if (lookedUpCount == rowCount) {
            return false;
        }
        int from = lookedUpCount;
        int to = get(from);
        lookedUpCount = to;
        long bytes = 0;
        int present = 0;
        for (int i = 0; i < keys.size(); i++) {
            if (records.isPresent(i)) {
                bytes += records.record(i, found).length();
                present++;
            }
        }
        inner.meter.add(present);
        long each = Math.max(1, bytes / (to - from));
        // half of the memory, since the next ones may be larger
        rowsAtOnce = Math.clamp(inner.recordBytesMax / 2 / each, 1, ROWS_AT_ONCE);
        return true;
    }

    /** Gets the records of left rows from this one on; says up to which. */
    private int get(int from) {
        BatchTimer timed = timer;
        if (timed != null) {
            timed.begin();
        }
        try {
            int to = Math.min(rowCount, from + rowsAtOnce);
            while (!got(from, to)) {
                options.checkNotStopped();
                to = from + (to - from) / 2;
            }
            return to;
        } finally {
            if (timed != null) {
                timed.end();
            }
        }
    }

    /** Gets the records of some left rows; false if they are more than the memory holds. */
    private boolean got(int from, int to) {
        keys.clear();
        for (int row = from; row < to; row++) {
            if (keyOfRow[row] != NO_KEY) {
                keyOfRow[row] = keys.size();
                int start = row == 0 ? 0 : keyEnds[row - 1];
                keys.add(key.set(keyBytes.segment(), start, keyEnds[row] - start));
            }
        }
        try {
            inner.view.get(keys, records);
            return true;
        } catch (InvalidRequestException e) {
            // one alone must fit
            if (to - from == 1) {
                throw e;
            }
            return false;
        }
    }

    private @Nullable Slice find(int at) {
        int key = keyOfRow[at];
        if (key == NO_KEY || !records.isPresent(key)) {
            return null;
        }
        record.wrap(records.record(key, found));
        for (RecordPredicate predicate : inner.predicates) {
            if (!predicate.matches(record)) {
                return null;
            }
        }
        Slice right = inner.projection == null ? found : inner.projection.row(record);
        return test == null || test.holds(leftRow, right) ? right : null;
    }

    private void show(@Nullable Slice right) {
        if (joined == null) {
            row.wrap(leftRow);
        } else {
            row.wrap(right == null ? joined.alone(leftRow) : joined.pair(leftRow, right));
        }
    }

    @Override
    public void close() {
        ended = true;
        rowCount = 0;
        lookedUpCount = 0;
        nextRow = 0;
        left.close();
        if (inner.projection != null) {
            inner.projection.release();
        }
    }
}
