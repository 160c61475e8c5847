package io.turbidite.lsm;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.partition.BulkLoad;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.Substrate;
import io.turbidite.lsm.version.ManifestState;

import java.util.ArrayList;
import java.util.List;

/**
 * Loads records in primary key order into an empty dataset, straight into disk components: no log, no
 * memory component, each record written once. All of it is there when {@link #finish} returns, or
 * nothing. Meanwhile the dataset takes no other writes.
 *
 * <pre>{@code
 * try (BulkLoader loader = dataset.bulkLoad(expectedRecords)) {
 *     while (...) loader.add(writer.write(fields));
 *     loader.finish();
 * }
 * }</pre>
 *
 * <p><em>Confined to one thread.</em>
 */
public final class BulkLoader implements AutoCloseable {
    private final Dataset dataset;
    private final Substrate substrate;
    private final List<BulkLoad> loads = new ArrayList<>();
    private final ByteSink keyBytes = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private final Slice key = new Slice();
    private final ByteSink lastBytes = new ByteSink(64, Limits.KEY_BYTES_MAX);
    private final Slice last = new Slice();
    private long recordCount;
    private boolean closed;

    /**
     * @param memoryBytes for secondary entries, of all partitions together
     */
    BulkLoader(Dataset dataset, Substrate substrate, long memoryBytes, long expectedRecords) {
        int partitions = dataset.partitions().size();
        this.dataset = dataset;
        this.substrate = substrate;
        for (Partition partition : dataset.partitions()) {
            loads.add(new BulkLoad(
                    partition, memoryBytes / partitions, expectedRecords / partitions + 1));
        }
    }

    /**
     * Adds an encoded record.
     *
     * @throws InvalidRequestException if its primary key is not above the one before, or a key is too
     *     long; the record was not added
     */
    public void add(Slice record) {
        checkOpen();
        dataset.appendKey(record, keyBytes, key);
        if (recordCount > 0 && key.compareBytes(lastBytes.asSlice(last)) <= 0) {
            throw new InvalidRequestException(
                    "bulk load of %s: primary key %s is not above %s, the one before"
                            .formatted(
                                    dataset.name(),
                                    dataset.primaryKeySpec().decode(key, 0),
                                    dataset.primaryKeySpec().decode(last, 0)));
        }
        long hash = BloomFilter.hash(key);
        loads.get(dataset.partition(hash).number()).add(key, record);
        lastBytes.clear().putBytes(key);
        recordCount++;
    }

    /** Records added. */
    public long recordCount() {
        return recordCount;
    }

    /**
     * Makes the load durable and visible.
     *
     * @throws InvalidRequestException if a snapshot that was taken during the load is still open: it
     *     would see the load appear; close it and call again
     */
    public void finish() {
        checkOpen();
        loads.forEach(BulkLoad::complete);
        long loadedFrom =
                loads.stream().mapToLong(BulkLoad::loadedFrom).min().orElse(Long.MAX_VALUE);
        if (substrate.timestamps().hasSnapshotFrom(loadedFrom)) {
            throw new InvalidRequestException(
                    "bulk load of %s: a snapshot taken during the load is open"
                            .formatted(dataset.name()));
        }
        substrate.log().flush();
        try {
            substrate.manifest().edit(this::stateAfter, () -> loads.forEach(BulkLoad::install));
        } catch (StoreFailedException uncertain) {
            loads.forEach(BulkLoad::keepFiles);
            substrate.health().fail(uncertain);
            throw uncertain;
        }
        close();
    }

    private ManifestState stateAfter(ManifestState before) {
        ManifestState after = before;
        int id = dataset.schema().id();
        for (int i = 0; i < loads.size(); i++) {
            after = after.withPartition(id, i, loads.get(i).stateAfter(before.partition(id, i)));
        }
        return after.withProgress(substrate.timestamps().lastDrawn(), before.logPosition());
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the bulk loader");
        }
        substrate.health().checkWritable();
    }

    /** Gives up what was not finished. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            loads.forEach(BulkLoad::close);
            dataset.endBulkLoad();
        }
    }
}
