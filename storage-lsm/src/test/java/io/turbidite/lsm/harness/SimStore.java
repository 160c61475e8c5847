package io.turbidite.lsm.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.HeapIndexKind;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.check.VerifyReport;

import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** A store on a simulated disk, with simulated tasks and clock. */
public final class SimStore implements AutoCloseable {
    public final SimDisk disk;
    public final SimTasks tasks;
    public final Store store;

    private SimStore(SimDisk disk, SimTasks tasks, Store store) {
        this.disk = disk;
        this.tasks = tasks;
        this.store = store;
    }

    public static StoreOptions options(Durability durability) {
        LogOptions log = LogOptions.defaults()
                .withSegmentBytes(256 << 10, 16, 256, 64 << 10)
                .withDurability(durability);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withIndexKinds(HeapIndexKind.persistent())
                .withLog(1 << 20, log);
    }

    public static SimStore open(SimDisk disk, long seed, StoreOptions options) {
        return open(disk, seed, options, same -> same);
    }

    /**
     * Opens a store that sees the disk through {@code lens}: a planted bug, perhaps.
     */
    public static SimStore open(
            SimDisk disk, long seed, StoreOptions options, UnaryOperator<Disk> lens) {
        return open(disk, seed, options, lens, new SimClock());
    }

    public static SimStore open(
            SimDisk disk,
            long seed,
            StoreOptions options,
            UnaryOperator<Disk> lens,
            SimClock clock) {
        SimTasks tasks = new SimTasks(seed, clock);
        Store store = Store.open(lens.apply(disk), tasks, clock, options);
        // else no history would be long enough
        Inside.core(store).liveVersions().lookAtOnce();
        return new SimStore(disk, tasks, store);
    }

    /** All rows of a dataset, by a scan of every partition at one view. */
    public static NavigableMap<Long, Row> rows(Dataset dataset) {
        try (ReadView view = dataset.openView()) {
            return rows(dataset, view);
        }
    }

    public static NavigableMap<Long, Row> rows(Dataset dataset, ReadView view) {
        TreeMap<Long, Row> rows = new TreeMap<>();
        RecordView record = new RecordView(dataset.type());
        for (int p = 0; p < view.partitionCount(); p++) {
            Slice before = null;
            try (RecordCursor cursor = view.scan(p, KeyRange.all(), FilterPredicate.none())) {
                while (cursor.next()) {
                    if (before != null) {
                        assertThat(before.compareBytes(cursor.key())).isNegative();
                    }
                    before = Slice.of(cursor.key().toByteArray());
                    Row row = Row.of(record.wrap(cursor.record()).toMap());
                    assertThat(rows.put(row.id(), row)).isNull();
                }
            }
        }
        assertThat(unorderedRows(dataset, view, FilterPredicate.none())).isEqualTo(rows);
        view.countRecords(() -> {}).ifPresent(count -> assertThat(count).isEqualTo(rows.size()));
        return rows;
    }

    /** The same by scans in no order. */
    static NavigableMap<Long, Row> unorderedRows(
            Dataset dataset, ReadView view, FilterPredicate filter) {
        TreeMap<Long, Row> rows = new TreeMap<>();
        RecordView record = new RecordView(dataset.type());
        for (int p = 0; p < view.partitionCount(); p++) {
            try (RecordStream stream = view.scanUnordered(p, KeyRange.all(), filter)) {
                while (stream.next()) {
                    Row row = Row.of(record.wrap(stream.record()).toMap());
                    assertThat(rows.put(row.id(), row)).isNull();
                }
            }
        }
        return rows;
    }

    /**
     * A number that stands for everything in the store, but for the dataset that comes and goes.
     */
    public long contentHash() {
        long hash = 0;
        for (Dataset dataset : store.datasets()) {
            if (dataset.name().equals(SchemaWorkload.PASSING)) {
                continue;
            }
            for (Row row : rows(dataset).values()) {
                hash ^= Oracle.hashOf(dataset.name(), row);
            }
        }
        return hash;
    }

    public void verify() {
        VerifyReport report = store.verify();
        assertThat(report.errors()).isEmpty();
    }

    @Override
    public void close() {
        store.close();
    }
}
