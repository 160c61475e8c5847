package io.turbidite.lsm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.engine.DatasetLoad;

/**
 * Loads records into an empty dataset, straight into disk components: no log, no memory component, one
 * component for each index of each partition. All of it is there when {@link #finish} returns, or nothing.
 * Meanwhile the dataset takes no other writes.
 *
 * <pre>{@code
 * try (BulkLoader loader = dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS)) {
 *     while (...) loader.add(writer.write(fields));
 *     loader.finish();
 * }
 * }</pre>
 *
 * <p>Sorted input is written once; unsorted input and the entries of secondaries are sorted in half of the
 * store's write memory, and spilled to files where that is too little.
 *
 * <p><em>For one thread at a time:</em> a call while another is under way is refused, but {@link #close},
 * which waits for it. A store that is closed closes its loaders first.
 */
public final class BulkLoader implements AutoCloseable {
    private final DatasetLoad load;

    BulkLoader(DatasetLoad load) {
        this.load = load;
    }

    /**
     * Adds an encoded record.
     *
     * @throws InvalidRequestException if a key is too long, or the input is to be sorted and the primary key is
     *     not above the one before: the record was not added. Or if a primary key was given twice and that is
     *     refused: this may come late, at the latest from {@link #finish}, and the load can only be given up
     * @throws io.turbidite.core.StorageIoException if the disk is full, say. Unsorted: the record was not
     *     added and may be added again. Sorted: the loader is closed, and nothing is loaded
     */
    public void add(Slice record) {
        load.add(record);
    }

    /** Records added, duplicates too. */
    public long recordCount() {
        return load.recordCount();
    }

    /**
     * Makes the load durable and visible.
     *
     * @return how many records were loaded, duplicates counted once
     * @throws InvalidRequestException if a snapshot that was taken during the load is still open: it
     *     would see the load appear; close it and call again. Or if a primary key was given twice and that is
     *     refused; then, as after any other failure, the loader is closed and nothing is loaded
     */
    public long finish() {
        return load.finish();
    }

    /** Gives up what was not finished. Waits for a call that is under way. */
    @Override
    public void close() {
        load.close();
    }

    @Override
    public String toString() {
        return load.toString();
    }
}
