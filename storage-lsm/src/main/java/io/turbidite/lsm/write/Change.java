package io.turbidite.lsm.write;

import io.turbidite.core.bytes.Slice;

/**
 * One operation on one record, on its way into the log and the memory components; reused.
 *
 * <p><em>Confined to one thread.</em>
 */
final class Change {
    private final Slice key = new Slice();
    private final Slice record = new Slice();
    private int datasetId;
    private boolean delete;
    private boolean update;

    public Change upsert(int dataset, Slice newKey, Slice newRecord) {
        datasetId = dataset;
        update = false;
        delete = false;
        key.set(newKey);
        record.set(newRecord);
        return this;
    }

    public Change delete(int dataset, Slice oldKey) {
        datasetId = dataset;
        update = false;
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

    /**
     * Says whether a record is superseded that is not in the memory component which the operation
     * goes to, so that a bitmap must be changed (the update bit of LUO19 §5.2).
     */
    public Change update(boolean isUpdate) {
        update = isUpdate;
        return this;
    }

    public boolean isUpdate() {
        return update;
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
