package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.dataset.OneAtATime;
import io.turbidite.lsm.write.Write;

/**
 * Operations that happen together or not at all: one timestamp, one log record, across datasets and
 * partitions of one store. Reusable after {@link #clear()}.
 *
 * <p>Of several operations on one key the last one counts, and what each insert asks for holds as if they
 * came one after the other: there must be no record when its turn comes. So an insert after an operation
 * that left a record is a duplicate, and the first insert of a key needs it to be free whatever follows, a
 * delete too. Holds copies: what was handed in may be reused. A dataset of another store is refused.
 *
 * <p><em>For one thread at a time:</em> a call while another is under way, the write too, is refused.
 */
public final class WriteBatch {
    private final Store store;
    private final Write write;
    private final OneAtATime calls = new OneAtATime("a batch");

    /**
     * @param store the only one that may write it
     */
    WriteBatch(Store store, Write write) {
        this.store = store;
        this.write = write;
    }

    /** Puts an encoded record, replacing the one with its primary key. */
    public WriteBatch upsert(Dataset dataset, Slice record) {
        calls.enter();
        try {
            requireOwn(dataset);
            write.operations().upsert(dataset.opened(), record);
            return this;
        } finally {
            calls.leave();
        }
    }

    /** Puts an encoded record whose primary key must be free. */
    public WriteBatch insert(Dataset dataset, Slice record) {
        calls.enter();
        try {
            requireOwn(dataset);
            write.operations().insert(dataset.opened(), record);
            return this;
        } finally {
            calls.leave();
        }
    }

    /**
     * Deletes the record with this encoded primary key, if there is one.
     *
     * @throws InvalidRequestException if it is longer than any key may be, so that no page could hold it
     */
    public WriteBatch delete(Dataset dataset, Slice primaryKey) {
        calls.enter();
        try {
            requireOwn(dataset);
            write.operations().delete(dataset.opened(), primaryKey);
            return this;
        } finally {
            calls.leave();
        }
    }

    private void requireOwn(Dataset dataset) {
        store.checkReadable();
        if (dataset.store() != store) {
            store.requireOwn(dataset);
        }
    }

    /** Forgets all operations; memory is kept for the next ones. */
    public WriteBatch clear() {
        calls.enter();
        try {
            write.operations().clear();
            return this;
        } finally {
            calls.leave();
        }
    }

    /** Operations put in. */
    public int size() {
        return write.operations().size();
    }

    /** Bytes of keys and records put in. */
    public int byteCount() {
        return write.operations().byteCount();
    }

    Store store() {
        return store;
    }

    /** The write of the batch begins; {@link #endWrite} ends it. */
    void beginWrite() {
        calls.enter();
    }

    void endWrite() {
        calls.leave();
    }

    /** What of it the engine sees. */
    Write write() {
        return write;
    }
}
