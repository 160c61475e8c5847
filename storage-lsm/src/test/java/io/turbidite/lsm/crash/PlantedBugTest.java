package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.AnswerCheck;
import io.turbidite.lsm.harness.BentViews;
import io.turbidite.lsm.harness.CarelessDisk;
import io.turbidite.lsm.harness.CrashRun;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.MemoryLayer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Instant;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/** R23: the suites bite. Each bug is planted, and the check that claims to find it must. */
@LeaksOnPurpose("stores break in the middle of things and are left so")
class PlantedBugTest {
    private static final int RUNS_MAX = 30;

    private static void foundByCrashRuns(UnaryOperator<Disk> bug) {
        long seed = Seeds.of("PlantedBugTest");
        CrashRun crashes = new CrashRun(bug);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < RUNS_MAX; i++) {
                        crashes.run(Seeds.mix(seed, i));
                    }
                })
                .isInstanceOfAny(AssertionError.class, StorageException.class);
    }

    @Test
    void the_log_is_not_synced() {
        foundByCrashRuns(
                disk -> new CarelessDisk(disk, name -> name.startsWith("log/"), name -> false));
    }

    @Test
    void components_are_not_synced() {
        foundByCrashRuns(
                disk -> new CarelessDisk(disk, name -> name.startsWith("data/"), name -> false));
    }

    @Test
    void the_names_of_components_are_not_synced() {
        foundByCrashRuns(disk -> new CarelessDisk(disk, name -> false, "data"::equals));
    }

    @Test
    void the_manifest_is_renamed_before_it_is_synced() {
        foundByCrashRuns(
                disk -> new CarelessDisk(disk, name -> name.startsWith("MANIFEST"), name -> false));
    }

    @Test
    void the_rename_of_the_manifest_is_not_synced() {
        foundByCrashRuns(disk -> new CarelessDisk(disk, name -> false, ""::equals));
    }

    @Test
    void the_names_of_log_segments_are_not_synced() {
        foundByCrashRuns(disk -> new CarelessDisk(disk, name -> false, "log"::equals));
    }

    private static SimStore store() {
        return SimStore.open(
                new SimDisk(5, Profile.STRICT), 5, SimStore.options(Durability.BUFFERED));
    }

    private static Row row(long id, String user) {
        return new Row(id, user, 1, null, "body");
    }

    @Test
    void a_snapshot_is_let_go_while_it_is_read() {
        try (SimStore sim = store()) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            dataset.upsert(row(1, "ann").toMap());
            try (ReadView view = dataset.openView()) {
                NavigableMap<Long, Row> shown = new TreeMap<>(SimStore.rows(dataset, view));
                // the bug: nobody keeps the versions that the view shows
                Inside.core(sim.store).timestamps().release(view.timestamp());
                dataset.upsert(row(1, "bob").toMap());
                dataset.flush();
                assertThat(SimStore.rows(dataset, view)).isNotEqualTo(shown);
                var unused = Inside.core(sim.store).timestamps().register();
                assertThat(unused).isPositive();
            }
        }
    }

    @Test
    void an_entry_of_a_secondary_is_left_behind() {
        try (SimStore sim = store()) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            dataset.upsert(row(1, "ann").toMap());
            MemoryLayer layer = Inside.partitions(dataset).get(0).currentLayer();
            Slice stale = Slice.of(staleEntry(dataset));
            // the bug: an update put no anti-matter
            layer.tree(TreeId.of(1)).put(stale, 1, false, new Slice());
            assertThat(sim.store.verify().errors())
                    .hasSize(2)
                    .allSatisfy(error -> assertThat(error).contains("by_user"));
        }
    }

    private static byte[] staleEntry(Dataset dataset) {
        byte[] user = Inside.schema(dataset).indexes().get(0).fieldKey().encode("old");
        byte[] key = dataset.primaryKeySpec().encode(1L);
        byte[] entry = new byte[user.length + key.length];
        System.arraycopy(user, 0, entry, 0, user.length);
        System.arraycopy(key, 0, entry, user.length, key.length);
        return entry;
    }

    @Test
    void an_entry_of_a_secondary_is_missing() {
        try (SimStore sim = store()) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            dataset.upsert(row(1, "ann").toMap());
            byte[] user = Inside.schema(dataset).indexes().get(0).fieldKey().encode("ann");
            byte[] key = dataset.primaryKeySpec().encode(1L);
            byte[] entry = new byte[user.length + key.length];
            System.arraycopy(user, 0, entry, 0, user.length);
            System.arraycopy(key, 0, entry, user.length, key.length);
            // the bug: anti-matter too many
            MemoryLayer layer = Inside.partitions(dataset).get(0).currentLayer();
            layer.tree(TreeId.of(1)).put(Slice.of(entry), 1, true, new Slice());
            assertThat(sim.store.verify().errors()).hasSize(1);
        }
    }

    /** Puts the first entry of a row, or its anti-matter, into what is in memory. */
    private static void plant(Dataset dataset, IndexSchema index, Row row, boolean antimatter) {
        RecordView record = new RecordView(dataset.type());
        record.wrap(dataset.newRecordWriter().write(row.toMap(dataset.type())));
        EntryKeyList keys = new EntryKeyList();
        byte[] key = dataset.primaryKeySpec().encode(row.id());
        index.entryKeys().append(record, Slice.of(key), keys);
        MemoryLayer layer = Inside.partitions(dataset).getFirst().currentLayer();
        layer.tree(index.tree()).put(keys.key(0, new Slice()), 1, antimatter, new Slice());
    }

    private static IndexSchema index(Dataset dataset, String name) {
        return Inside.schema(dataset).indexes().stream()
                .filter(index -> index.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** By the verifier and by what is answered; in memory, and behind boxes in a component. */
    private static void assertFound(SimStore sim, Dataset dataset, Row row, String index) {
        for (int round = 0; round < 2; round++) {
            assertThat(sim.store.verify().errors())
                    .isNotEmpty()
                    .allSatisfy(error -> assertThat(error).contains(index));
            try (ReadView view = dataset.openView()) {
                assertThatThrownBy(() -> AnswerCheck.run(dataset, view, Map.of(row.id(), row)))
                        .isInstanceOf(AssertionError.class)
                        .hasMessageContaining(index);
            }
            dataset.flush();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"by_place", "by_area", "by_word", "by_tag"})
    void an_entry_of_any_kind_is_left_behind(String index) {
        try (SimStore sim = store()) {
            Dataset dataset = sim.store.createDataset(Row.everyKindSpec("T").partitions(1));
            Row row = new Row(1, "ann", 1, null, "late fog");
            dataset.upsert(row.toMap(dataset.type()));
            // the bug: an update put its anti-matter elsewhere
            plant(dataset, index(dataset, index), new Row(1, "bob", 4, null, "ice"), false);
            assertFound(sim, dataset, row, index);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"by_place", "by_area", "by_word", "by_tag"})
    void an_entry_of_any_kind_is_missing(String index) {
        try (SimStore sim = store()) {
            Dataset dataset = sim.store.createDataset(Row.everyKindSpec("T").partitions(1));
            Row row = new Row(1, "ann", 1, null, "late fog");
            dataset.upsert(row.toMap(dataset.type()));
            // the bug: a word, an element or a place is taken away that the record has
            plant(dataset, index(dataset, index), row, true);
            assertFound(sim, dataset, row, index);
        }
    }

    /** 1 if the answers of a view are found to be wrong; 0 else. */
    private static int foundIn(Dataset dataset, ReadView bent, Map<Long, Row> rows) {
        try {
            AnswerCheck.run(dataset, bent, rows);
            return 0;
        } catch (AssertionError found) {
            return 1;
        }
    }

    /** At several moments, as the filter of some lets everything be passed over. */
    private static void foundInAnswers(String index, UnaryOperator<IndexCursor> bug) {
        int foundCount = 0;
        try (SimStore sim = store()) {
            Dataset dataset = sim.store.createDataset(Row.everyKindSpec("T").partitions(1));
            Map<Long, Row> rows = new TreeMap<>();
            // every seventeenth is far away
            for (long id = 1; id <= 40; id++) {
                Row row = new Row(id, "ann", (int) id, null, "late fog");
                dataset.upsert(row.toMap(dataset.type()));
                rows.put(id, row);
                if (id % 17 != 0) {
                    continue;
                }
                dataset.flush();
                for (int moment = 0; moment < 4; moment++) {
                    dataset.upsert(row.toMap(dataset.type()));
                    try (ReadView view = dataset.openView()) {
                        AnswerCheck.run(dataset, view, rows);
                        foundCount += foundIn(dataset, BentViews.of(view, index, bug), rows);
                    }
                }
            }
        }
        assertThat(foundCount).isPositive();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_run_of_records_is_passed_over_but_for_its_first(boolean hasFilter) {
        int foundCount = 0;
        try (SimStore sim = store()) {
            DatasetSpec spec = hasFilter ? Row.everyKindSpec("T") : Row.blindSpec("T");
            Dataset dataset = sim.store.createDataset(spec.partitions(1));
            Map<Long, Row> rows = new TreeMap<>();
            for (long id = 1; id <= 40; id++) {
                Instant created = Instant.ofEpochSecond(id * 25_000);
                Row row = new Row(id, "ann", (int) id, created, "late fog");
                dataset.upsert(row.toMap(dataset.type()));
                rows.put(id, row);
            }
            dataset.flush();
            for (int moment = 0; moment < 8; moment++) {
                dataset.upsert(new Row(41, "bob", 0, null, "").toMap(dataset.type()));
                dataset.delete(41L);
                try (ReadView view = dataset.openView()) {
                    AnswerCheck.run(dataset, view, rows);
                    ReadView bent = BentViews.ofScans(view, BentViews::withShortRuns);
                    foundCount += foundIn(dataset, bent, rows);
                }
            }
        }
        assertThat(foundCount).isPositive();
    }

    @Test
    void a_token_comes_twice() {
        foundInAnswers("by_word", BentViews::twice);
    }

    /** The key of a point begins with its class: 0 is what is near zero, and some are far away. */
    @Test
    void a_class_of_the_grid_is_forgotten() {
        foundInAnswers(
                "by_place",
                cursor ->
                        BentViews.without(cursor, entry -> entry.secondaryKey().byteAt(0) != 0));
    }
}
