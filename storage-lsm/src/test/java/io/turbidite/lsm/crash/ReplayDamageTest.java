package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.QuarantinedException;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.backup.QuarantineReport;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What replay can't tell, because of damage, is remembered when the damage is gone. */
class ReplayDamageTest {
    private static final long SEED = 31;
    private static final int ROWS = 200;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private SimStore sim = open();

    @AfterEach
    void close() {
        sim.close();
    }

    private SimStore open() {
        return SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    }

    private Dataset dataset() {
        return sim.store.dataset("T");
    }

    private static Row row(long id, int round) {
        return new Row(
                id,
                "user" + id % 7,
                round,
                Instant.ofEpochSecond(1_000L * round + id),
                "b" + round);
    }

    /** Three components in each tree; score and number of the component are the same. */
    private Dataset create(DatasetSpec spec) {
        Dataset dataset = sim.store.createDataset(spec);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < ROWS; i++) {
                dataset.upsert(row((long) round * ROWS + i, round).toMap());
            }
            dataset.flush();
        }
        return dataset;
    }

    private static DatasetSpec spec(Maintenance maintenance) {
        return Row.spec("T")
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge"));
    }

    private List<IndexDescription> trees() {
        return sim.store
                .describe()
                .datasets()
                .getFirst()
                .partitions()
                .getFirst()
                .indexes();
    }

    /** The file of a component, counted from the newest. */
    private String file(String index, int number) {
        ComponentDescription component = trees().stream()
                .filter(tree -> tree.name().equals(index))
                .findFirst()
                .orElseThrow()
                .components()
                .get(number);
        return StoreFiles.component(component.fileId());
    }

    /** A name of its index for each component that is set aside. */
    private List<String> quarantined() {
        return trees().stream()
                .flatMap(tree -> tree.components().stream()
                        .filter(component -> component.quarantine() != null)
                        .map(_ -> tree.name()))
                .toList();
    }

    /** How many entries the index has for a score. */
    private int countByScore(int score) {
        IndexSchema index = Inside.schema(dataset()).indexes().stream()
                .filter(each -> each.name().equals("by_score"))
                .findFirst()
                .orElseThrow();
        KeySpec key = KeySpec.of(dataset().type(), List.of("score"), "a test");
        KeyRange range = KeyRange.between(key.encode(score), true, key.encode(score + 1), false);
        int count = 0;
        try (ReadView view = dataset().openView();
                ValidSearch search = ValidSearch.open(
                        view, 0, index.describe(), range, FilterPredicate.none())) {
            while (search.next()) {
                count++;
            }
        }
        return count;
    }

    /**
     * Opens the store without some files, flushes what replay gave, closes; then the files are
     * back.
     */
    private void replayWithout(String... files) {
        sim.close();
        Map<String, byte[]> whole = new TreeMap<>();
        for (String file : files) {
            whole.put(file, disk.content(file));
            disk.delete(file);
        }
        sim = open();
        dataset().flush();
        sim.close();
        whole.forEach(disk::put);
        sim = open();
    }

    /** The index refuses whatever is done with files, until it is built anew. */
    private void checkOnlyRebuildHelps(int score, int expected) {
        for (int i = 0; i < 2; i++) {
            assertThat(Collections.frequency(quarantined(), "by_score")).isEqualTo(3);
            assertThat(Collections.frequency(quarantined(), "by_user")).isEqualTo(3);
            assertThatThrownBy(() -> countByScore(score))
                    .isInstanceOf(QuarantinedException.class)
                    .hasMessageContaining("rebuild the index");
            QuarantineReport report = sim.store.restoreFrom(null);
            assertThat(report.components())
                    .filteredOn(outcome -> outcome.refusal() != null)
                    .hasSize(6)
                    .allSatisfy(
                            outcome -> assertThat(outcome.refusal()).contains("rebuild the index"));
            assertThat(quarantined()).doesNotContain("primary");
            sim.close();
            sim = open();
        }
        dataset().rebuildIndex("by_score");
        dataset().rebuildIndex("by_user");
        assertThat(quarantined()).isEmpty();
        assertThat(countByScore(score)).isEqualTo(expected);
        sim.verify();
        sim.close();
        sim = open();
        assertThat(quarantined()).isEmpty();
        assertThat(countByScore(score)).isEqualTo(expected);
        sim.verify();
    }

    @Test
    void an_index_that_lacks_anti_matter_is_not_lifted_when_files_are_back() {
        Dataset dataset = create(spec(Maintenance.EAGER));
        dataset.upsert(row(ROWS + 7L, 5).toMap());
        dataset.delete(ROWS + 9L);
        replayWithout(file("primary", 1));
        checkOnlyRebuildHelps(1, ROWS - 2);
    }

    @Test
    void what_an_unread_component_hides_is_remembered_too() {
        Dataset dataset = create(spec(Maintenance.EAGER));
        dataset.upsert(row(8L, 5).toMap());
        replayWithout(file("primary", 1));
        checkOnlyRebuildHelps(0, ROWS - 1);
    }

    @Test
    void an_index_component_that_was_missing_itself_is_remembered() {
        Dataset dataset = create(spec(Maintenance.EAGER));
        dataset.upsert(row(ROWS + 7L, 5).toMap());
        replayWithout(file("primary", 1), file("by_score", 1));
        checkOnlyRebuildHelps(1, ROWS - 1);
    }

    @Test
    void an_eager_index_of_a_dataset_that_is_not_eager_is_remembered() {
        Dataset dataset = create(Row.blindSpec("T")
                .maintenance(Maintenance.VALIDATION)
                .index(IndexSpec.btree("by_user", "user").withMaintenance(Maintenance.EAGER))
                .index(IndexSpec.btree("by_score", "score").withMaintenance(Maintenance.EAGER))
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
        dataset.upsert(row(8L, 5).toMap());
        dataset.upsert(row(ROWS + 8L, 5).toMap());
        dataset.delete(9L);
        replayWithout(file("primary", 1));
        checkOnlyRebuildHelps(0, ROWS - 2);
    }

    /**
     * An entry that did not change lies in the component that had it first; that of its record has
     * none.
     */
    @Test
    void an_unchanged_entry_of_an_unread_record_is_not_answered_with() {
        Dataset dataset = sim.store.createDataset(
                spec(Maintenance.EAGER).mergePolicy(MergePolicySpec.parse("no-merge")));
        Instant created = Instant.ofEpochSecond(5);
        dataset.upsert(new Row(1, "u1", 1, created, "a").toMap());
        dataset.flush();
        dataset.upsert(new Row(1, "u1", 1, created, "b").toMap());
        dataset.flush();
        dataset.upsert(new Row(1, "u9", 9, created, "c").toMap());
        String newest = file("primary", 0);
        sim.close();
        byte[] whole = disk.content(newest);
        disk.flipBit(newest, whole.length - 10, 3);
        sim = open();
        assertThatThrownBy(() -> countByScore(1)).isInstanceOf(QuarantinedException.class);
        dataset().flush();
        sim.close();
        disk.put(newest, whole);
        sim = open();
        assertThatThrownBy(() -> countByScore(1)).isInstanceOf(QuarantinedException.class);
        sim.store.restoreFrom(null);
        dataset().rebuildIndex("by_score");
        dataset().rebuildIndex("by_user");
        assertThat(countByScore(1)).isZero();
        assertThat(countByScore(9)).isEqualTo(1);
        sim.verify();
    }

    @Test
    void marks_in_a_bitmap_that_could_not_be_read_are_remembered() {
        Dataset dataset = create(spec(Maintenance.MUTABLE_BITMAP));
        dataset.upsert(row(ROWS + 7L, 5).toMap());
        dataset.flush();
        String invalidEntries = StoreFiles.DATA
                + "/"
                + disk.list(StoreFiles.DATA).stream()
                        .filter(name -> name.endsWith(".dead"))
                        .findFirst()
                        .orElseThrow();
        dataset.upsert(row(ROWS + 11L, 6).toMap());
        dataset.delete(ROWS + 12L);
        sim.close();
        int middle = disk.content(invalidEntries).length / 2;
        disk.flipBit(invalidEntries, middle, 1);
        sim = open();
        dataset().flush();
        dataset().upsert(row(3L, 5).toMap());
        dataset().flush();
        sim.close();
        disk.flipBit(invalidEntries, middle, 1);
        sim = open();
        assertThat(quarantined()).containsExactly("primary");
        assertThatThrownBy(() -> SimStore.rows(dataset())).isInstanceOf(QuarantinedException.class);

        assertThat(sim.store.restoreFrom(null).isEmptied()).isTrue();

        for (int i = 0; i < 2; i++) {
            assertThat(quarantined()).isEmpty();
            assertThat(SimStore.rows(dataset())).hasSize(3 * ROWS - 1);
            assertThat(dataset().get(ROWS + 11L)).containsEntry("score", 6);
            assertThat(dataset().get(ROWS + 12L)).isNull();
            sim.verify();
            sim.close();
            sim = open();
        }
    }

    @Test
    void two_components_of_a_primary_come_back_at_once() {
        Dataset dataset = create(spec(Maintenance.MUTABLE_BITMAP));
        SimDisk backup = new SimDisk(SEED, Profile.STRICT);
        sim.store.backup(backup, CopyMode.COPY);
        dataset.upsert(row(8L, 5).toMap());
        String middle = file("primary", 1);
        String oldest = file("primary", 2);
        sim.close();
        disk.delete(middle);
        disk.delete(oldest);
        sim = open();
        assertThat(sim.store.restoreFrom(backup).isEmptied()).isTrue();
        assertThat(quarantined()).isEmpty();
        assertThat(SimStore.rows(dataset())).hasSize(3 * ROWS);
        assertThat(dataset().get(8L)).containsEntry("score", 5);
        sim.verify();
    }
}
