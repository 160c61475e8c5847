package io.turbidite.ops.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.OperatorMeter;

import java.util.ArrayList;
import java.util.List;

/**
 * Reads a range of the primary index in key order across all partitions, up or down, always from the
 * partition whose next key is first in that order; so rows in key order need no sort, and the first or last
 * few no full scan.
 *
 * <p>Partitions are few, so the next one is found by looking at each. <em>Confined to one thread.</em>
 */
public final class OrderedScan implements FrameSource {
    private final ReadView view;
    private final PrimaryRange range;
    private final boolean descending;
    private final SelectProject output;
    private final OperatorMeter meter;
    /** Cursors that stand on a record. */
    private final List<RecordCursor> cursors = new ArrayList<>();

    private long visitedByEnded;
    private long metered;

    /**
     * Reads all partitions.
     *
     * @param order up or down
     * @param meter counts records looked at
     */
    public OrderedScan(
            ReadView view,
            PrimaryRange range,
            KeyOrder order,
            SelectProject output,
            OperatorMeter meter) {
        assert order.isOrdered();
        this.view = view;
        this.range = range;
        this.descending = order == KeyOrder.DESCENDING;
        this.output = output;
        this.meter = meter;
    }

    @Override
    public void open() {
        for (int i = 0; i < view.partitionCount(); i++) {
            RecordCursor cursor = view.scan(i, range.keys(), range.filter());
            cursors.add(cursor);
            if (descending) {
                cursor.seekEnd();
            }
            advance(cursor);
        }
    }

    @Override
    public boolean step() {
        boolean pushed = false;
        while (!pushed && !cursors.isEmpty()) {
            RecordCursor cursor = first();
            pushed = output.accept(cursor.key(), cursor.record());
            advance(cursor);
        }
        count();
        if (pushed) {
            return output.wanted();
        }
        output.flush();
        return false;
    }

    @Override
    public void close() {
        cursors.forEach(RecordCursor::close);
        cursors.clear();
    }

    private RecordCursor first() {
        RecordCursor first = cursors.getFirst();
        Slice key = first.key();
        for (int i = 1; i < cursors.size(); i++) {
            RecordCursor cursor = cursors.get(i);
            int order = cursor.key().compareBytes(key);
            if (descending ? order > 0 : order < 0) {
                first = cursor;
                key = cursor.key();
            }
        }
        return first;
    }

    private void advance(RecordCursor cursor) {
        if (descending ? !cursor.previous() : !cursor.next()) {
            visitedByEnded += cursor.visitedCount();
            cursors.remove(cursor);
            cursor.close();
        }
    }

    private void count() {
        long visited = visitedByEnded;
        for (RecordCursor cursor : cursors) {
            visited += cursor.visitedCount();
        }
        meter.add(visited - metered);
        metered = visited;
    }
}
