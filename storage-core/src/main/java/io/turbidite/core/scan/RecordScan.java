package io.turbidite.core.scan;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;

/**
 * The records of a range of primary keys, of all partitions, in key order: for who asks no more
 * of a source than that.
 *
 * <pre>{@code
 * KeySpec key = dataset.primaryKeySpec();
 * KeyRange range = KeyRange.between(key.encode(100L), true, key.encode(200L), false);
 * try (RecordScan scan = dataset.scan(range)) {
 *     for (Map<String, Object> record : scan) { … }
 * }
 * }</pre>
 *
 * <p>It shows one moment, that of its view. <em>Confined to one thread.</em> A move makes no
 * garbage; a map does.
 */
public final class RecordScan implements Iterable<Map<String, @Nullable Object>>, AutoCloseable {
    private final ReadView view;
    private final boolean closesView;
    private final List<RecordCursor> cursors = new ArrayList<>();

    /** Those that stand on a record, but {@link #current}; the least key first. */
    private final PriorityQueue<RecordCursor> others =
            new PriorityQueue<>((a, b) -> a.key().compareBytes(b.key()));

    private final RecordView record;
    private @Nullable RecordCursor current;
    private boolean closed;

    private RecordScan(ReadView view, boolean closesView) {
        this.view = view;
        this.closesView = closesView;
        this.record = new RecordView(view.source().type());
    }

    /** Reads from a view, which stays open when the scan is closed. */
    public static RecordScan of(ReadView view, KeyRange primaryKeys) {
        return open(new RecordScan(view, false), primaryKeys);
    }

    /** Reads from a view that is closed with the scan, or if that can't be opened. */
    public static RecordScan owning(ReadView view, KeyRange primaryKeys) {
        try (Undo undo = Undo.of(view::close)) {
            return undo.keep(open(new RecordScan(view, true), primaryKeys));
        }
    }

    private static RecordScan open(RecordScan scan, KeyRange primaryKeys) {
        try (Undo undo = Undo.of(scan::closeCursors)) {
            for (int i = 0; i < scan.view.partitionCount(); i++) {
                RecordCursor cursor = scan.view.scan(i, primaryKeys, FilterPredicate.none());
                scan.cursors.add(cursor);
                if (cursor.next()) {
                    scan.others.add(cursor);
                }
            }
            undo.keep();
            return scan;
        }
    }

    /**
     * Moves to the next record; false at the end.
     *
     * @throws ClosedException if it, its view or the store is closed
     */
    public boolean next() {
        if (closed) {
            throw new ClosedException("the scan of " + view.source().name());
        }
        RecordCursor last = current;
        current = null;
        if (last != null && last.next()) {
            if (others.isEmpty() || last.key().compareBytes(others.element().key()) <= 0) {
                current = last;
                return wrap(last);
            }
            others.add(last);
        }
        RecordCursor next = others.poll();
        current = next;
        return next != null && wrap(next);
    }

    private boolean wrap(RecordCursor cursor) {
        var _ = record.wrap(cursor.record());
        return true;
    }

    /** The encoded primary key; valid until it moves. */
    public Slice key() {
        return standing().key();
    }

    /** The record; valid until it moves. */
    public RecordView record() {
        var _ = standing();
        return record;
    }

    /** The record's fields by name, in declared order; a map of the caller's. */
    public Map<String, @Nullable Object> map() {
        return record().toMap();
    }

    private RecordCursor standing() {
        RecordCursor cursor = current;
        if (cursor == null) {
            throw new InvalidRequestException(
                    "the scan stands on no record: move it with next() first");
        }
        return cursor;
    }

    /** The records from here on, as maps. Each comes once, however many iterators there are. */
    @Override
    public Iterator<Map<String, @Nullable Object>> iterator() {
        return new Iterator<>() {
            private boolean looked;
            private boolean there;

            @Override
            public boolean hasNext() {
                if (!looked) {
                    there = RecordScan.this.next();
                    looked = true;
                }
                return there;
            }

            @Override
            public Map<String, @Nullable Object> next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("the scan is at its end");
                }
                looked = false;
                return map();
            }
        };
    }

    private void closeCursors() {
        new Cleanup().addAll(cursors, RecordCursor::close).run();
    }

    @Override
    public void close() {
        closed = true;
        current = null;
        others.clear();
        Cleanup all = new Cleanup().add(this::closeCursors);
        if (closesView) {
            all.add(view::close);
        }
        all.run();
    }
}
