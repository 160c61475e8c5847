package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Opening a store deletes nothing that could be the only copy of what it holds. */
class OpeningTest {
    private static final long SEED = 11;
    private static final long DAY_MICROS = TimeUnit.DAYS.toMicros(1);

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimClock clock = new SimClock();
    private final StoreOptions options = SimStore.options(Durability.SYNC);

    private SimStore open(SimDisk on) {
        return SimStore.open(on, SEED, options, same -> same, clock);
    }

    private static void write(Dataset dataset, int from, int to) {
        for (int id = from; id < to; id++) {
            dataset.upsert(new Row(id, "u" + id % 5, id, null, "body " + id).toMap());
        }
    }

    /** A store with components, and with records that are in its log alone. */
    private NavigableMap<Long, Row> fill() {
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T").partitions(1));
            write(dataset, 0, 50);
            dataset.flush();
            write(dataset, 40, 70);
            return SimStore.rows(dataset);
        }
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

    private void assertHolds(SimDisk on, NavigableMap<Long, Row> rows) {
        try (SimStore sim = open(on)) {
            assertThat(SimStore.rows(sim.store.dataset("T"))).isEqualTo(rows);
            sim.verify();
        }
    }

    private static String component(SimDisk on) {
        return StoreFiles.DATA + "/" + on.list(StoreFiles.DATA).getFirst();
    }

    @ParameterizedTest
    @EnumSource(Missing.class)
    void a_store_without_its_manifest_is_refused_as_it_is(Missing missing) {
        NavigableMap<Long, Row> rows = fill();
        byte[] manifest = disk.content(StoreFiles.MANIFEST);
        SimDisk damaged = disk.copy();
        missing.remove(damaged);
        Map<String, List<Byte>> before = contents(damaged);
        assertThatThrownBy(() -> open(damaged))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("MANIFEST")
                .hasMessageContaining("put it back")
                .hasMessageContaining("restore a backup");
        assertThat(contents(damaged)).isEqualTo(before);
        assertThat(damaged.openHandles()).isEmpty();
        if (missing == Missing.MANIFEST) {
            damaged.put(StoreFiles.MANIFEST, manifest);
            assertHolds(damaged, rows);
        }
    }

    /** What is gone besides. */
    enum Missing {
        MANIFEST,
        MANIFEST_AND_LOG,
        MANIFEST_AND_DATA,
        MANIFEST_AND_ALL_BUT_TRASH;

        void remove(SimDisk disk) {
            disk.delete(StoreFiles.MANIFEST);
            if (this == MANIFEST_AND_ALL_BUT_TRASH) {
                disk.createDirectories(StoreFiles.TRASH);
                disk.rename(component(disk), StoreFiles.TRASH + "/000000000007.component");
            }
            if (this == MANIFEST_AND_LOG || this == MANIFEST_AND_ALL_BUT_TRASH) {
                disk.list(StoreFiles.LOG).forEach(name -> disk.delete(StoreFiles.LOG + "/" + name));
            }
            if (this == MANIFEST_AND_DATA || this == MANIFEST_AND_ALL_BUT_TRASH) {
                disk.list(StoreFiles.DATA)
                        .forEach(name -> disk.delete(StoreFiles.DATA + "/" + name));
            }
        }
    }

    @Test
    void what_no_manifest_names_goes_to_the_trash_if_it_is_whole() {
        NavigableMap<Long, Row> rows = fill();
        byte[] whole = disk.content(component(disk));
        byte[] half = Arrays.copyOf(whole, whole.length - 1);
        disk.put("data/0000000000fe.component", whole);
        disk.put("data/0000000000fd.component", half);
        disk.put("data/0000000000fc.dead", new byte[0]);
        disk.put("data/0000000000fb.run", whole);
        assertHolds(disk, rows);
        assertThat(disk.content("trash/0000000000fe.component")).isEqualTo(whole);
        assertThat(disk.files())
                .doesNotContain(
                        "data/0000000000fe.component",
                        "data/0000000000fd.component",
                        "data/0000000000fc.dead",
                        "data/0000000000fb.run");
        assertThat(disk.list(StoreFiles.TRASH)).hasSize(1);
    }

    @Test
    void what_was_finished_once_goes_to_the_trash_though_its_ends_are_damaged() {
        fill();
        byte[] whole = disk.content(component(disk));
        List<Integer> ends = new ArrayList<>();
        for (int i = 0; i < 64; i += 4) {
            ends.add(i);
            ends.add(whole.length - 1 - i);
        }
        for (int at : ends) {
            byte[] rotten = whole.clone();
            rotten[at] ^= 4;
            SimDisk damaged = disk.copy();
            damaged.put("data/0000000000fe.component", rotten);
            open(damaged).close();
            assertThat(damaged.list(StoreFiles.TRASH))
                    .as("byte %d of %d", at, whole.length)
                    .containsExactly("0000000000fe.component");
        }
    }

    @Test
    void an_older_manifest_costs_nothing_that_the_newer_one_names() {
        NavigableMap<Long, Row> rows = fill();
        byte[] older = disk.content(StoreFiles.MANIFEST);
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.dataset("T");
            write(dataset, 60, 90);
            dataset.flush();
            rows = SimStore.rows(dataset);
        }
        byte[] newer = disk.content(StoreFiles.MANIFEST);
        Map<String, List<Byte>> before = contents(disk);
        disk.put(StoreFiles.MANIFEST, older);
        assertThatThrownBy(() -> open(disk)).isInstanceOf(CorruptionException.class);
        disk.put(StoreFiles.MANIFEST, newer);
        assertThat(contents(disk)).isEqualTo(before);
        assertHolds(disk, rows);
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void the_first_manifest_beside_a_log_that_was_truncated_is_refused(Durability durability) {
        StoreOptions own = SimStore.options(durability);
        byte[] first;
        NavigableMap<Long, Row> rows;
        try (SimStore sim = SimStore.open(disk, SEED, own)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T").partitions(1));
            first = disk.content(StoreFiles.MANIFEST);
            for (int round = 0; round < 8; round++) {
                for (int id = 0; id < 700; id++) {
                    dataset.upsert(new Row(id, "u" + round, id, null, "body ".repeat(20)).toMap());
                }
                dataset.flush();
            }
            write(dataset, 0, 10);
            rows = SimStore.rows(dataset);
        }
        byte[] newest = disk.content(StoreFiles.MANIFEST);
        Map<String, List<Byte>> before = contents(disk);
        disk.put(StoreFiles.MANIFEST, first);
        assertThatThrownBy(() -> SimStore.open(disk, SEED, own))
                .isInstanceOf(CorruptionException.class);
        disk.put(StoreFiles.MANIFEST, newest);
        assertThat(contents(disk)).isEqualTo(before);
        assertHolds(disk, rows);
    }

    @Test
    void a_file_in_the_trash_keeps_its_name_to_itself() {
        fill();
        byte[] whole = disk.content(component(disk));
        disk.put("data/0000000000fe.component", whole);
        open(disk).close();
        disk.put("data/0000000000fe.component", whole);
        open(disk).close();
        assertThat(disk.list(StoreFiles.TRASH))
                .containsExactly("0000000000fe.component", "0000000000fe.component.2");
        try (SimStore sim = open(disk)) {
            write(sim.store.dataset("T"), 100, 120);
            sim.store.dataset("T").flush();
        }
        assertThat(disk.list(StoreFiles.DATA)).contains("0000000000ff.component");
    }

    private SimStore withNewTrash() {
        fill();
        disk.put("data/0000000000fe.component", disk.content(component(disk)));
        return open(disk);
    }

    private SimStore withTrash() {
        withNewTrash().close();
        return open(disk);
    }

    private static List<StoreEvent.TrashChanged> events(SimStore sim) {
        return sim.store.events().recent().stream()
                .filter(StoreEvent.TrashChanged.class::isInstance)
                .map(StoreEvent.TrashChanged.class::cast)
                .toList();
    }

    @Test
    void trash_goes_by_command() {
        try (SimStore sim = withTrash()) {
            long bytes = disk.content("trash/0000000000fe.component").length;
            assertThat(sim.store.describe().trash())
                    .containsExactly(new StoreDescription.TrashDescription(
                            "0000000000fe.component", bytes, false, false));
            assertThat(sim.store.emptyTrash()).hasSize(1);
            assertThat(sim.store.emptyTrash()).isEmpty();
            assertThat(sim.store.describe().trash()).isEmpty();
            assertThat(disk.list(StoreFiles.TRASH)).isEmpty();
            assertThat(events(sim))
                    .extracting(StoreEvent.TrashChanged::cause)
                    .containsExactly("command");
            assertThat(events(sim))
                    .allMatch(event -> event.fileCount() == 1 && event.bytes() == bytes);
        }
    }

    @Test
    void what_an_opening_moved_to_the_trash_outlives_commands_and_lack_of_space() {
        try (SimStore sim = withNewTrash()) {
            assertThat(sim.store.emptyTrash()).isEmpty();
            disk.capacity(disk.usedBytes() + (1 << 20));
            sim.tasks.runForMicros(2_000_000);
            assertThat(disk.list(StoreFiles.TRASH)).hasSize(1);
            assertThat(sim.store.describe().trash())
                    .singleElement()
                    .matches(StoreDescription.TrashDescription::isFound);
            assertThat(events(sim))
                    .extracting(StoreEvent.TrashChanged::cause)
                    .containsExactly("opening");
        }
        try (SimStore sim = open(disk)) {
            sim.tasks.runForMicros(2_000_000);
            assertThat(disk.list(StoreFiles.TRASH)).isEmpty();
            assertThat(events(sim).getLast().cause()).isEqualTo("space");
        }
    }

    @Test
    void trash_goes_after_a_day_of_running_time() {
        try (SimStore sim = withNewTrash()) {
            clock.jumpWallMicros(10 * DAY_MICROS);
            clock.advanceMicros(DAY_MICROS - 10_000_000);
            sim.tasks.runForMicros(5_000_000);
            assertThat(disk.list(StoreFiles.TRASH)).hasSize(1);
            clock.advanceMicros(10_000_000);
            sim.tasks.runForMicros(2_000_000);
            assertThat(disk.list(StoreFiles.TRASH)).isEmpty();
            assertThat(events(sim).getLast().cause()).isEqualTo("age");
        }
    }

    @Test
    void trash_goes_when_space_is_short() {
        try (SimStore sim = withTrash()) {
            sim.tasks.runForMicros(5_000_000);
            assertThat(disk.list(StoreFiles.TRASH)).hasSize(1);
            disk.capacity(disk.usedBytes() + (1 << 20));
            sim.tasks.runForMicros(2_000_000);
            assertThat(disk.list(StoreFiles.TRASH)).isEmpty();
            assertThat(events(sim).getLast().cause()).isEqualTo("space");
        }
    }

    /** A segment is wanted whole: writes must not be refused for one while trash has the space. */
    @Test
    void trash_goes_when_the_log_can_have_no_segment() {
        withTrash().close();
        int segmentBytes = 8 << 20;
        StoreOptions options = SimStore.options(Durability.SYNC);
        LogOptions log = options.log().withSegmentBytes(segmentBytes, 16, 256, 64 << 10);
        try (SimStore sim = SimStore.open(disk, 1, options.withLog(2L * segmentBytes, log))) {
            sim.tasks.runForMicros(5_000_000);
            assertThat(disk.list(StoreFiles.TRASH)).hasSize(1);
            disk.capacity(disk.usedBytes() + segmentBytes - 1);
            sim.tasks.runForMicros(2_000_000);
            assertThat(disk.list(StoreFiles.TRASH)).isEmpty();
            assertThat(events(sim).getLast().cause()).isEqualTo("space");
        }
    }
}
