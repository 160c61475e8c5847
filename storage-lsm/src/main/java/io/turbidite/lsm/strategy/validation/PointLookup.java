package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.version.ComponentHandle;

import java.util.List;

/** Looks keys up one by one, behind Bloom filters, with a stateful cursor for each key tree. */
final class PointLookup implements TimestampLookup {
    private final DiskComponent[] newestFirst;
    private final PointCursor[] cursors;
    private final long reach;

    PointLookup(List<ComponentHandle> newestFirst, long reach) {
        this.newestFirst =
                newestFirst.stream().map(ComponentHandle::component).toArray(DiskComponent[]::new);
        this.reach = reach;
        this.cursors = new PointCursor[this.newestFirst.length];
        for (int i = 0; i < cursors.length; i++) {
            cursors[i] = this.newestFirst[i].keyPointCursor();
        }
    }

    @Override
    public int find(Slice key, Found found) {
        long hash = BloomFilter.hash(key);
        for (int i = 0; i < cursors.length; i++) {
            if (newestFirst[i].mayContain(hash)) {
                int code = cursors[i].find(key, reach, found, false);
                if (code != Found.ABSENT) {
                    return code;
                }
            }
        }
        return Found.ABSENT;
    }

    @Override
    public long pageCount() {
        long pages = 0;
        for (PointCursor cursor : cursors) {
            pages += cursor.pageCount();
        }
        return pages;
    }

    @Override
    public void close() {
        for (PointCursor cursor : cursors) {
            cursor.close();
        }
    }
}
