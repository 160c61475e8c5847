package io.turbidite.lsm.partition;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;

/** The live entries of a B+-tree secondary index. <em>Confined to one thread.</em> */
final class PartitionSearch implements IndexCursor {
    private final LayerStack stack;
    private final ViewState view;
    private final KeySpec secondary;
    private final Slice secondaryKey = new Slice();
    private final Slice primaryKey = new Slice();

    /**
     * @param position of the index in the schema
     */
    PartitionSearch(
            Partition partition,
            int position,
            ViewState view,
            KeyRange range,
            FilterPredicate filter) {
        this.view = view;
        this.secondary = partition.schema().indexes().get(position).key();
        this.stack = new LayerStack(partition, 1 + position, view.timestamp(), range, filter);
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
