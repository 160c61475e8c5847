package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Garbage;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.run.MergeStep;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Deleted-key indexes (LUO19 §4.1): what is in the deleted-key trees, and what they hide. */
class DeletedKeyTest {
    private static final long SEED = Seeds.of("DeletedKeyTest");
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);
    private static final String BY_USER = "by_user";

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private SimStore sim = SimStore.open(disk, SEED, OPTIONS);
    private Dataset dataset = sim.store.createDataset(spec("T"));

    private static DatasetSpec spec(String name) {
        return Row.spec(name)
                .maintenance(Maintenance.DELETED_KEY)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge"));
    }

    private Partition partition() {
        return Inside.partitions(dataset).getFirst();
    }

    private void put(long id, String user) {
        dataset.upsert(new Row(id, user, 1, null, user).toMap());
    }

    private void layer(long id, String user) {
        put(id, user);
        dataset.flush();
    }

    private long entries() {
        return Garbage.entries(sim.store, dataset, BY_USER);
    }

    /** Entries of each deleted-key tree, newest first. */
    private List<Long> deletedKeyTrees(String index) {
        return Garbage.describe(sim.store, dataset, index).deletedKeys().stream()
                .map(ComponentDescription::entries)
                .toList();
    }

    private Map<Long, Object> valid() {
        return Garbage.valid(dataset, BY_USER);
    }

    @AfterEach
    void nothing_is_wrong_or_left() {
        sim.verify();
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_key_is_noted_once_in_each_layer_above_the_oldest() {
        layer(1, "anna");
        put(1, "bert");
        put(1, "carl");
        put(2, "dora");
        dataset.delete(3L);
        dataset.flush();
        assertThat(deletedKeyTrees(BY_USER)).containsExactly(3L, 0L);
        assertThat(valid()).isEqualTo(Map.of(1L, "carl", 2L, "dora"));
    }

    @Test
    void an_entry_is_hidden_in_memory_frozen_and_on_disk() {
        layer(1, "anna");
        put(1, "bert");
        assertThat(valid()).isEqualTo(Map.of(1L, "bert"));
        dataset.flush();
        assertThat(valid()).isEqualTo(Map.of(1L, "bert"));
        dataset.delete(1L);
        assertThat(valid()).isEmpty();
    }

    @Test
    void a_merge_drops_what_was_written_over_and_with_the_oldest_the_keys_too() {
        layer(1, "anna");
        layer(2, "bert");
        layer(1, "carl");
        layer(2, "dora");
        MergeStep.run(partition(), 0, 1);
        assertThat(deletedKeyTrees(BY_USER)).containsExactly(2L, 1L, 0L);
        assertThat(entries()).isEqualTo(4);
        MergeStep.run(partition(), 0, 2);
        assertThat(deletedKeyTrees(BY_USER)).containsExactly(0L);
        assertThat(entries()).isEqualTo(2);
        assertThat(valid()).isEqualTo(Map.of(1L, "carl", 2L, "dora"));
    }

    @Test
    void keys_stay_while_a_snapshot_may_see_the_entry() {
        layer(1, "anna");
        Snapshot snapshot = sim.store.openSnapshot();
        layer(1, "bert");
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(2);
        assertThat(deletedKeyTrees(BY_USER)).containsExactly(1L);
        try (ReadView view = snapshot.view(dataset)) {
            assertThat(Garbage.valid(dataset, view, BY_USER)).isEqualTo(Map.of(1L, "anna"));
        }
        assertThat(valid()).isEqualTo(Map.of(1L, "bert"));
        snapshot.close();
        layer(2, "other");
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(2);
        assertThat(deletedKeyTrees(BY_USER)).containsExactly(0L);
    }

    /** In the version after the merge the key that hid the entry is gone; the entry must be too. */
    @Test
    void a_cursor_that_goes_over_to_a_newer_version_shows_nothing_obsolete() {
        for (long id = 0; id < 3_000; id++) {
            put(id, "anna");
        }
        dataset.flush();
        for (long id = 0; id < 3_000; id++) {
            put(id, "bert");
        }
        dataset.flush();
        try (ReadView view = dataset.openView();
                IndexCursor cursor =
                        view.search(0, BY_USER, KeyRange.all(), FilterPredicate.none())) {
            int count = 0;
            while (cursor.next()) {
                if (count++ == 10) {
                    MergeStep.run(partition(), 0, 1);
                }
            }
            assertThat(count).isEqualTo(3_000);
        }
    }

    @Test
    void an_index_that_is_built_later_has_the_deleted_key_trees_it_would_have_had() {
        layer(1, "anna");
        layer(1, "bert");
        put(1, "carl");
        dataset.createIndex(IndexSpec.btree("late", "user"));
        assertThat(deletedKeyTrees("late").stream().mapToLong(Long::longValue).sum())
                .isEqualTo(2);
        assertThat(Garbage.valid(dataset, "late")).isEqualTo(Map.of(1L, "carl"));
        put(1, "dora");
        dataset.flush();
        assertThat(Garbage.valid(dataset, "late")).isEqualTo(Map.of(1L, "dora"));
        dataset.mergeAll();
        assertThat(Garbage.entries(sim.store, dataset, "late")).isEqualTo(1);
    }

    /**
     * The component with the key that hides may be skipped by its filter; its deleted-key tree is
     * not.
     */
    @Test
    void a_filter_that_skips_the_newer_component_brings_nothing_back() {
        dataset.upsert(new Row(1, "anna", 1, Instant.ofEpochSecond(10), "x").toMap());
        dataset.flush();
        dataset.upsert(new Row(1, "bert", 1, Instant.ofEpochSecond(99), "x").toMap());
        dataset.flush();
        FilterPredicate old = new FilterPredicate(List.of(KeyRange.between(
                Inside.schema(dataset).filter().getFirst().encode(Instant.ofEpochSecond(5)),
                true,
                Inside.schema(dataset).filter().getFirst().encode(Instant.ofEpochSecond(15)),
                true)));
        try (ReadView view = dataset.openView();
                IndexCursor cursor = view.search(0, BY_USER, KeyRange.all(), old)) {
            assertThat(cursor.next()).isFalse();
        }
    }

    @Test
    void a_bulk_load_and_a_restart_keep_index_and_deleted_key_tree_together() {
        try (BulkLoader load = dataset.bulkLoad(3)) {
            for (long id = 0; id < 3; id++) {
                load.add(
                        dataset.newRecordWriter().write(new Row(id, "anna", 1, null, "x").toMap()));
            }
            load.finish();
        }
        assertThat(deletedKeyTrees(BY_USER)).containsExactly(0L);
        put(1, "bert");
        sim.close();
        sim = SimStore.open(disk, SEED, OPTIONS);
        dataset = sim.store.dataset("T");
        assertThat(valid()).isEqualTo(Map.of(0L, "anna", 1L, "bert", 2L, "anna"));
        dataset.flush();
        assertThat(deletedKeyTrees(BY_USER)).containsExactly(1L, 0L);
        dataset.dropIndex("by_score");
        dataset.mergeAll();
        assertThat(entries()).isEqualTo(3);
    }

    @Test
    void uncorrelated_an_index_is_merged_with_its_deleted_key_tree_alone() {
        Dataset other = sim.store.createDataset(
                spec("Other").mergePolicy(MergePolicySpec.parse("tiering")));
        for (String user : new String[] {"anna", "bert", "carl"}) {
            for (long id = 0; id < 50; id++) {
                other.upsert(new Row(id, user, 1, null, "x").toMap());
            }
            other.flush();
        }
        other.mergeAll();
        assertThat(Garbage.entries(sim.store, other, BY_USER)).isEqualTo(50);
        assertThat(Garbage.describe(sim.store, other, BY_USER).deletedKeys()).hasSize(1);
        assertThat(Garbage.valid(other, BY_USER)).hasSize(50).doesNotContainValue("anna");
        sim.store.dropDataset("Other");
    }
}
