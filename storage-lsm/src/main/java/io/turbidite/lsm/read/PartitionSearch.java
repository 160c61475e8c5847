package io.turbidite.lsm.read;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;

/** The live entries of a secondary index that a search asks for. <em>Confined to one thread.</em> */
final class PartitionSearch implements IndexCursor {
    private final SnapshotCursor stack;
    private final Partition partition;
    private final IndexSchema index;
    private final EntryKeys entryKeys;
    private final Slice secondaryKey = new Slice();
    private final Slice primaryKey = new Slice();
    private long entryCount;
    private boolean isCounted;

    /** Whether no layer is passed over, and none can show what another one hides. */
    private final boolean isExact;

    PartitionSearch(
            Partition partition,
            IndexSchema index,
            ViewState view,
            IndexSearch search,
            FilterPredicate filter) {
        this.partition = partition;
        this.index = index;
        this.entryKeys = index.entryKeys();
        this.isExact = index.maintenance() == Maintenance.EAGER && filter.isNone();
        if (!index.maintenance().isValidWhenFound()) {
            view.searching(index.id());
        }
        this.stack = switch (search) {
            case KeyRange range ->
                new SnapshotCursor(partition, index.tree(), view, new ScanBounds(range, filter));
            case IndexSearch.Window window -> {
                index.requireWindows(window.kind());
                yield new SnapshotCursor(
                        partition, index.tree(), view, new ScanBounds(window, filter));
            }
        };
    }

    @Override
    public boolean next() {
        return stack.next() && split();
    }

    @Override
    public boolean previous() {
        return stack.previous() && split();
    }

    private boolean split() {
        entryCount++;
        Slice key = stack.key();
        int secondaryBytes = entryKeys.secondaryBytes(key);
        secondaryKey.set(key.segment(), key.offset(), secondaryBytes);
        primaryKey.set(key.segment(), key.offset() + secondaryBytes, key.length() - secondaryBytes);
        return true;
    }

    @Override
    public void seek(Slice key) {
        stack.seek(key);
    }

    @Override
    public void seekEnd() {
        stack.seekEnd();
    }

    @Override
    public Slice secondaryKey() {
        stack.key(); // only on an entry
        return secondaryKey;
    }

    @Override
    public Slice primaryKey() {
        stack.key(); // only on an entry
        return primaryKey;
    }

    @Override
    public long timestamp() {
        return stack.timestamp();
    }

    @Override
    public long checkedUntil() {
        long until = stack.checkedUntil(); // only on an entry
        return isExact ? Long.MAX_VALUE : until;
    }

    @Override
    public void close() {
        if (!isCounted) {
            isCounted = true;
            partition.work().searched(index.id(), 1, entryCount);
        }
        stack.close();
    }
}
