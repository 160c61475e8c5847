package io.turbidite.lsm.partition;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.schema.IndexSchema;

/** The live entries of a B+-tree secondary index. <em>Confined to one thread.</em> */
final class PartitionSearch implements IndexCursor {
    private final LayerStack stack;
    private final ViewState view;
    private final KeySpec secondary;
    private final Slice secondaryKey = new Slice();
    private final Slice primaryKey = new Slice();

    PartitionSearch(
            Partition partition,
            IndexSchema index,
            ViewState view,
            KeyRange range,
            FilterPredicate filter) {
        this.view = view;
        this.secondary = index.key();
        this.stack = new LayerStack(partition, index.id(), view.timestamp(), range, filter);
    }

    @Override
    public boolean next() {
        view.checkOpen();
        if (!stack.next()) {
            return false;
        }
        Slice key = stack.entry().key();
        int secondaryBytes = secondary.length(key, 0);
        secondaryKey.set(key.segment(), key.offset(), secondaryBytes);
        primaryKey.set(key.segment(), key.offset() + secondaryBytes, key.length() - secondaryBytes);
        return true;
    }

    @Override
    public Slice secondaryKey() {
        return secondaryKey;
    }

    @Override
    public Slice primaryKey() {
        return primaryKey;
    }

    @Override
    public long timestamp() {
        return stack.entry().timestamp();
    }

    @Override
    public void close() {
        stack.close();
    }
}
