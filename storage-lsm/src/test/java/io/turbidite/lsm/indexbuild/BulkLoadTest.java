package io.turbidite.lsm.indexbuild;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DuplicateKeys;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.engine.WriteMemory;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/** Loading what comes in any order, straight into components: all of it or nothing. */
class BulkLoadTest {
    private static final long SEED = Seeds.of("BulkLoadTest");
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);

    private final SplittableRandom random = new SplittableRandom(SEED);

    /**
     * In no order; some keys come again. Sorting them takes several runs, as a run is of some 200
     * KiB.
     */
    private List<Row> rows(int count, int keyCount, int bodyBytes) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(new Row(
                    random.nextInt(keyCount),
                    random.nextInt(8) == 0 ? null : "user" + random.nextInt(20),
                    random.nextInt(8) == 0 ? null : random.nextInt(-5, 5),
                    random.nextInt(20) == 0 ? null : Instant.ofEpochSecond(random.nextInt(1_000)),
                    "x".repeat(bodyBytes) + i));
        }
        return rows;
    }

    private static NavigableMap<Long, Row> lastOfEach(List<Row> rows) {
        TreeMap<Long, Row> last = new TreeMap<>();
        rows.forEach(row -> last.put(row.id(), row));
        return last;
    }

    private static long load(Dataset dataset, List<Row> rows, DuplicateKeys duplicates) {
        try (BulkLoader loader = dataset.bulkLoadUnsorted(duplicates)) {
            RecordWriter writer = dataset.newRecordWriter();
            for (Row row : rows) {
                loader.add(writer.write(row.toMap()));
            }
            assertThat(loader.recordCount()).isEqualTo(rows.size());
            return loader.finish();
        }
    }

    private static long runFiles(SimDisk disk) {
        return disk.files().stream().filter(name -> name.endsWith(".run")).count();
    }

    private static int chunksHeld(SimStore sim) {
        return ((WriteMemory) Inside.core(sim.store).chunks()).heldCount();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void records_in_any_order_become_one_component_for_each_index(int partitions) {
        System.out.println(Seeds.replay("BulkLoadTest", SEED));
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        List<Row> rows = rows(6_000, 4_000, 300);
        NavigableMap<Long, Row> expected = lastOfEach(rows);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T").partitions(partitions));
            int chunksBefore = chunksHeld(sim);
            assertThat(load(dataset, rows, DuplicateKeys.LAST_COUNTS)).isEqualTo(expected.size());
            assertThat(chunksHeld(sim)).as("memory").isEqualTo(chunksBefore);
            assertThat(runFiles(disk)).isZero();
            int indexes = 1 + dataset.indexes().size();
            assertThat(disk.files().stream().filter(name -> name.endsWith(".component")))
                    .hasSize(partitions * indexes);
            assertThat(SimStore.rows(dataset)).isEqualTo(expected);
            sim.verify();
            // an update finds what the load left in the secondaries
            Row changed = new Row(rows.get(0).id(), "changed", 99, null, "b");
            dataset.upsert(changed.toMap());
            expected.put(changed.id(), changed);
            dataset.flush();
            dataset.mergeAll();
            assertThat(SimStore.rows(dataset)).isEqualTo(expected);
            sim.verify();
        }
        try (SimStore sim = SimStore.open(disk.crashImage(SEED), SEED, OPTIONS)) {
            assertThat(SimStore.rows(sim.store.dataset("T"))).isEqualTo(expected);
            sim.verify();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void what_fits_in_memory_needs_no_runs_and_nothing_at_all_needs_nothing() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            List<String> created = new ArrayList<>();
            disk.onOperation(step -> created.addAll(disk.files()));
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            assertThat(load(dataset, List.of(), DuplicateKeys.REFUSED)).isZero();
            List<Row> rows = rows(50, 1_000_000, 10);
            load(dataset, rows, DuplicateKeys.REFUSED);
            assertThat(SimStore.rows(dataset)).isEqualTo(lastOfEach(rows));
            assertThat(created).noneMatch(name -> name.endsWith(".run"));
            sim.verify();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5_000})
    void a_key_given_twice_is_named_and_nothing_is_loaded(int distance) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            List<Row> rows = new ArrayList<>();
            for (int i = 0; i <= distance; i++) {
                rows.add(new Row(i % distance, "ann", 1, null, "x".repeat(200)));
            }
            assertThatThrownBy(() -> load(dataset, rows, DuplicateKeys.REFUSED))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("bulk load of T: primary key [0] is given twice");
            assertThat(SimStore.rows(dataset)).isEmpty();
            dataset.upsert(rows.get(0).toMap());
            dataset.flush();
            sim.verify();
            assertThat(runFiles(disk)).isZero();
        }
    }

    @Test
    void a_record_with_a_long_key_is_refused_and_the_load_goes_on() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            Row good = new Row(1, "ann", 1, null, "b");
            Row longUser = new Row(2, "u".repeat(Limits.KEY_BYTES_MAX), 1, null, "b");
            try (BulkLoader loader = dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS)) {
                RecordWriter writer = dataset.newRecordWriter();
                loader.add(writer.write(good.toMap()));
                assertThatThrownBy(() -> loader.add(writer.write(longUser.toMap())))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining(String.valueOf(Limits.KEY_BYTES_MAX));
                assertThat(loader.finish()).isEqualTo(1);
            }
            assertThat(SimStore.rows(dataset)).containsOnlyKeys(1L);
            sim.verify();
        }
    }

    @Test
    void a_snapshot_taken_during_the_load_only_delays_it() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            List<Row> rows = rows(20, 1_000, 10);
            try (BulkLoader loader = dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS)) {
                RecordWriter writer = dataset.newRecordWriter();
                rows.forEach(row -> loader.add(writer.write(row.toMap())));
                try (ReadView view = dataset.openView()) {
                    // before the load's own timestamp: it sees nothing of it
                    assertThat(SimStore.rows(dataset, view)).isEmpty();
                }
                assertThat(loader.finish()).isEqualTo(lastOfEach(rows).size());
            }
            assertThat(SimStore.rows(dataset)).isEqualTo(lastOfEach(rows));
        }
    }

    @Test
    void a_view_taken_during_a_sorted_load_never_sees_it_appear() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            RecordWriter writer = dataset.newRecordWriter();
            try (BulkLoader loader = dataset.bulkLoad(1)) {
                loader.add(writer.write(new Row(1, "u", 1, null, "b").toMap()));
                try (ReadView view = dataset.openView()) {
                    assertThatThrownBy(loader::finish)
                            .isInstanceOf(InvalidRequestException.class)
                            .hasMessageContaining("a snapshot taken during the load is open");
                    assertThat(SimStore.rows(dataset, view)).isEmpty();
                }
                assertThat(loader.finish()).isEqualTo(1);
            }
            assertThat(SimStore.rows(dataset)).hasSize(1);
        }
    }

    @Test
    void a_view_of_before_the_load_may_stay_open() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            sim.store
                    .createDataset(Row.spec("Other"))
                    .upsert(rows(1, 1_000, 1).get(0).toMap());
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            List<Row> rows = rows(20, 1_000, 10);
            try (ReadView view = dataset.openView();
                    BulkLoader loader = dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS)) {
                RecordWriter writer = dataset.newRecordWriter();
                rows.forEach(row -> loader.add(writer.write(row.toMap())));
                assertThat(loader.finish()).isEqualTo(lastOfEach(rows).size());
                assertThat(SimStore.rows(dataset, view)).isEmpty();
            }
            assertThat(SimStore.rows(dataset)).isEqualTo(lastOfEach(rows));
        }
    }

    /** Others open views while the load is being made durable: each shows the same for ever. */
    @Test
    @Timeout(60)
    void no_view_sees_the_load_appear() throws Exception {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        NavigableMap<Long, Row> expected;
        List<Future<Looked>> looks = new ArrayList<>();
        try (Store store = Store.open(disk, ThreadTasks.create("test"), Clock.system(), OPTIONS);
                ExecutorService threads = Executors.newCachedThreadPool()) {
            Dataset dataset = store.createDataset(Row.spec("T"));
            List<Row> rows = rows(50, 1_000, 10);
            expected = lastOfEach(rows);
            disk.onOperation(step -> {
                if (step.name().startsWith("MANIFEST")) {
                    AtomicBoolean open = new AtomicBoolean();
                    looks.add(threads.submit(() -> {
                        ReadView view = dataset.openView();
                        open.set(true);
                        return new Looked(view, SimStore.rows(dataset, view));
                    }));
                    // long enough for one that waits for nothing
                    for (int i = 0; i < 1_000_000 && !open.get(); i++) {
                        Thread.onSpinWait();
                    }
                }
            });
            load(dataset, rows, DuplicateKeys.LAST_COUNTS);
            disk.onOperation(step -> {});
            assertThat(looks).hasSizeGreaterThan(2);
            for (Future<Looked> look : looks) {
                try (ReadView view = look.get().view) {
                    assertThat(SimStore.rows(dataset, view)).isEqualTo(look.get().shown);
                }
            }
            assertThat(SimStore.rows(dataset)).isEqualTo(expected);
        }
    }

    /** What a view showed when it was opened. */
    private record Looked(ReadView view, NavigableMap<Long, Row> shown) {}

    /** Power fails at each step that can change what is on the disk. */
    @ParameterizedTest
    @EnumSource(Profile.class)
    void a_power_cut_leaves_all_or_nothing(Profile profile) {
        SimDisk disk = new SimDisk(SEED, profile);
        List<Row> rows = rows(1_500, 1_000, 300);
        NavigableMap<Long, Row> expected = lastOfEach(rows);
        int[] counts = new int[3];
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T").partitions(2));
            disk.onOperation(step -> {
                SimDisk image = disk.crashImage(Seeds.mix(SEED, step.index()), profile);
                counts[2] += (int) Math.min(1, runFiles(image));
                try (SimStore after = SimStore.open(image, SEED, OPTIONS)) {
                    NavigableMap<Long, Row> found = SimStore.rows(after.store.dataset("T"));
                    assertThat(runFiles(image)).isZero();
                    after.verify();
                    counts[found.isEmpty() ? 0 : 1]++;
                    if (!found.isEmpty()) {
                        assertThat(found).isEqualTo(expected);
                    }
                }
                // components that came before the manifest are in the trash
                assertThat(image.list(StoreFiles.DATA).stream()
                                .filter(name -> name.endsWith(".component")))
                        .size()
                        .isIn(0, 2 * (1 + dataset.indexes().size()));
            });
            load(dataset, rows, DuplicateKeys.LAST_COUNTS);
            disk.onOperation(step -> {});
            // from here on it was acknowledged
            SimDisk image = disk.crashImage(SEED, profile);
            try (SimStore after = SimStore.open(image, SEED, OPTIONS)) {
                assertThat(SimStore.rows(after.store.dataset("T"))).isEqualTo(expected);
                after.verify();
            }
        }
        System.out.printf(
                "%s: %d cuts left nothing, %d all; %d had run files%n",
                profile, counts[0], counts[1], counts[2]);
        assertThat(counts[0]).isGreaterThan(30);
        assertThat(counts[2]).isPositive();
    }

    /** R8: each call fails once. The load fails as a whole, or did not need the call. */
    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"EIO", "ENOSPC"})
    void a_failed_call_fails_the_load_and_leaves_nothing(Fault fault) {
        List<Row> rows = rows(1_500, 1_000, 300);
        NavigableMap<Long, Row> expected = lastOfEach(rows);
        int failed = 0;
        int storesFailed = 0;
        FaultScript script = FaultScript.with(fault);
        int call = 1;
        do {
            SimDisk disk = new SimDisk(SEED, Profile.STRICT);
            try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
                Dataset dataset = sim.store.createDataset(Row.spec("T").partitions(2));
                int chunksBefore = chunksHeld(sim);
                script = disk.fault(FaultScript.with(fault).call(call));
                boolean loaded = false;
                try {
                    load(dataset, rows, DuplicateKeys.LAST_COUNTS);
                    loaded = true;
                } catch (StoreFailedException uncertain) {
                    storesFailed++;
                    loaded = !SimStore.rows(dataset).isEmpty();
                } catch (StorageIoException refused) {
                    failed++;
                    disk.clearFaults();
                    assertThat(SimStore.rows(dataset)).isEmpty();
                    assertThat(chunksHeld(sim)).as("memory").isEqualTo(chunksBefore);
                    load(dataset, rows, DuplicateKeys.LAST_COUNTS);
                    loaded = true;
                }
                disk.clearFaults();
                assertThat(SimStore.rows(dataset))
                        .isEqualTo(loaded ? expected : new TreeMap<Long, Row>());
                sim.verify();
            } catch (StorageException closing) {
                assertThat(closing).isInstanceOf(StoreFailedException.class);
            }
            assertThat(disk.openHandles()).isEmpty();
            try (SimStore again = SimStore.open(disk.crashImage(SEED), SEED, OPTIONS)) {
                NavigableMap<Long, Row> found = SimStore.rows(again.store.dataset("T"));
                if (!found.isEmpty()) {
                    assertThat(found).isEqualTo(expected);
                }
                assertThat(runFiles(again.disk)).isZero();
                again.verify();
            }
            call += call < 40 ? 1 : 3;
        } while (script.hitCount() > 0);
        System.out.printf("%s: %d loads failed, %d stores%n", fault, failed, storesFailed);
        assertThat(failed).isGreaterThan(20);
    }

    @Test
    void a_full_disk_refuses_records_until_there_is_space() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        List<Row> rows = rows(4_000, 3_000, 300);
        try (SimStore sim = SimStore.open(disk, SEED, OPTIONS)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            disk.capacity(disk.usedBytes() + (300 << 10));
            int refused = 0;
            try (BulkLoader loader = dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS)) {
                RecordWriter writer = dataset.newRecordWriter();
                for (Row row : rows) {
                    try {
                        loader.add(writer.write(row.toMap()));
                    } catch (StorageIoException full) {
                        assertThat(full.kind()).isEqualTo(StorageIoException.Kind.NO_SPACE);
                        refused++;
                        disk.capacity(Long.MAX_VALUE);
                        loader.add(writer.write(row.toMap()));
                    }
                }
                loader.finish();
            }
            assertThat(refused).isEqualTo(1);
            assertThat(SimStore.rows(dataset)).isEqualTo(lastOfEach(rows));
            sim.verify();
        }
    }
}
