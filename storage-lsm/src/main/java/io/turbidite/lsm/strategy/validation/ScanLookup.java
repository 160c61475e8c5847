package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.version.ComponentHandle;

import java.util.List;

/** Reads key trees from front to back beside the keys: cheaper where these are many. */
final class ScanLookup implements TimestampLookup {
    private final List<TreeCursor> trees;
    private final EntryCursor keys;
    private final long reach;
    private boolean onKey;

    ScanLookup(List<ComponentHandle> newestFirst, long reach) {
        this.trees = newestFirst.stream()
                .map(handle -> handle.component().keyCursor())
                .toList();
        this.keys = MergeCursor.of(trees);
        this.reach = reach;
        this.onKey = keys.next();
    }

    @Override
    public int find(Slice key, Found found) {
        // it stays on the version that it found, should the same key come again
        int order = onKey ? keys.key().compareBytes(key) : 1;
        while (order < 0 || (order == 0 && keys.timestamp() > reach)) {
            onKey = keys.next();
            order = onKey ? keys.key().compareBytes(key) : 1;
        }
        if (order > 0) {
            return Found.ABSENT;
        }
        found.timestamp = keys.timestamp();
        return keys.isAntimatter() ? Found.ANTIMATTER : Found.MATTER;
    }

    @Override
    public long pageCount() {
        return trees.stream().mapToLong(TreeCursor::pageCount).sum();
    }

    @Override
    public void close() {
        keys.close();
    }
}
