package io.turbidite.lsm.engine;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.Undo;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.dataset.OneAtATime;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.indexbuild.BulkLoad;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.sort.Duplicates;
import io.turbidite.lsm.strategy.Maintainer;
import io.turbidite.lsm.version.Installation;
import io.turbidite.lsm.version.ManifestState;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * A bulk load of an empty dataset: one {@link BulkLoad} for each partition, all of them installed
 * by one manifest edit. Writers are turned away from the beginning to the end; nobody takes a
 * snapshot while it appears.
 *
 * <p><em>For one thread at a time:</em> a call while another is under way is refused, but
 * {@link #close}.
 */
public final class DatasetLoad implements AutoCloseable {
    private final StoreEngine engine;
    private final OpenDataset dataset;
    private final StoreCore core;
    private final Maintainer maintainer;
    private final boolean sorted;
    private final List<BulkLoad> loads = new ArrayList<>();
    private final ByteSink keyBytes = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private final Slice key = new Slice();
    private final ByteSink lastBytes = new ByteSink(64, Limits.KEY_BYTES_MAX);
    private final Slice last = new Slice();
    private long recordCount;
    private final Installation installation = new Installation();
    private boolean holdsSnapshotsBack;

    /** The last try to finish was refused, and there may be another. */
    private boolean snapshotIsOpen;

    private final OneAtATime calls = new OneAtATime("a bulk loader");

    /** Written in a call; volatile, so that a loader that is closed by another thread says so. */
    private volatile boolean closed;

    private DatasetLoad(StoreEngine engine, OpenDataset dataset, boolean sorted) {
        this.engine = engine;
        this.dataset = dataset;
        this.core = engine.core();
        this.maintainer = dataset.takeMaintainer();
        this.sorted = sorted;
    }

    /** Begins a load of records whose primary keys ascend. */
    public static DatasetLoad sorted(
            StoreEngine engine, OpenDataset dataset, long expectedRecords) {
        int count = dataset.partitions().size();
        long memoryBytes = memoryBytes(engine) / count;
        return begin(engine, dataset, true)
                .open(partition ->
                        BulkLoad.sorted(partition, memoryBytes, expectedRecords / count + 1));
    }

    /**
     * Begins a load of records in any order.
     *
     * @param refusesRepeats whether a primary key given twice makes it fail; otherwise the last
     *     record counts
     */
    public static DatasetLoad unsorted(
            StoreEngine engine, OpenDataset dataset, boolean refusesRepeats) {
        DatasetLoad loader = begin(engine, dataset, false);
        Duplicates rule = refusesRepeats
                ? new Duplicates.Refuse(loader::givenTwice)
                : new Duplicates.Newest();
        // half for the records of all partitions, half for the entries of the one that is being
        // completed
        long half = memoryBytes(engine) / 2;
        long records = half / dataset.partitions().size();
        return loader.open(partition -> BulkLoad.unsorted(partition, records, half, rule));
    }

    private static long memoryBytes(StoreEngine engine) {
        return engine.options().writeMemoryBytes() / 2;
    }

    /**
     * Turns writers away and checks that there is nothing yet; if there is, they may come again.
     */
    private static DatasetLoad begin(StoreEngine engine, OpenDataset dataset, boolean sorted) {
        if (!dataset.uniqueIndexes().isEmpty()) {
            throw new InvalidRequestException(
                    "bulk load of %s: index %s is unique; drop or disable it, load, and create or enable it"
                            .formatted(
                                    dataset.name(),
                                    dataset.uniqueIndexes().getFirst().name()));
        }
        dataset.admission().beginLoad();
        try (Undo undo = Undo.of(() -> dataset.admission().endLoad())) {
            // whoever did not see the mark is through
            engine.core().health().checkWritable();
            engine.writes().awaitInFlight();
            dataset.admission().checkNotDropped();
            if (!dataset.partitions().stream().allMatch(Partition::isEmpty)) {
                throw new InvalidRequestException(
                        "bulk load of %s: the dataset is not empty".formatted(dataset.name()));
            }
            DatasetLoad loader = new DatasetLoad(engine, dataset, sorted);
            engine.add(loader);
            return undo.keep(loader);
        }
    }

    private DatasetLoad open(Function<Partition, BulkLoad> start) {
        try (Undo undo = Undo.of(this::close)) {
            dataset.partitions().forEach(partition -> loads.add(start.apply(partition)));
            return undo.keep(this);
        }
    }

    private InvalidRequestException givenTwice(Slice twice) {
        return new InvalidRequestException("bulk load of %s: primary key %s is given twice"
                .formatted(dataset.name(), dataset.schema().primaryKey().decode(twice, 0)));
    }

    /**
     * Adds an encoded record. What is refused was not added; a sorted load that fails is closed.
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
                                    dataset.schema().primaryKey().decode(key, 0),
                                    dataset.schema().primaryKey().decode(last, 0)));
        }
    }

    /** Records added, duplicates too. */
    public long recordCount() {
        return recordCount;
    }

    /**
     * Makes the load durable and visible; closed after any failure but that of an open snapshot.
     *
     * @return how many records were loaded, duplicates counted once
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
        try (Undo undo = Undo.of(this::closeInside)) {
            for (BulkLoad load : loads) {
                loadedCount += load.complete();
            }
            if (dataset.schema().primaryKey().isAmbiguous()) {
                loads.forEach(load -> load.forEachKey(this::checkTwins));
            }
            undo.keep();
        }
        install();
        return loadedCount;
    }

    /** Where the two zeros are two keys, records of both would be one key with two records. */
    private void checkTwins(Slice loaded) {
        for (Slice other : dataset.schema().primaryKey().alternatives(loaded)) {
            long hash = BloomFilter.hash(other);
            if (loads.get(dataset.partition(hash).number()).has(other, hash)) {
                throw new InvalidRequestException(
                        "bulk load of %s: primary keys %s and %s are given, which are equal: its keys are of an older form that tells -0.0 from 0.0; give one of them"
                                .formatted(
                                        dataset.name(),
                                        dataset.schema().primaryKey().decode(loaded, 0),
                                        dataset.schema().primaryKey().decode(other, 0)));
            }
        }
    }

    private void install() {
        snapshotIsOpen = false;
        try {
            core.log().flush();
            installation.run(
                    () -> core.edit(this::stateAfter, () -> loads.forEach(BulkLoad::install)));
        } finally {
            if (holdsSnapshotsBack) {
                holdsSnapshotsBack = false;
                core.timestamps().letSnapshotsIn();
            }
            if (!snapshotIsOpen) {
                closeInside();
            }
        }
    }

    /**
     * Under the manifest's lock. From here to the end of the edit nobody takes a snapshot: it would
     * be at or above a timestamp of the load, and see it appear.
     */
    private ManifestState stateAfter(ManifestState before) {
        long loadedFrom =
                loads.stream().mapToLong(BulkLoad::firstTimestamp).min().orElse(Long.MAX_VALUE);
        holdsSnapshotsBack = core.timestamps().tryHoldBack(loadedFrom);
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
        return after.withProgress(core.timestamps().lastDrawn(), before.logPosition());
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the bulk loader");
        }
        core.health().checkWritable();
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
                core.tasks().await(() -> closed || !calls.isInside());
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
            new Cleanup()
                    .add(() -> dataset.giveMaintainer(maintainer))
                    .addAll(loads, load -> load.close(installation.mayStand()))
                    .add(dataset.admission()::endLoad)
                    .add(() -> engine.remove(this))
                    .run();
        }
    }
}
