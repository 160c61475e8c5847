package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.engine.DatasetLoad;

/**
 * Loads records into an empty dataset, straight into disk components: no log, no memory component,
 * one component for each index of each partition. {@link #finish} makes the whole load visible, or
 * nothing. Until then the dataset takes no other writes.
 *
 * <pre>{@code
 * try (BulkLoader loader = dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS)) {
 *     while (...) loader.add(writer.write(fields));
 *     loader.finish();
 * }
 * }</pre>
 *
 * <p>The loader writes sorted input once. It sorts unsorted input and the entries of secondaries in
 * half of the store's write memory, and spills to files if that is too little.
 *
 * <p><em>For one thread at a time:</em> while one call is under way, another is refused; only
 * {@link #close} waits for it. Closing the store closes its loaders first.
 */
public final class BulkLoader implements AutoCloseable {
    private final DatasetLoad load;

    BulkLoader(DatasetLoad load) {
        this.load = load;
    }

    /**
     * Adds an encoded record.
     *
     * @throws InvalidRequestException if a key is too long, or if sorted input has a primary key
     *     that is not above the one before; the record was not added. Also if a primary key came
     *     twice and the loader refuses that: this exception may come late, {@link #finish} is the
     *     latest, and then you can only give up the load
     * @throws io.turbidite.core.StorageIoException for example if the disk is full. Unsorted: the
     *     record was not added, and you may add it again. Sorted: the loader is closed, and nothing
     *     is loaded
     */
    public void add(Slice record) {
        load.add(record);
    }

    /** The number of added records, duplicates included. */
    public long recordCount() {
        return load.recordCount();
    }

    /**
     * Makes the load durable and visible.
     *
     * @return how many records were loaded, duplicates counted once
     * @throws InvalidRequestException if a snapshot taken during the load is still open, because
     *     the load would appear in it: close the snapshot and call again. Also if a primary key
     *     came twice and the loader refuses that; then, as after any other failure, the loader is
     *     closed and nothing is loaded
     */
    public long finish() {
        return load.finish();
    }

    /** Gives up an unfinished load. Waits for a running call. */
    @Override
    public void close() {
        load.close();
    }

    @Override
    public String toString() {
        return load.toString();
    }
}
