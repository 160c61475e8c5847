package io.turbidite.lsm.write;

import io.turbidite.core.bytes.Slice;

/**
 * One operation on one record, on its way into the log and the memory components; reused.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class Change {
    private final Slice key = new Slice();
    private final Slice record = new Slice();
    private int datasetId;
    private boolean delete;

    public Change upsert(int dataset, Slice newKey, Slice newRecord) {
        datasetId = dataset;
        delete = false;
        key.set(newKey);
        record.set(newRecord);
        return this;
    }

    public Change delete(int dataset, Slice oldKey) {
        datasetId = dataset;
        delete = true;
        key.set(oldKey);
        record.clear();
        return this;
    }

    public int datasetId() {
        return datasetId;
    }

    public boolean isDelete() {
        return delete;
    }

    /** The encoded primary key. */
    public Slice key() {
        return key;
    }

    /** The encoded record; empty for a delete. */
    public Slice record() {
        return record;
    }
}
