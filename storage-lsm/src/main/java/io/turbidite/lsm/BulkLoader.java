package io.turbidite.lsm;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.indexbuild.BulkLoad;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.Substrate;
import io.turbidite.lsm.sort.Duplicates;
import io.turbidite.lsm.strategy.Maintainer;
import io.turbidite.lsm.version.ManifestState;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

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
    private final Dataset dataset;
    private final Substrate substrate;
    private final Maintainer maintainer;
    private final boolean sorted;
    private final List<BulkLoad> loads = new ArrayList<>();
    private final ByteSink keyBytes = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private final Slice key = new Slice();
    private final ByteSink lastBytes = new ByteSink(64, Limits.KEY_BYTES_MAX);
    private final Slice last = new Slice();
    private long recordCount;
    private boolean holdsSnapshotsBack;

    /** The last try to finish was refused, and there may be another. */
    private boolean snapshotIsOpen;

    private final OneAtATime calls = new OneAtATime("a bulk loader");

    /** Written in a call; volatile, so that a loader that is closed by another thread says so. */
    private volatile boolean closed;

    private BulkLoader(Dataset dataset, boolean sorted) {
        this.dataset = dataset;
        this.substrate = dataset.store().substrate();
        this.maintainer = dataset.opened().takeMaintainer();
        this.sorted = sorted;
    }

    static BulkLoader sorted(Dataset dataset, long expectedRecords) {
        int count = dataset.partitions().size();
        long memoryBytes = memoryBytes(dataset) / count;
        return begin(dataset, true)
                .open(partition ->
                        BulkLoad.sorted(partition, memoryBytes, expectedRecords / count + 1));
    }

    static BulkLoader unsorted(Dataset dataset, DuplicateKeys duplicates) {
        BulkLoader loader = begin(dataset, false);
        Duplicates rule = switch (duplicates) {
            case LAST_COUNTS -> new Duplicates.Newest();
            case REFUSED -> new Duplicates.Refuse(loader::givenTwice);
        };
        // half for the records of all partitions, half for the entries of the one that is being
        // completed
        long half = memoryBytes(dataset) / 2;
        long records = half / dataset.partitions().size();
        return loader.open(partition -> BulkLoad.unsorted(partition, records, half, rule));
    }

    private static long memoryBytes(Dataset dataset) {
        return dataset.store().options().writeMemoryBytes() / 2;
    }

    /** Turns writers away and checks that there is nothing yet; if there is, they may come again. */
    private static BulkLoader begin(Dataset dataset, boolean sorted) {
        if (!dataset.opened().uniqueIndexes().isEmpty()) {
            throw new InvalidRequestException(
                    "bulk load of %s: index %s is unique; drop or disable it, load, and create or enable it"
                            .formatted(
                                    dataset.name(),
                                    dataset.opened().uniqueIndexes().getFirst().name()));
        }
        dataset.admission().beginLoad();
        boolean begun = false;
        try {
            // whoever did not see the mark is through
            dataset.store().awaitWritesInFlight();
            dataset.admission().checkNotDropped();
            if (!dataset.partitions().stream().allMatch(Partition::isEmpty)) {
                throw new InvalidRequestException(
                        "bulk load of %s: the dataset is not empty".formatted(dataset.name()));
            }
            BulkLoader loader = new BulkLoader(dataset, sorted);
            dataset.store().addLoader(loader);
            begun = true;
            return loader;
        } finally {
            if (!begun) {
                dataset.admission().endLoad();
            }
        }
    }

    private BulkLoader open(Function<Partition, BulkLoad> start) {
        boolean complete = false;
        try {
            dataset.partitions().forEach(partition -> loads.add(start.apply(partition)));
            complete = true;
            return this;
        } finally {
            if (!complete) {
                close();
            }
        }
    }

    private InvalidRequestException givenTwice(Slice twice) {
        return new InvalidRequestException("bulk load of %s: primary key %s is given twice"
                .formatted(dataset.name(), dataset.primaryKeySpec().decode(twice, 0)));
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
        calls.enter();
        try {
            addInside(record);
        } finally {
            calls.leave();
        }
    }

    private void addInside(Slice record) {
        checkOpen();
        maintainer.appendKey(record, keyBytes, key);
        if (sorted) {
            checkAboveLast();
        }
        maintainer.check(key, record);
        long hash = BloomFilter.hash(key);
        boolean added = false;
        try {
            loads.get(dataset.partition(hash).number()).add(key, recordCount + 1, record);
            added = true;
        } finally {
            if (!added && sorted) {
                // the record may be in some of the indexes
                closeInside();
            }
        }
        lastBytes.clear().putBytes(key);
        recordCount++;
    }

    private void checkAboveLast() {
        if (recordCount > 0 && key.compareBytes(lastBytes.asSlice(last)) <= 0) {
            throw new InvalidRequestException(
                    "bulk load of %s: primary key %s is not above %s, the one before"
                            .formatted(
                                    dataset.name(),
                                    dataset.primaryKeySpec().decode(key, 0),
                                    dataset.primaryKeySpec().decode(last, 0)));
        }
    }

    /** Records added, duplicates too. */
    public long recordCount() {
        return recordCount;
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
        calls.enter();
        try {
            return finishInside();
        } finally {
            calls.leave();
        }
    }

    private long finishInside() {
        checkOpen();
        long loadedCount = 0;
        boolean complete = false;
        try {
            for (BulkLoad load : loads) {
                loadedCount += load.complete();
            }
            if (dataset.primaryKeySpec().isAmbiguous()) {
                loads.forEach(load -> load.forEachKey(this::checkTwins));
            }
            complete = true;
        } finally {
            if (!complete) {
                closeInside();
            }
        }
        install();
        return loadedCount;
    }

    /** Where the two zeros are two keys, records of both would be one key with two records. */
    private void checkTwins(Slice loaded) {
        for (Slice other : dataset.primaryKeySpec().alternatives(loaded)) {
            long hash = BloomFilter.hash(other);
            if (loads.get(dataset.partition(hash).number()).has(other, hash)) {
                throw new InvalidRequestException(
                        "bulk load of %s: primary keys %s and %s are given, which are equal: its keys are of an older form that tells -0.0 from 0.0; give one of them"
                                .formatted(
                                        dataset.name(),
                                        dataset.primaryKeySpec().decode(loaded, 0),
                                        dataset.primaryKeySpec().decode(other, 0)));
            }
        }
    }

    private void install() {
        snapshotIsOpen = false;
        try {
            substrate.log().flush();
            substrate.edit(this::stateAfter, () -> loads.forEach(BulkLoad::install));
        } catch (StoreFailedException uncertain) {
            loads.forEach(BulkLoad::keepFiles);
            throw uncertain;
        } finally {
            if (holdsSnapshotsBack) {
                holdsSnapshotsBack = false;
                substrate.timestamps().letSnapshotsIn();
            }
            if (!snapshotIsOpen) {
                closeInside();
            }
        }
    }

    /**
     * Under the manifest's lock. From here to the end of the edit nobody takes a snapshot: it would be at or
     * above the timestamp of the load, and see it appear.
     */
    private ManifestState stateAfter(ManifestState before) {
        long loadedFrom =
                loads.stream().mapToLong(BulkLoad::timestamp).min().orElse(Long.MAX_VALUE);
        holdsSnapshotsBack = substrate.timestamps().tryHoldBack(loadedFrom);
        if (!holdsSnapshotsBack) {
            snapshotIsOpen = true;
            throw new InvalidRequestException(
                    "bulk load of %s: a snapshot taken during the load is open"
                            .formatted(dataset.name()));
        }
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

    /** Gives up what was not finished. Waits for a call that is under way. */
    @Override
    public void close() {
        while (!closed) {
            if (calls.tryEnter()) {
                try {
                    closeInside();
                } finally {
                    calls.leave();
                }
            } else {
                substrate.tasks().await(() -> closed || !calls.isInside());
            }
        }
    }

    /** Whether a call is under way. */
    boolean isInside() {
        return calls.isInside();
    }

    @Override
    public String toString() {
        return "a bulk load of dataset %s, %d records so far"
                .formatted(dataset.name(), recordCount);
    }

    private void closeInside() {
        if (!closed) {
            closed = true;
            dataset.opened().giveMaintainer(maintainer);
            loads.forEach(BulkLoad::close);
            dataset.admission().endLoad();
            dataset.store().removeLoader(this);
        }
    }
}
