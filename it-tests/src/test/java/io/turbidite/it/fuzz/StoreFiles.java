package io.turbidite.it.fuzz;

import io.turbidite.core.StorageException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A small store of two strategies, one of whose files is the input. <em>Confined to one
 * thread.</em>
 */
final class StoreFiles implements Decoder.Run {
    /** Where a file's header has its number. */
    private static final int FILE_ID = 40;

    private static final int FILE_ID_END = FILE_ID + Long.BYTES;

    private final SimDisk disk;
    private final List<String> names;

    private StoreFiles(SimDisk disk, List<String> names) {
        this.disk = disk;
        this.names = names;
    }

    /** The files of a kind are those with {@code part} in their names. */
    static StoreFiles of(String part) {
        SimDisk disk = written();
        List<String> names =
                disk.files().stream().filter(name -> name.contains(part)).toList();
        if (names.isEmpty()) {
            throw new IllegalStateException("no %s among %s".formatted(part, disk.files()));
        }
        return new StoreFiles(disk, names);
    }

    static StoreOptions options() {
        LogOptions log = LogOptions.defaults()
                .withSegmentBytes(256 << 10, 16, 256, 64 << 10)
                .withDurability(Durability.SYNC);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(1 << 20, log);
    }

    static Store open(SimDisk disk) {
        SimClock clock = new SimClock();
        return Store.open(disk, new SimTasks(1, clock), clock, options());
    }

    private static DatasetSpec spec(String name, Maintenance maintenance) {
        return DatasetSpec.named(name)
                .field("id", "int64")
                .field("user", "string")
                .field("at", "int64?")
                .primaryKey("id")
                .filter("at")
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-tiering", Map.of("sizeRatio", 1.2)))
                .components(ComponentOptions.primary().withPageBytes(4 << 10))
                .index(IndexSpec.btree("by_user", "user"));
    }

    private static void write(Dataset dataset, int from, int count) {
        for (long id = from; id < from + count; id++) {
            dataset.upsert(Map.of("id", id, "user", "u" + id % 5, "at", id, "extra", "x" + id));
        }
    }

    /**
     * A store that was killed: two components of each index, marks and repairs, a log with frames.
     */
    static SimDisk written() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        SimDisk killed;
        try (Store store = open(disk)) {
            Dataset marked = store.createDataset(spec("Marked", Maintenance.MUTABLE_BITMAP));
            Dataset checked = store.createDataset(spec("Checked", Maintenance.VALIDATION));
            for (Dataset dataset : List.of(marked, checked)) {
                write(dataset, 0, 60);
                dataset.flush();
                write(dataset, 40, 30);
                dataset.delete(7L);
                dataset.flush();
                if (dataset == checked) {
                    dataset.repair();
                }
                write(dataset, 10, 5);
            }
            store.sync();
            killed = disk.copy();
        }
        return killed;
    }

    /** Without the zeros at its end, which a segment of the log has many of. */
    @Override
    public List<byte[]> seeds() {
        return names.stream()
                .map(disk::content)
                .map(bytes -> {
                    int end = bytes.length;
                    while (end > 0 && bytes[end - 1] == 0) {
                        end--;
                    }
                    return Arrays.copyOf(bytes, end);
                })
                .filter(bytes -> bytes.length > 0)
                .toList();
    }

    @Override
    public void decode(byte[] input) {
        SimDisk changed = disk.copy();
        String name = nameOf(input);
        boolean padded = name.startsWith("log/");
        int length = padded ? Math.max(input.length, disk.content(name).length) : input.length;
        changed.put(name, Arrays.copyOf(input, length));
        try (Store store = open(changed)) {
            for (Dataset dataset : store.datasets()) {
                try {
                    read(dataset);
                } catch (StorageException damaged) {
                    store.verify();
                }
            }
            store.verify();
        }
    }

    /**
     * The file that the input says it is, by the number in its header; the first if there is none.
     */
    private String nameOf(byte[] input) {
        for (String name : names) {
            byte[] own = disk.content(name);
            if (input.length >= FILE_ID_END
                    && Arrays.equals(own, FILE_ID, FILE_ID_END, input, FILE_ID, FILE_ID_END)) {
                return name;
            }
        }
        return names.getFirst();
    }

    private static void read(Dataset dataset) {
        try (ReadView view = dataset.openView()) {
            for (int p = 0; p < view.partitionCount(); p++) {
                try (RecordCursor cursor = view.scan(p, KeyRange.all(), FilterPredicate.none())) {
                    while (cursor.next()) {
                        cursor.record();
                    }
                }
                for (IndexDescription index : view.indexes()) {
                    try (var cursor =
                            view.search(p, index.name(), KeyRange.all(), FilterPredicate.none())) {
                        while (cursor.next()) {
                            cursor.secondaryKey();
                        }
                    }
                }
            }
        }
    }
}
