package io.turbidite.ops.batch;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordColumns;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.expr.TupleMaker;

/**
 * Records of one run, and which of them are selected, in their order. <em>Confined to one
 * thread.</em> Valid until the stream moves on.
 */
public final class ColumnBatch {
    private static final int ROOM_FIRST = 16;

    private final RecordStream stream;
    private final RecordColumns records;

    /** Shown in place of records that nobody looks into. */
    private final RecordView unread;

    private boolean isRead;
    private int[] rows = new int[ROOM_FIRST];
    private int count;

    /** Of records of a stream; it has none yet. */
    public ColumnBatch(RecordType type, RecordStream stream) {
        this.stream = stream;
        this.unread = new RecordView(type);
        this.records = new RecordColumns(type);
    }

    /**
     * Selects records of a run.
     *
     * @param from the first of them; all behind it are selected too
     * @param readsRecords whether anybody looks into them
     * @throws io.turbidite.core.CorruptionException if a record's header and length don't fit
     *     together
     */
    public void select(RecordRun run, int from, boolean readsRecords) {
        count = 0;
        isRead = readsRecords;
        if (readsRecords) {
            run.show(records);
        }
        int selected = run.count() - from;
        if (rows.length < selected) {
            rows = new int[Math.max(2 * rows.length, selected)];
        }
        for (int i = 0; i < selected; i++) {
            rows[i] = from + i;
        }
        count = selected;
    }

    /** Leaves selected what matches. */
    public void narrow(RecordPredicate predicate) {
        count = predicate.narrow(records, rows, count);
    }

    /** The records, those included that are not selected. */
    public RecordColumns records() {
        return records;
    }

    /** Which records are selected; as many as {@link #count}, in an array that may be longer. */
    public int[] rows() {
        return rows;
    }

    /** How many are selected. */
    public int count() {
        return count;
    }

    /**
     * The tuple that a maker makes of a selected record; valid until the next.
     *
     * @param maker does not ask the stream, which may be behind the record
     */
    public Slice[] tuple(TupleMaker maker, int selected) {
        return maker.make(stream, view(selected));
    }

    /**
     * A selected record by itself; valid until the next is asked for. One without bytes where
     * nobody looks into the records.
     */
    public RecordView view(int selected) {
        return isRead ? records.view(rows[selected]) : unread;
    }
}
