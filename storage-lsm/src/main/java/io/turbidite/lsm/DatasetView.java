package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.Source;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionReads;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.version.Version;

/** A dataset at a registered snapshot. */
final class DatasetView implements ReadView {
    private final Dataset dataset;
    private final ViewState state;
    private final Runnable onClose;

    /**
     * @param onClose releases the snapshot
     */
    DatasetView(Dataset dataset, ViewState state, Runnable onClose) {
        this.dataset = dataset;
        this.state = state;
        this.onClose = onClose;
    }

    @Override
    public Source source() {
        return dataset;
    }

    @Override
    public long timestamp() {
        return state.timestamp();
    }

    @Override
    public int partitionCount() {
        return dataset.partitions().size();
    }

    @Override
    public boolean get(Slice primaryKey, ByteSink record) {
        state.checkOpen();
        long hash = BloomFilter.hash(primaryKey);
        Partition partition = dataset.partition(hash);
        Found found = new Found(Limits.RECORD_BYTES_MAX);
        Version pinned = partition.pin();
        try {
            record.clear();
            if (partition.find(pinned, primaryKey, hash, state.timestamp(), found)
                    != Found.MATTER) {
                return false;
            }
            record.putBytes(found.value.segment(), 0, found.value.length());
            return true;
        } finally {
            pinned.unpin();
        }
    }

    @Override
    public RecordCursor scan(int partition, KeyRange primaryKeys, FilterPredicate filter) {
        state.checkOpen();
        return PartitionReads.scan(dataset.partitions().get(partition), state, primaryKeys, filter);
    }

    @Override
    public IndexCursor search(int partition, String index, KeyRange range, FilterPredicate filter) {
        state.checkOpen();
        return PartitionReads.search(
                dataset.partitions().get(partition), position(index), state, range, filter);
    }

    @Override
    public RecordCursor fetch(int partition, KeyBatch sortedKeys) {
        state.checkOpen();
        return PartitionReads.fetch(dataset.partitions().get(partition), state, sortedKeys);
    }

    @Override
    public long estimateScan(KeyRange primaryKeys, FilterPredicate filter) {
        state.checkOpen();
        long entries = 0;
        for (Partition partition : dataset.partitions()) {
            entries += PartitionReads.estimate(partition, 0, primaryKeys, filter);
        }
        return entries;
    }

    @Override
    public long estimateSearch(String index, KeyRange range, FilterPredicate filter) {
        state.checkOpen();
        int tree = 1 + position(index);
        long entries = 0;
        for (Partition partition : dataset.partitions()) {
            entries += PartitionReads.estimate(partition, tree, range, filter);
        }
        return entries;
    }

    private int position(String index) {
        int position = dataset.schema().indexPosition(index);
        if (position < 0) {
            throw new InvalidRequestException(
                    "dataset %s has no index '%s'".formatted(dataset.name(), index));
        }
        return position;
    }

    @Override
    public void close() {
        if (state.close()) {
            onClose.run();
        }
    }
}
