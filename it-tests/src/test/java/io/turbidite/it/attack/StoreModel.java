package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * A small store by the public API, and what it holds in plain maps that know nothing of stores.
 * <em>Confined to one thread.</em>
 */
final class StoreModel {
    static final int KEY_COUNT = 80;

    private final Map<String, Map<Long, String>> rows = new TreeMap<>();
    private final long seed;
    private final SimDisk disk;
    private final SimDisk killed;

    /**
     * Writes the store: components that supersede one another, marks, deletes, and a log with
     * records.
     */
    StoreModel(long seed, String author) {
        this.seed = seed;
        this.disk = new SimDisk(seed, Profile.STRICT);
        try (Store store = open(disk)) {
            for (Maintenance maintenance : List.of(
                    Maintenance.EAGER, Maintenance.VALIDATION, Maintenance.MUTABLE_BITMAP)) {
                Dataset dataset = store.createDataset(DatasetSpec.named(maintenance.name())
                        .field("id", "int64")
                        .field("user", "string")
                        .primaryKey("id")
                        .maintenance(maintenance)
                        .mergePolicy(MergePolicySpec.parse("correlated-prefix", Map.of()))
                        .index(IndexSpec.btree("by_user", "user")));
                write(dataset, 0, 50, author + 1);
                dataset.flush();
                write(dataset, 30, 40, author + 2);
                delete(dataset, 35);
                dataset.flush();
                if (maintenance == Maintenance.VALIDATION) {
                    dataset.repair();
                }
                write(dataset, 45, 10, author + 3);
                delete(dataset, 3);
            }
            store.sync();
            killed = disk.copy();
        }
    }

    private void write(Dataset dataset, int from, int count, String user) {
        for (long id = from; id < from + count; id++) {
            dataset.upsert(Map.of("id", id, "user", user));
            rows.computeIfAbsent(dataset.name(), name -> new TreeMap<>()).put(id, user);
        }
    }

    private void delete(Dataset dataset, long id) {
        dataset.delete(id);
        Objects.requireNonNull(rows.get(dataset.name())).remove(id);
    }

    /** A copy of the directory, as a clean close left it or as a kill did. */
    SimDisk image(boolean afterKill) {
        return (afterKill ? killed : disk).copy();
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

    Store open(SimDisk opened) {
        SimClock clock = new SimClock();
        // a store's identity is drawn from the time it is made at
        clock.jumpWallMicros(Math.floorMod(seed, 1_000_000_007L));
        return Store.open(opened, new SimTasks(seed, clock), clock, options());
    }

    /** Asks everything; a wrong answer fails the test, what was refused instead is returned. */
    List<StorageException> ask(Store store, String as) {
        List<StorageException> told = new ArrayList<>();
        for (Map.Entry<String, Map<Long, String>> expected : rows.entrySet()) {
            Dataset dataset = Objects.requireNonNull(
                    store.findDataset(expected.getKey()), expected.getKey() + "; " + as);
            for (long id = 0; id < KEY_COUNT; id++) {
                try {
                    Map<String, ?> record = dataset.get(id);
                    assertThat(record == null ? null : record.get("user"))
                            .as("%s %d; %s", dataset.name(), id, as)
                            .isEqualTo(expected.getValue().get(id));
                } catch (StorageException e) {
                    told.add(e);
                }
            }
            try {
                assertThat(entries(dataset))
                        .as("index of %s; %s", dataset.name(), as)
                        .isEqualTo(expected.getValue().size());
            } catch (StorageException e) {
                told.add(e);
            }
        }
        return told;
    }

    /**
     * Records that the index leads to and that have the entry's key: what a query by it would give.
     */
    private static long entries(Dataset dataset) {
        long count = 0;
        try (ReadView view = dataset.openView()) {
            for (int p = 0; p < view.partitionCount(); p++) {
                try (IndexCursor cursor =
                        view.search(p, "by_user", KeyRange.all(), FilterPredicate.none())) {
                    while (cursor.next()) {
                        List<?> id = dataset.primaryKeySpec().decode(cursor.primaryKey(), 0);
                        Map<String, ?> record = dataset.get(Objects.requireNonNull(id.getFirst()));
                        byte[] user = cursor.secondaryKey().toByteArray();
                        count += record != null && isOf(user, record) ? 1 : 0;
                    }
                }
            }
        }
        return count;
    }

    /** Users have two letters, so the key's bytes begin with them. */
    private static boolean isOf(byte[] key, Map<String, ?> record) {
        String user = (String) Objects.requireNonNull(record.get("user"));
        String text = new String(key, StandardCharsets.ISO_8859_1);
        return text.contains(user);
    }
}
