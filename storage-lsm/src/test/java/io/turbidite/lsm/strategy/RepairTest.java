package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.engine.WriteMemory;
import io.turbidite.lsm.harness.AnswerCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Merge repair and standalone repair (LUO19 §4.4), and the histories that would break a naive one.
 */
class RepairTest {
    private static final long SEED = 7;
    private static final String NO_MERGE = "no-merge";

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final TreeMap<Long, Row> rows = new TreeMap<>();
    private SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    private Dataset dataset = create(NO_MERGE);

    private Dataset create(String policy) {
        return sim.store.createDataset(Row.spec(policy.replace('(', '-'))
                .maintenance(Maintenance.VALIDATION)
                .mergePolicy(MergePolicySpec.parse(policy)));
    }

    /** Begins anew under another policy. */
    private void under(String policy) {
        rows.clear();
        dataset = create(policy);
    }

    @AfterEach
    void all_is_right_and_closed() {
        check();
        sim.verify();
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    private void put(long id, String user) {
        Row row = new Row(id, user, 1, null, "body");
        rows.put(id, row);
        dataset.upsert(row.toMap());
    }

    private void delete(long id) {
        rows.remove(id);
        dataset.delete(id);
    }

    private void check() {
        try (ReadView view = dataset.openView()) {
            AnswerCheck.run(dataset, view, rows);
        }
    }

    private void check(ReadView view, Map<Long, Row> then) {
        AnswerCheck.run(dataset, view, then);
    }

    private void reopen() {
        String name = dataset.name();
        sim.close();
        sim = SimStore.open(disk, SEED + 1, SimStore.options(Durability.SYNC));
        dataset = sim.store.dataset(name);
    }

    private List<ComponentDescription> components(String index) {
        List<ComponentDescription> all = new ArrayList<>();
        for (StoreDescription.DatasetDescription described :
                sim.store.describe().datasets()) {
            if (described.name().equals(dataset.name())) {
                described
                        .partitions()
                        .forEach(partition -> partition.indexes().stream()
                                .filter(one -> one.name().equals(index))
                                .map(IndexDescription::components)
                                .forEach(all::addAll));
            }
        }
        return all;
    }

    private List<Long> invalidEntries(String index) {
        return components(index).stream().map(ComponentDescription::dead).toList();
    }

    private List<Long> repaired(String index) {
        return components(index).stream()
                .map(ComponentDescription::repairedTimestamp)
                .toList();
    }

    private long entries(String index) {
        return components(index).stream()
                .mapToLong(ComponentDescription::entries)
                .sum();
    }

    @Test
    void a_standalone_repair_marks_what_was_superseded_on_disk_and_gives_only_a_bitmap() {
        for (long id = 0; id < 10; id++) {
            put(id, "old");
        }
        dataset.flush();
        put(1, "new");
        put(2, "old"); // its key stays, its entry is another
        delete(3);
        dataset.flush();
        put(4, "in memory");
        List<String> before = disk.files();
        long newest = components("primary").getFirst().maxTimestamp();
        RepairCounts counts = dataset.repair();
        assertThat(invalidEntries("by_user")).containsExactly(0L, 3L);
        assertThat(invalidEntries("by_score")).containsExactly(0L, 3L);
        assertThat(repaired("by_user")).containsExactly(newest, newest);
        assertThat(counts.components()).isEqualTo(2);
        assertThat(counts.checked()).isEqualTo(20);
        assertThat(counts.marked()).isEqualTo(6);
        assertThat(counts.keyPages()).isPositive();
        List<String> grown = new ArrayList<>(disk.files());
        grown.removeAll(before);
        assertThat(grown).hasSize(2).allMatch(name -> name.endsWith(".dead"));
        check();
        assertThat(dataset.repair()).isEqualTo(RepairCounts.NONE);
    }

    @Test
    void what_a_repair_found_is_there_after_reopening_and_one_that_finds_more_replaces_its_file() {
        for (long id = 0; id < 10; id++) {
            put(id, "old");
        }
        dataset.flush();
        put(1, "new");
        dataset.flush();
        dataset.repair("by_user");
        reopen();
        assertThat(invalidEntries("by_user")).containsExactly(0L, 1L);
        assertThat(invalidEntries("by_score")).containsExactly(0L, 0L);
        check();
        put(2, "new");
        dataset.flush();
        dataset.repair();
        assertThat(invalidEntries("by_user")).containsExactly(0L, 0L, 2L);
        reopen();
        assertThat(disk.files().stream().filter(name -> name.endsWith(".dead"))).hasSize(2);
        check();
    }

    @Test
    void after_merge_all_and_repair_and_another_merge_there_is_an_entry_for_each_record() {
        for (String policy : List.of("tiering", "correlated-no-merge", "constant")) {
            under(policy);
            for (int round = 0; round < 6; round++) {
                for (long id = round; id < 300; id += 1 + round) {
                    put(id, "user" + id * round % 17);
                }
                for (long id = round; id < 300; id += 7) {
                    delete(id);
                }
                dataset.flush();
            }
            dataset.mergeAll();
            dataset.repair();
            dataset.mergeAll();
            for (String index : List.of("by_user", "by_score")) {
                assertThat(components(index)).as(policy).hasSize(1);
                assertThat(entries(index)).as(policy).isEqualTo(rows.size());
                assertThat(invalidEntries(index)).containsExactly(0L);
            }
            check();
        }
    }

    @Test
    void a_snapshot_that_is_open_keeps_what_it_sees_and_bounds_the_repaired_timestamp() {
        put(1, "first");
        put(2, "first");
        dataset.flush();
        put(1, "second");
        dataset.flush();
        Map<Long, Row> then = new TreeMap<>(rows);
        try (ReadView view = dataset.openView()) {
            put(1, "third");
            put(2, "third");
            delete(1);
            dataset.flush();
            dataset.repair();
            // the successors of 2's first entry and of 1's second are above the snapshot
            assertThat(invalidEntries("by_user")).containsExactly(0L, 0L, 1L);
            assertThat(repaired("by_user"))
                    .satisfies(all -> assertThat(all.get(1)).isEqualTo(view.timestamp()))
                    .satisfies(all -> assertThat(all.get(2)).isEqualTo(view.timestamp()));
            check(view, then);
            check();
            dataset.mergeAll();
            check(view, then);
            check();
        }
        dataset.repair();
        dataset.mergeAll();
        assertThat(entries("by_user")).isEqualTo(rows.size());
    }

    @Test
    void a_snapshot_that_is_opened_while_a_repair_goes_on_sees_what_it_must() {
        for (long id = 0; id < 500; id++) {
            put(id, "old" + id % 5);
        }
        dataset.flush();
        for (long id = 0; id < 500; id += 2) {
            put(id, "new");
        }
        dataset.flush();
        Map<Long, Row> then = new TreeMap<>();
        List<ReadView> views = new ArrayList<>();
        // each durable step of the repair
        disk.onOperation(step -> {
            if (views.isEmpty() && step.name().endsWith(".dead")) {
                views.add(dataset.openView());
                then.putAll(rows);
            }
        });
        dataset.repair();
        disk.onOperation(step -> {});
        assertThat(views).hasSize(1);
        for (long id = 0; id < 500; id += 3) {
            put(id, "newer");
        }
        dataset.flush();
        dataset.repair();
        try (ReadView view = views.getFirst()) {
            check(view, then);
        }
    }

    @Test
    void merged_entries_are_checked_from_where_their_own_component_was_checked_to() {
        // Figure 6's trap: the older component was repaired further than the newer one begins
        put(1, "a");
        put(2, "a");
        dataset.flush();
        put(3, "a");
        put(1, "b");
        dataset.flush();
        dataset.repair();
        put(2, "b");
        put(3, "b");
        dataset.flush();
        dataset.mergeAll();
        assertThat(repaired("by_user"))
                .containsExactly(components("primary").getFirst().maxTimestamp());
        dataset.mergeAll();
        assertThat(entries("by_user")).isEqualTo(3);
        check();
    }

    @Test
    void merge_repair_under_a_correlated_policy_spares_most_entries_the_sort() {
        under("correlated-no-merge");
        for (long id = 0; id < 1_000; id++) {
            put(id, "old" + id % 5);
        }
        dataset.flush();
        for (long id = 0; id < 1_000; id += 20) {
            put(id, "new");
        }
        dataset.flush();
        dataset.mergeAll();
        List<StoreEvent.Repaired> repairs = sim.store.events().recent().stream()
                .filter(StoreEvent.Repaired.class::isInstance)
                .map(StoreEvent.Repaired.class::cast)
                .toList();
        assertThat(repairs).hasSize(2).allSatisfy(repair -> {
            assertThat(repair.cause()).isEqualTo("merge");
            assertThat(repair.checked()).isEqualTo(1_050);
            assertThat(repair.marked()).isEqualTo(50);
            // the newer component's own 50 are above what it was checked for: nothing to do
            assertThat(repair.spared()).isGreaterThan(900);
            assertThat(repair.searched()).isLessThan(100);
        });
        check();
    }

    @Test
    void an_entry_whose_record_and_delete_are_gone_from_the_key_trees_is_invalid() {
        put(1, "a");
        put(2, "a");
        dataset.flush();
        delete(1);
        dataset.flush();
        // the primary alone forgets both: absence in the merged key tree is the proof
        dataset.mergeAll();
        dataset.repair();
        dataset.mergeAll();
        assertThat(entries("by_user")).isEqualTo(1);
    }

    @Test
    void merges_that_are_told_not_to_repair_are_no_further_than_the_least_of_their_inputs() {
        dataset = sim.store.createDataset(Row.spec("Off")
                .maintenance(Maintenance.VALIDATION)
                .repair(MergeRepair.OFF)
                .mergePolicy(MergePolicySpec.parse(NO_MERGE)));
        put(1, "a");
        dataset.flush();
        long least = components("by_user").getFirst().maxTimestamp();
        put(1, "b");
        dataset.flush();
        dataset.mergeAll();
        assertThat(invalidEntries("by_user")).containsExactly(0L);
        assertThat(repaired("by_user")).containsExactly(least);
        check();
        dataset.repair();
        assertThat(invalidEntries("by_user")).containsExactly(1L);
        // what is invalid goes, though nothing new is looked for
        dataset.mergeAll();
        assertThat(entries("by_user")).isEqualTo(1);
    }

    @Test
    void a_repair_by_records_finds_what_both_versions_on_disk_tell_and_no_more_than_is_safe() {
        for (long id = 0; id < 100; id++) {
            put(id, "user" + id % 7);
        }
        dataset.flush();
        for (long id = 0; id < 100; id += 4) {
            put(id, "new" + id % 3);
        }
        delete(1);
        dataset.flush();
        Map<Long, Row> then = new TreeMap<>(rows);
        long before;
        try (ReadView view = dataset.openView()) {
            put(2, "later");
            dataset.flush();
            before = dataset.repairByRecords().marked();
            check(view, then);
        }
        assertThat(before).isEqualTo(52); // 25 written over and one deleted, in two indexes
        assertThat(dataset.repairByRecords().marked()).isEqualTo(2);
        assertThat(dataset.repairByRecords().marked()).isZero();
        // it agrees with the keys
        assertThat(dataset.repair().marked()).isZero();
        check();
    }

    @Test
    void key_trees_are_searched_or_scanned_with_or_without_filters_to_the_same_end() {
        long sortBytes = 1 << 20;
        List<RepairOptions> ways = List.of(
                RepairOptions.within(sortBytes),
                RepairOptions.within(sortBytes).withRatios(3, 1e9),
                RepairOptions.within(sortBytes).withRatios(3, 0),
                RepairOptions.within(sortBytes).withoutShortcuts(),
                RepairOptions.within(sortBytes).withoutShortcuts().withRatios(0, 0),
                RepairOptions.within(sortBytes).withoutShortcuts().withRatios(1e9, 0));
        for (int way = 0; way < ways.size(); way++) {
            rows.clear();
            dataset = sim.store.createDataset(Row.spec("Way" + way)
                    .maintenance(Maintenance.VALIDATION)
                    .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
            for (long id = 0; id < 400; id++) {
                put(id, "old" + id % 5);
            }
            dataset.flush();
            for (long id = 0; id < 400; id += 8) {
                put(id, "new");
                delete(id + 1);
            }
            dataset.flush();
            RepairCounts counts = dataset.repair(ways.get(way));
            assertThat(counts.marked()).isEqualTo(2 * 100);
            assertThat(counts.spared() > 0).isEqualTo(ways.get(way).shortcuts());
            assertThat(counts.spared() + counts.searched()).isEqualTo(2 * 400);
            check();
        }
    }

    private int chunksHeld() {
        return ((WriteMemory) Inside.core(sim.store).chunks()).heldCount();
    }

    /**
     * One scan tells which timestamps are live, those of batches too: what it says is invalid is
     * invalid, also where the primary has forgotten the superseded version.
     */
    @Test
    void an_entry_is_invalid_though_others_of_its_batch_are_valid() {
        RepairOptions scanning = RepairOptions.within(1 << 20).withRatios(3, 0);
        for (boolean forgotten : List.of(false, true)) {
            rows.clear();
            dataset = sim.store.createDataset(Row.spec("Batches" + forgotten)
                    .maintenance(Maintenance.VALIDATION)
                    .repair(MergeRepair.OFF)
                    .mergePolicy(MergePolicySpec.parse(NO_MERGE)));
            for (int batchNumber = 0; batchNumber < 20; batchNumber++) {
                WriteBatch batch = sim.store.newBatch();
                for (long id = batchNumber * 10L; id < batchNumber * 10L + 10; id++) {
                    Row row = new Row(id, "old", 1, null, "body");
                    rows.put(id, row);
                    batch.upsert(dataset, dataset.newRecordWriter().write(row.toMap()));
                }
                sim.store.write(batch);
            }
            dataset.flush();
            for (long id = 0; id < 10; id++) {
                put(id, "all of a batch");
            }
            put(15, "one of a batch");
            delete(16);
            dataset.flush();
            if (forgotten) {
                dataset.mergeAll();
            }
            int chunksHeld = chunksHeld();
            RepairCounts counts = dataset.repair(scanning);
            assertThat(chunksHeld()).isEqualTo(chunksHeld);
            assertThat(counts.marked()).isEqualTo(2 * 12);
            assertThat(counts.spared()).isGreaterThanOrEqualTo(2 * 10);
            check();
            dataset.mergeAll();
            assertThat(entries("by_user")).isEqualTo(rows.size());
            assertThat(dataset.repair(scanning).marked()).isZero();
            check();
        }
    }

    @Test
    void eager_indexes_need_no_repair_and_say_so() {
        Dataset eager = sim.store.createDataset(Row.spec("Eager"));
        assertThatThrownBy(eager::repair)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("Eager has no index to repair: all are eager");
        assertThatThrownBy(() -> eager.repair("by_user"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("by_user of dataset Eager is eager");
        assertThatThrownBy(() -> eager.repair("by_nobody"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("no index by_nobody");
        Dataset bare = sim.store.createDataset(Row.blindSpec("Bare"));
        assertThatThrownBy(bare::repair)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("it has none at all");
    }
}
