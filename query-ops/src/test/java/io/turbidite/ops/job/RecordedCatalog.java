package io.turbidite.ops.job;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.ChangeBatch;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.catalog.Moment;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.Source;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;

/** A catalog that keeps what is changed, batch by batch, and may be made to fail at one. */
final class RecordedCatalog implements Catalog {
    private final List<? extends Source> datasets;
    private final int batchRows;

    /** What was done, each batch whole: {@code upsert {"id":1}}. */
    final List<List<String>> written = new ArrayList<>();

    /** Batches that are written before one fails; -1: a sink is not even opened. */
    int failAfter = Integer.MAX_VALUE;

    RecordedCatalog(int batchRows, List<? extends Source> datasets) {
        this.batchRows = batchRows;
        this.datasets = datasets;
    }

    @Override
    public List<? extends Source> datasets() {
        return datasets;
    }

    /** All changes in one list. */
    List<String> all() {
        return written.stream().flatMap(List::stream).toList();
    }

    @Override
    public ChangeBatch newBatch(Source dataset) {
        if (failAfter < 0) {
            throw new IllegalStateException("planted: no batch");
        }
        return new Batch(dataset);
    }

    /** Keeps texts. */
    private final class Batch implements ChangeBatch {
        private final Source dataset;
        private final List<String> changes = new ArrayList<>();

        Batch(Source dataset) {
            this.dataset = dataset;
        }

        private void put(String what, Slice record) {
            RecordView view = new RecordView(dataset.type()).wrap(record);
            view.check();
            changes.add(what + " " + view.toMap());
        }

        @Override
        public void insert(Slice record) {
            put("insert", record);
        }

        @Override
        public void upsert(Slice record) {
            put("upsert", record);
        }

        @Override
        public void delete(Slice primaryKey) {
            changes.add("delete " + HexFormat.of().formatHex(primaryKey.toByteArray()));
        }

        @Override
        public int size() {
            return changes.size();
        }

        @Override
        public boolean hasRoom(int bytes) {
            return changes.size() < batchRows;
        }

        @Override
        public void clear() {
            changes.clear();
        }

        @Override
        public void write() {
            synchronized (written) {
                if (written.size() >= failAfter) {
                    throw new IllegalStateException("planted: batch " + written.size());
                }
                written.add(List.copyOf(changes));
            }
        }

        @Override
        public BitSet writeIfUnchangedSince(long timestamp) {
            throw new AssertionError("sinks write without a condition");
        }
    }

    @Override
    public Moment openMoment() {
        throw new AssertionError("not asked of it");
    }

    @Override
    public DatasetDefinition describe(String dataset) {
        throw new AssertionError("not asked of it");
    }

    @Override
    public void createDataset(DatasetDefinition definition) {
        throw new AssertionError("not asked of it");
    }

    @Override
    public void dropDataset(String dataset) {
        throw new AssertionError("not asked of it");
    }

    @Override
    public void createIndex(String dataset, IndexDefinition index) {
        throw new AssertionError("not asked of it");
    }

    @Override
    public void dropIndex(String dataset, String index) {
        throw new AssertionError("not asked of it");
    }
}
