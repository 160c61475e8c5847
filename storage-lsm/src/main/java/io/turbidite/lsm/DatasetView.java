package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.CandidateBatch;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordSample;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.Source;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.VersionSearch;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.read.BatchGet;
import io.turbidite.lsm.read.PartitionReads;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.Version;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;

/**
 * A dataset at a registered snapshot, with the indexes that were usable at its opening. One that
 * was dropped or disabled meanwhile is not among them any more, and a search that was planned
 * before fails; another index with the same name never takes its place.
 */
final class DatasetView implements ReadView {
    /** Memory for the records of a batch that the caller wants in key order. */
    private static final int FETCH_ORDER_BYTES = 1 << 20;

    private final Dataset dataset;
    private final DatasetSchema schema;
    private final ViewState state;
    private final Runnable onClose;

    /**
     * @param schema has the indexes that can be searched
     * @param onClose releases the snapshot
     */
    DatasetView(Dataset dataset, DatasetSchema schema, ViewState state, Runnable onClose) {
        this.dataset = dataset;
        this.schema = schema;
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
    public List<IndexDescription> indexes() {
        DatasetSchema current = dataset.schema();
        if (current.equals(schema)) {
            return describe(schema);
        }
        List<IndexDescription> left = new ArrayList<>();
        for (IndexSchema index : schema.indexes()) {
            IndexSchema now = current.catalog().find(index.name());
            if (index.isReady()
                    && now != null
                    && now.isReady()
                    && now.tree().equals(index.tree())) {
                left.add(index.describe());
            }
        }
        return Collections.unmodifiableList(left);
    }

    /** The indexes that can be searched: asked for by each query, so without a stream. */
    static List<IndexDescription> describe(DatasetSchema schema) {
        List<IndexDescription> ready = new ArrayList<>(schema.indexes().size());
        for (IndexSchema index : schema.indexes()) {
            if (index.isReady()) {
                ready.add(index.describe());
            }
        }
        return Collections.unmodifiableList(ready);
    }

    @Override
    public int partitionCount() {
        return dataset.partitions().size();
    }

    @Override
    public boolean get(Slice primaryKey, ByteSink record) {
        state.checkOpen();
        long waits = dataset.slow().waitCount();
        boolean there = getAny(primaryKey, record);
        dataset.slow().endedRead(waits, dataset.clock());
        return there;
    }

    private boolean getAny(Slice primaryKey, ByteSink record) {
        if (getExactly(primaryKey, record)) {
            return true;
        }
        if (schema.primaryKey().isAmbiguous()) {
            for (Slice other : schema.primaryKey().alternatives(primaryKey)) {
                if (getExactly(other, record)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean getExactly(Slice primaryKey, ByteSink record) {
        long hash = BloomFilter.hash(primaryKey);
        Partition partition = dataset.partition(hash);
        Found found = new Found(record);
        Version pinned = partition.pin();
        try {
            boolean there = VersionSearch.find(pinned, primaryKey, hash, state.timestamp(), found)
                    == Found.MATTER;
            if (!there) {
                record.clear();
            }
            return there;
        } finally {
            pinned.unpin();
        }
    }

    @Override
    public void get(KeyBatch keys, RecordBatch records) {
        state.checkOpen();
        keys.sort();
        records.clear(keys.size());
        long waits = dataset.slow().waitCount();
        BatchGet lookup = dataset.takeBatchGet();
        lookup.run(state, keys, dataset.partitions(), dataset::partition, records);
        dataset.giveBatchGet(lookup);
        if (schema.primaryKey().isAmbiguous()) {
            getTwins(keys, records);
        }
        dataset.slow().endedRead(waits, dataset.clock());
    }

    /** Keys without a record may be other keys of a value that has one. */
    private void getTwins(KeyBatch keys, RecordBatch records) {
        Slice key = new Slice();
        ByteSink record = new ByteSink(256, Limits.RECORD_BYTES_MAX);
        for (int i = 0; i < keys.size(); i++) {
            int added = keys.addedIndex(i);
            if (!records.isPresent(added) && getAny(keys.key(i, key), record.clear())) {
                records.set(added, record.asSlice(new Slice()));
            }
        }
    }

    @Override
    public RecordCursor scan(int partition, KeyRange primaryKeys, FilterPredicate filter) {
        state.checkOpen();
        return PartitionReads.scan(dataset.partitions().get(partition), state, primaryKeys, filter);
    }

    @Override
    public RecordStream scanUnordered(int partition, KeyRange primaryKeys, FilterPredicate filter) {
        state.checkOpen();
        return PartitionReads.scanUnordered(
                dataset.partitions().get(partition), state, primaryKeys, filter);
    }

    @Override
    public IndexCursor search(
            int partition, String index, IndexSearch search, FilterPredicate filter) {
        state.checkOpen();
        return PartitionReads.search(
                dataset.partitions().get(partition), index(index), state, search, filter);
    }

    @Override
    public void validate(int partition, CandidateBatch candidates) {
        state.checkOpen();
        PartitionReads.validate(dataset.partitions().get(partition), state, candidates);
    }

    @Override
    public RecordStream fetch(int partition, KeyBatch sortedKeys) {
        return fetch(
                partition, sortedKeys, FetchOptions.defaults().withOrderBytes(FETCH_ORDER_BYTES));
    }

    @Override
    public RecordStream fetch(int partition, KeyBatch sortedKeys, FetchOptions options) {
        state.checkOpen();
        return PartitionReads.fetch(
                dataset.partitions().get(partition), state, sortedKeys, options);
    }

    @Override
    public double missShare() {
        state.checkOpen();
        return dataset.partitions().getFirst().work().missShare();
    }

    @Override
    public OptionalLong countRecords(Runnable checkNotStopped) {
        long records = 0;
        for (Partition partition : dataset.partitions()) {
            state.checkOpen();
            long counted = PartitionReads.count(partition, state, checkNotStopped);
            if (counted < 0) {
                return OptionalLong.empty();
            }
            records += counted;
        }
        return OptionalLong.of(records);
    }

    @Override
    public boolean tellsRecordCount() {
        for (Partition partition : dataset.partitions()) {
            state.checkOpen();
            if (!PartitionReads.isCountTold(partition, state)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public long estimateScan(KeyRange primaryKeys, FilterPredicate filter) {
        state.checkOpen();
        long entries = 0;
        for (Partition partition : dataset.partitions()) {
            entries += PartitionReads.estimate(partition, TreeId.PRIMARY, primaryKeys, filter);
        }
        return entries;
    }

    @Override
    public long estimateSearch(String index, IndexSearch search, FilterPredicate filter) {
        state.checkOpen();
        IndexSchema schemaOfIndex = index(index);
        long entries = 0;
        for (Partition partition : dataset.partitions()) {
            entries += PartitionReads.estimateSearch(partition, schemaOfIndex, search, filter);
        }
        return entries;
    }

    @Override
    public RecordSample sample() {
        state.checkOpen();
        return PartitionReads.sample(dataset.partitions(), dataset.sample());
    }

    private IndexSchema index(String name) {
        IndexSchema index = schema.catalog().find(name);
        if (index == null || !index.isReady()) {
            throw new InvalidRequestException("dataset %s has no index '%s'%s"
                    .formatted(
                            dataset.name(),
                            name,
                            index == null
                                    ? ""
                                    : " to search: it is " + index.state().label()));
        }
        return index;
    }

    @Override
    public void close() {
        if (state.close()) {
            onClose.run();
        }
    }
}
