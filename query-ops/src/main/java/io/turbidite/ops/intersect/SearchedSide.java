package io.turbidite.ops.intersect;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.search.SearchMeter;

/**
 * A search whose entries lie in the order of primary keys behind one secondary key. It leaps:
 * entries that are passed over are not read. Owns its cursor. <em>Confined to one thread.</em>
 */
final class SearchedSide implements Side {
    /** Entries passed one by one before a seek: they are near, mostly on the same page. */
    private static final int STEPS_MAX = 8;

    private final IndexCursor cursor;
    private final OperatorMeter searched;
    private final SearchMeter searches;
    private final ByteSink target = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice targetKey = new Slice();
    private final Slice secondaryKey = new Slice();
    private boolean isOnEntry;
    private long entryCount;

    SearchedSide(IndexCursor cursor, OperatorMeter searched, SearchMeter searches) {
        this.cursor = cursor;
        this.searched = searched;
        this.searches = searches;
    }

    @Override
    public boolean begin() {
        move();
        return isOnEntry;
    }

    @Override
    public boolean isOnEntry() {
        return isOnEntry;
    }

    @Override
    public Slice key() {
        return cursor.primaryKey();
    }

    @Override
    public int advance(Slice key) {
        for (int step = 0; isOnEntry; step++) {
            int order = cursor.primaryKey().compareBytes(key);
            if (order >= 0) {
                return order;
            }
            if (step == STEPS_MAX) {
                target.clear().putBytes(cursor.secondaryKey()).putBytes(key);
                cursor.seek(target.asSlice(targetKey));
            }
            move();
        }
        return -1;
    }

    private void move() {
        isOnEntry = cursor.next();
        entryCount += isOnEntry ? 1 : 0;
    }

    @Override
    public void gather(EntriesOfKey entries) {
        entries.add(
                cursor.timestamp(), cursor.checkedUntil(), secondaryKey.set(cursor.secondaryKey()));
        move();
    }

    @Override
    public void close() {
        searched.add(entryCount);
        searches.add(cursor.work(), cursor.layers());
        cursor.close();
    }
}
