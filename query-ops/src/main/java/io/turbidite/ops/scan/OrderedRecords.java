package io.turbidite.ops.scan;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * A range of the primary index in key order across all partitions, up or down, always from the
 * partition whose next key is first in that order; so rows in key order need no sort, and the first
 * or last few no full scan.
 *
 * <p>Partitions are few, so the next one is found by looking at each. <em>Confined to one
 * thread.</em>
 */
public final class OrderedRecords extends RecordsInTurn {
    private final ReadView view;
    private final PrimaryRange range;
    private final boolean descending;

    /** Cursors that stand on a record; before the first move there are none. */
    private final List<RecordCursor> cursors = new ArrayList<>();

    private @Nullable RecordCursor first;
    private boolean started;
    private long visitedByEnded;
    private LayerWork layersOfEnded = LayerWork.NONE;

    /**
     * @param order up or down
     */
    public OrderedRecords(ReadView view, PrimaryRange range, KeyOrder order) {
        assert order.isOrdered();
        this.view = view;
        this.range = range;
        this.descending = order == KeyOrder.DESCENDING;
    }

    @Override
    public boolean next() {
        RecordCursor moved = first;
        if (moved != null) {
            advance(moved);
        } else if (!started) {
            start();
        }
        first = first();
        standOn(first);
        return first != null;
    }

    private void start() {
        started = true;
        for (int i = 0; i < view.partitionCount(); i++) {
            RecordCursor cursor = view.scan(i, range.keys(), range.filter());
            cursors.add(cursor);
            if (descending) {
                cursor.seekEnd();
            }
            advance(cursor);
        }
    }

    private void advance(RecordCursor cursor) {
        if (descending ? !cursor.previous() : !cursor.next()) {
            visitedByEnded += cursor.visitedCount();
            layersOfEnded = layersOfEnded.plus(cursor.layers());
            cursors.remove(cursor);
            cursor.close();
        }
    }

    private @Nullable RecordCursor first() {
        if (cursors.size() <= 1) {
            return cursors.isEmpty() ? null : cursors.getFirst();
        }
        RecordCursor best = cursors.getFirst();
        Slice key = best.key();
        for (int i = 1; i < cursors.size(); i++) {
            RecordCursor cursor = cursors.get(i);
            int order = cursor.key().compareBytes(key);
            if (descending ? order > 0 : order < 0) {
                best = cursor;
                key = cursor.key();
            }
        }
        return best;
    }

    @Override
    public long visitedCount() {
        long visited = visitedByEnded;
        for (RecordCursor cursor : cursors) {
            visited += cursor.visitedCount();
        }
        return visited;
    }

    @Override
    public LayerWork layers() {
        LayerWork layers = layersOfEnded;
        for (RecordCursor cursor : cursors) {
            layers = layers.plus(cursor.layers());
        }
        return layers;
    }

    @Override
    public void close() {
        first = null;
        standOn(null);
        List<RecordCursor> open = List.copyOf(cursors);
        cursors.clear();
        new Cleanup().addAll(open, RecordCursor::close).run();
    }
}
