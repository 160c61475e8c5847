package io.turbidite.lsm.partition;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.RecordCursor;

/** The live records of a partition in primary key order. <em>Confined to one thread.</em> */
final class PartitionScan implements RecordCursor {
    private final LayerStack stack;
    private final ViewState view;

    PartitionScan(Partition partition, ViewState view, KeyRange range, FilterPredicate filter) {
        this.view = view;
        this.stack = new LayerStack(partition, 0, view.timestamp(), range, filter);
    }

    @Override
    public boolean next() {
        view.checkOpen();
        return stack.next();
    }

    @Override
    public Slice key() {
        return stack.entry().key();
    }

    @Override
    public long timestamp() {
        return stack.entry().timestamp();
    }

    @Override
    public Slice record() {
        return stack.entry().value();
    }

    @Override
    public long visitedCount() {
        return stack.visitedCount();
    }

    @Override
    public void close() {
        stack.close();
    }
}
