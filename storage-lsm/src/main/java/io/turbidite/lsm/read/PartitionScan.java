package io.turbidite.lsm.read;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.TreeId;

/** The live records of a partition in primary key order. <em>Confined to one thread.</em> */
final class PartitionScan implements RecordCursor {
    private final SnapshotCursor stack;

    PartitionScan(Partition partition, ViewState view, KeyRange range, FilterPredicate filter) {
        this.stack =
                new SnapshotCursor(partition, TreeId.PRIMARY, view, new ScanBounds(range, filter));
    }

    @Override
    public boolean next() {
        return stack.next();
    }

    @Override
    public void checkOpen() {
        stack.checkOpen();
    }

    @Override
    public boolean nextRun(RecordRun run) {
        return stack.nextRun(run);
    }

    @Override
    public boolean previous() {
        return stack.previous();
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
    public Slice key() {
        return stack.key();
    }

    @Override
    public long timestamp() {
        return stack.timestamp();
    }

    @Override
    public Slice record() {
        return stack.value();
    }

    @Override
    public long visitedCount() {
        return stack.visitedCount();
    }

    @Override
    public LayerWork layers() {
        return stack.layers();
    }

    @Override
    public void close() {
        stack.close();
    }
}
