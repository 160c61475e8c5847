package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.dataset.OneAtATime;
import io.turbidite.lsm.write.Write;

import java.util.BitSet;

/**
 * Operations that happen together or not at all, across datasets and partitions of one store: in
 * one log record, and at neighbouring timestamps that readers see together. Reusable after {@link
 * #clear()}.
 *
 * <p>If several operations have the same key, the last one counts. Each insert is checked as if the
 * operations came one after the other: there must be no record when its turn comes. So an insert
 * after an operation that left a record is a duplicate. The first insert of a key needs a free key
 * whatever follows, even a delete. The batch copies keys and records: the caller may reuse them. It
 * refuses a dataset of another store.
 *
 * <em>For one thread at a time:</em> while one call is under way, the write included, another is
 * refused.
 */
public final class WriteBatch {
    private final Store store;
    private final Write write;
    private final OneAtATime calls = new OneAtATime("a batch");

    /** @param store the only store that may write the batch */
    WriteBatch(Store store, Write write) {
        this.store = store;
        this.write = write;
    }

    /**
     * Puts an encoded record. It replaces the record with the same primary key, if there is one.
     */
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
     * @throws InvalidRequestException if the key is longer than any page can hold
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

    /**
     * Makes the batch depend on what is there under the key of the operation that was put in last:
     * it is done if that is the record of this version, else nothing of it. No other operation of
     * the batch may have that key. Once a batch; the key is read, whatever the strategy.
     *
     * @param version of {@link Dataset#getVersioned} or {@link #version}; 0: there must be no
     *     record
     */
    public WriteBatch onlyIf(long version) {
        calls.enter();
        try {
            write.operations().onlyIf(version);
            return this;
        } finally {
            calls.leave();
        }
    }

    /**
     * Makes the batch depend on it that the key of each operation has the very record which a
     * snapshot shows: it is done if all have, else nothing of it, and {@link #changed} says which
     * have not. Until {@link #clear}. It has no insert; the keys are read, whatever the strategy.
     *
     * @param timestamp of the snapshot, or of a view
     */
    public WriteBatch onlyIfUnchangedSince(long timestamp) {
        calls.enter();
        try {
            write.operations().onlyIfUnchangedSince(timestamp);
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

    /** Forgets all operations; keeps the memory for the next ones. */
    public WriteBatch clear() {
        calls.enter();
        try {
            write.operations().clear();
            return this;
        } finally {
            calls.leave();
        }
    }

    /** The number of operations. */
    public int size() {
        return write.operations().size();
    }

    /** Bytes of the keys and records. */
    public int byteCount() {
        return write.operations().byteCount();
    }

    /**
     * Whether a record or key of so many bytes goes in beside what was put in, with the batch far
     * below what the log takes at once. An empty batch has room for any.
     */
    public boolean hasRoom(int bytes) {
        int bytesMax = store.engine().options().log().payloadBytesMax() / 4;
        return size() == 0 || byteCount() + (long) bytes <= bytesMax;
    }

    /**
     * Whether the last write did nothing because of {@link #onlyIf} or {@link
     * #onlyIfUnchangedSince}.
     */
    public boolean isRefused() {
        return write.isRefused();
    }

    /**
     * Which operations met another record than {@link #onlyIfUnchangedSince} asked for, or none,
     * when the last write was refused; from 0, in the order of adding.
     */
    public BitSet changed() {
        return (BitSet) write.changed().clone();
    }

    /**
     * The version of the record that the last write put under the key of {@link #onlyIf}; without
     * that, of the last record. 0 if it did nothing.
     */
    public long version() {
        return write.version();
    }

    Store store() {
        return store;
    }

    /** Begins the write of the batch; {@link #endWrite} ends it. */
    void beginWrite() {
        calls.enter();
    }

    void endWrite() {
        calls.leave();
    }

    /** The engine's part of this batch. */
    Write write() {
        return write;
    }
}
