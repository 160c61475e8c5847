package io.turbidite.ops.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.OperatorMeter;

import java.util.ArrayList;
import java.util.List;

/**
 * Reads a range of the primary index in key order across all partitions, always from the partition whose
 * next key is smallest; so rows in key order need no sort, and the first few no full scan.
 *
 * <p>Partitions are few, so the smallest is found by looking at each. <em>Confined to one thread.</em>
 */
public final class OrderedScan implements FrameSource {
    private final ReadView view;
    private final PrimaryRange range;
    private final SelectProject output;
    private final OperatorMeter meter;
    /** Cursors that stand on a record. */
    private final List<RecordCursor> cursors = new ArrayList<>();

    private long visitedByEnded;
    private long metered;

    /**
     * Reads all partitions.
     *
     * @param meter counts records looked at
     */
    public OrderedScan(
            ReadView view, PrimaryRange range, SelectProject output, OperatorMeter meter) {
        this.view = view;
        this.range = range;
        this.output = output;
        this.meter = meter;
    }

    @Override
    public void open() {
        for (int i = 0; i < view.partitionCount(); i++) {
            RecordCursor cursor = view.scan(i, range.keys(), range.filter());
            cursors.add(cursor);
            advance(cursor);
        }
    }

    @Override
    public boolean step() {
        boolean pushed = false;
        while (!pushed && !cursors.isEmpty()) {
            RecordCursor cursor = smallest();
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

    private RecordCursor smallest() {
        RecordCursor smallest = cursors.getFirst();
        Slice key = smallest.key();
        for (int i = 1; i < cursors.size(); i++) {
            RecordCursor cursor = cursors.get(i);
            if (cursor.key().compareBytes(key) < 0) {
                smallest = cursor;
                key = cursor.key();
            }
        }
        return smallest;
    }

    private void advance(RecordCursor cursor) {
        if (!cursor.next()) {
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
