package io.turbidite.ops.fetch;

import io.turbidite.core.Cleanup;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.ops.run.StopLooks;
import io.turbidite.ops.scan.RecordsInTurn;
import io.turbidite.ops.search.IndexRange;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The matching records that can be among the newest few of each secondary key of a range, by an
 * index that has the entries of a key newest first (PERS24 §5.2.3):
 *
 * <ol>
 *   <li>the smallest secondary key of all partitions that was not asked for yet;
 *   <li>its newest records, as {@link NewestRecords} gives them; a few more may come;
 *   <li>next key, while fewer rows match than are wanted in all.
 * </ol>
 *
 * <p>Keys come in ascending order. A key of which all entries are obsolete costs a search and gives
 * nothing. <em>Confined to one thread.</em>
 */
public final class NewestOfEach extends RecordsInTurn {
    private final ReadView view;
    private final List<Integer> partitions;
    private final IndexRange range;
    private final NewestRecords.Wanted each;
    private final long rowsWanted;
    private final FetchedRecords.Lookup lookup;
    private final NearestRecords.Meters meters;

    /** Of all keys together: each may have a few rows alone. */
    private final StopLooks looks;

    /** Of all keys, one after the other. */
    private final LookupWorkers workers;

    private final @Nullable Front[] fronts;
    private @Nullable NewestRecords ofKey;
    private long rowsOfKey;
    private long rowCount;
    private long visitedCount;

    /**
     * Reads some partitions.
     *
     * @param range of secondary keys
     * @param each what is wanted of each key
     * @param rowsWanted rows after which it may end, at the end of a key
     * @param lookup how records are got by the keys that are found
     * @param looks asks whether the reader is to stop
     */
    public NewestOfEach(
            ReadView view,
            List<Integer> partitions,
            IndexRange range,
            NewestRecords.Wanted each,
            long rowsWanted,
            FetchedRecords.Lookup lookup,
            NearestRecords.Meters meters,
            StopLooks looks) {
        this.view = view;
        this.partitions = List.copyOf(partitions);
        this.range = range;
        this.each = each;
        this.rowsWanted = rowsWanted;
        this.lookup = lookup;
        this.meters = meters;
        this.looks = looks;
        this.workers = new LookupWorkers(lookup.tasks(), lookup.workerCount());
        this.fronts = new @Nullable Front[partitions.size()];
    }

    /** The next secondary key of a partition. */
    private static final class Front implements AutoCloseable {
        private final IndexCursor cursor;
        private final ByteSink bytes = new ByteSink(64, Integer.MAX_VALUE - 8);
        private final Slice key = new Slice();
        private boolean standsOnKey;

        private Front(IndexCursor cursor) {
            this.cursor = cursor;
        }

        /** Owns the cursor from now on. */
        static Front open(IndexCursor cursor) {
            try (Undo undo = Undo.of(cursor::close)) {
                Front opened = new Front(cursor);
                opened.read();
                return undo.keep(opened);
            }
        }

        private void read() {
            standsOnKey = cursor.next();
            if (standsOnKey) {
                bytes.clear().putBytes(cursor.secondaryKey()).asSlice(key);
            }
        }

        /** Passes over all entries below a key. */
        void moveTo(@Nullable Slice from) {
            if (from == null) {
                standsOnKey = false;
            } else if (standsOnKey && key.compareBytes(from) < 0) {
                cursor.seek(from);
                read();
            }
        }

        @Override
        public void close() {
            cursor.close();
        }
    }

    @Override
    public boolean next() {
        while (true) {
            NewestRecords records = ofKey;
            if (records != null) {
                if (records.next()) {
                    rowsOfKey++;
                    return true;
                }
                endKey(records);
            }
            byte @Nullable [] key = rowCount < rowsWanted ? smallestKey() : null;
            if (key == null) {
                return false;
            }
            looks.look();
            NewestRecords opened = new NewestRecords(
                    view,
                    partitions,
                    new IndexRange(
                            range.index(),
                            IndexSearch.Newest.of(key),
                            range.filter(),
                            range.narrowed(),
                            range.isExact()),
                    each,
                    lookup,
                    meters,
                    looks,
                    workers);
            ofKey = opened;
            standOn(opened);
        }
    }

    private void endKey(NewestRecords records) {
        ofKey = null;
        standOn(null);
        visitedCount += records.visitedCount();
        rowCount += Math.min(each.count(), rowsOfKey);
        rowsOfKey = 0;
        records.close();
    }

    /** The smallest key that was not asked for, which is passed over then; null at the end. */
    private byte @Nullable [] smallestKey() {
        Front smallest = null;
        for (int i = 0; i < fronts.length; i++) {
            Front front = fronts[i];
            if (front == null) {
                front = Front.open(view.search(
                        partitions.get(i), range.index().name(), range.search(), range.filter()));
                fronts[i] = front;
            }
            if (front.standsOnKey
                    && (smallest == null || front.key.compareBytes(smallest.key) < 0)) {
                smallest = front;
            }
        }
        if (smallest == null) {
            return null;
        }
        byte[] key = smallest.key.toByteArray();
        byte[] behind = KeyRange.successor(key);
        Slice from = behind == null ? null : Slice.of(behind);
        for (Front front : fronts) {
            if (front != null) {
                front.moveTo(from);
            }
        }
        return key;
    }

    /** Records found by the keys. */
    @Override
    public long visitedCount() {
        NewestRecords records = ofKey;
        return visitedCount + (records == null ? 0 : records.visitedCount());
    }

    @Override
    public void close() {
        NewestRecords records = ofKey;
        Cleanup cleanup = new Cleanup();
        if (records != null) {
            cleanup.add(() -> endKey(records));
        }
        cleanup.add(workers::close);
        for (Front front : fronts) {
            if (front != null) {
                cleanup.add(front::close);
            }
        }
        cleanup.run();
    }
}
