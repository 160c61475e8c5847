package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QuarantinedException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.ship.Shipment;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A store that is open for reading shows all that it holds, and changes no byte of it. */
class ReadingTest {
    private static final long SEED = 19;

    private final SimClock clock = new SimClock();
    private final StoreOptions options = SimStore.options(Durability.SYNC);

    private Store openForReading(SimDisk disk) {
        return Store.openForReading(disk, new SimTasks(SEED, clock), clock, options);
    }

    private static void write(Dataset dataset, int from, int to) {
        for (int id = from; id < to; id++) {
            dataset.upsert(new Row(id, "u" + id % 5, id, null, "body " + id).toMap());
        }
    }

    /** What a crash leaves: a log without an end, files of an unfinished flush, a draft. */
    private SimDisk crashed(Durability durability) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        SimDisk image;
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(durability))) {
            Dataset dataset = sim.store.createDataset(
                    Row.spec("T").maintenance(Maintenance.VALIDATION).partitions(2));
            write(dataset, 0, 50);
            dataset.flush();
            write(dataset, 20, 70);
            sim.store.sync();
            image = disk.copy();
        }
        byte[] whole = image.content(
                StoreFiles.DATA + "/" + image.list(StoreFiles.DATA).getFirst());
        image.put("data/0000000000fe.component", whole);
        image.put("data/0000000000fd.component", Arrays.copyOf(whole, whole.length / 2));
        image.put("data/0000000000fc.run", whole);
        image.put(StoreFiles.MANIFEST_DRAFT, new byte[7]);
        image.put(StoreFiles.INCOMPLETE, new byte[0]);
        return image;
    }

    private static Map<String, List<Byte>> contents(SimDisk disk) {
        TreeMap<String, List<Byte>> contents = new TreeMap<>();
        for (String name : disk.files()) {
            if (!name.equals(StoreFiles.LOCK)) {
                List<Byte> bytes = new ArrayList<>();
                for (byte b : disk.content(name)) {
                    bytes.add(b);
                }
                contents.put(name, bytes);
            }
        }
        return contents;
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void reading_changes_no_byte_of_what_a_crash_left(Durability durability) {
        SimDisk disk = crashed(durability);
        NavigableMap<Long, Row> rows;
        try (SimStore recovered = SimStore.open(disk.copy(), SEED, options)) {
            rows = SimStore.rows(recovered.store.dataset("T"));
        }
        assertThat(rows).hasSize(70);
        Map<String, List<Byte>> before = contents(disk);
        List<String> changed = new ArrayList<>();
        disk.onOperation(step -> {
            if (!step.name().equals(StoreFiles.LOCK)) {
                changed.add(step.toString());
            }
        });
        try (Store store = openForReading(disk)) {
            Dataset dataset = store.dataset("T");
            assertThat(SimStore.rows(dataset)).isEqualTo(rows);
            assertThat(store.verify().errors()).isEmpty();
            assertThat(store.verifyQuickly().errors()).isEmpty();
            assertThat(store.describe().datasets()).hasSize(1);
            var _ = dataset.advise();
            clock.advanceMicros(10_000_000);
            SimDisk backup = new SimDisk(SEED, Profile.STRICT);
            var _ = store.backup(backup, CopyMode.COPY);
            try (SimStore copy = SimStore.open(backup, SEED, options)) {
                assertThat(SimStore.rows(copy.store.dataset("T"))).isEqualTo(rows);
            }
        }
        assertThat(changed).isEmpty();
        try (Store store = openForReading(disk);
                Shipment shipment = store.openShipment()) {
            ByteArrayOutputStream stream = new ByteArrayOutputStream();
            var _ = shipment.writeTo(stream, 0);
            assertThat(stream.size()).isPositive();
        }
        assertThat(contents(disk)).isEqualTo(before);
        assertThat(disk.openHandles()).isEmpty();
        disk.onOperation(step -> {});
        try (SimStore recovered = SimStore.open(disk, SEED, options)) {
            assertThat(SimStore.rows(recovered.store.dataset("T"))).isEqualTo(rows);
            recovered.verify();
        }
    }

    /** What is left of the log when its files are gone. */
    enum LogLeft {
        EMPTY_DIRECTORY,
        NOTHING
    }

    @ParameterizedTest
    @EnumSource(LogLeft.class)
    void a_store_without_its_log_is_refused_as_it_is(LogLeft left) {
        SimDisk disk = crashed(Durability.SYNC);
        disk.list(StoreFiles.LOG).forEach(name -> disk.delete(StoreFiles.LOG + "/" + name));
        if (left == LogLeft.NOTHING) {
            disk.delete(StoreFiles.LOG);
        }
        Map<String, List<Byte>> before = contents(disk);
        assertThatThrownBy(() -> openForReading(disk).close())
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("log is missing: no segment of it is there");
        assertThat(contents(disk)).isEqualTo(before);
        assertThat(disk.exists(StoreFiles.LOG)).isEqualTo(left == LogLeft.EMPTY_DIRECTORY);
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_store_without_its_components_gives_no_answer_and_its_backup_says_so() {
        SimDisk disk = crashed(Durability.SYNC);
        disk.list(StoreFiles.DATA).forEach(name -> disk.delete(StoreFiles.DATA + "/" + name));
        disk.delete(StoreFiles.DATA);
        Map<String, List<Byte>> before = contents(disk);
        try (Store store = openForReading(disk)) {
            assertThatThrownBy(() -> SimStore.rows(store.dataset("T")))
                    .isInstanceOf(QuarantinedException.class);
            assertThat(store.verify().errors()).isNotEmpty();
            SimDisk backup = new SimDisk(SEED, Profile.STRICT);
            assertThat(store.backup(backup, CopyMode.COPY).leftOut()).isNotEmpty();
        }
        assertThat(contents(disk)).isEqualTo(before);
        assertThat(disk.exists(StoreFiles.DATA)).isFalse();
    }

    @Test
    void what_would_change_something_is_refused() {
        SimDisk disk = crashed(Durability.SYNC);
        Map<String, List<Byte>> before = contents(disk);
        try (Store store = openForReading(disk)) {
            Dataset dataset = store.dataset("T");
            List<Runnable> changes = List.of(
                    () -> dataset.upsert(new Row(1, "u", 1, null, "b").toMap()),
                    () -> store.createDataset(Row.spec("New")),
                    () -> store.dropDataset("T"),
                    () -> dataset.createIndex(IndexSpec.btree("by_body", "body")),
                    () -> dataset.dropIndex("by_user"),
                    () -> dataset.disableIndex("by_user"),
                    () -> dataset.bulkLoad(1).close(),
                    dataset::flush,
                    dataset::mergeAll,
                    dataset::repair,
                    store::sync,
                    store::emptyTrash);
            for (int i = 0; i < changes.size(); i++) {
                Runnable change = changes.get(i);
                assertThatThrownBy(change::run)
                        .as("change %d", i)
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("for reading only");
            }
        }
        assertThat(contents(disk)).isEqualTo(before);
    }

    @Test
    void who_reads_holds_the_lock_and_makes_no_store() {
        SimDisk disk = crashed(Durability.SYNC);
        try (Store store = openForReading(disk)) {
            assertThatThrownBy(() -> openForReading(disk))
                    .isInstanceOf(StoreInUseException.class)
                    .hasMessageContaining("in use by this process");
            assertThat(store.datasets()).hasSize(1);
        }
        SimDisk empty = new SimDisk(SEED, Profile.STRICT);
        assertThatThrownBy(() -> openForReading(empty)).isInstanceOf(InvalidRequestException.class);
        assertThat(empty.list("")).isEmpty();
    }
}
