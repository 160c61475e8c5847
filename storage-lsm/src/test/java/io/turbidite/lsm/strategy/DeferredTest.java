package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.Garbage;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.run.MergeStep;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Deferred indexes (DEFER18). The tests with a number are after what went wrong in the database
 * that had them first, by the number of its issue; {@code docs/strategies.md} has the list.
 */
class DeferredTest {
    private static final long SEED = Seeds.of("DeferredTest");
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);
    private static final String BY_USER = "by_user";

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, SEED, OPTIONS);
    private final Store store = sim.store;
    private final Dataset dataset = store.createDataset(spec("T"));

    private static DatasetSpec spec(String name) {
        return Row.spec(name)
                .maintenance(Maintenance.DEFERRED)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge"));
    }

    private Partition partition() {
        return Inside.partitions(dataset).getFirst();
    }

    private static Row row(long id, String user) {
        return new Row(id, user, 1, null, user);
    }

    private void put(long id, String user) {
        dataset.upsert(row(id, user).toMap());
    }

    /** Puts a record and flushes: a component of its own. */
    private void layer(long id, String user) {
        put(id, user);
        dataset.flush();
    }

    private long entries() {
        return Garbage.entries(store, dataset, BY_USER);
    }

    private Map<Long, Object> valid() {
        return Garbage.valid(dataset, BY_USER);
    }

    private long made() {
        return store.meters().counter("deferred.antimatter").sum();
    }

    @AfterEach
    void nothing_is_wrong_or_left() {
        sim.verify();
        assertThat(Inside.holdsNothing(store)).isTrue();
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_merge_takes_the_entries_of_superseded_records_along() {
        layer(1, "anna");
        layer(1, "bert");
        assertThat(entries()).isEqualTo(2);
        assertThat(valid()).isEqualTo(Map.of(1L, "bert"));
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(1);
        assertThat(valid()).isEqualTo(Map.of(1L, "bert"));
    }

    /** Validation of what is in it looks only at what is newer. */
    @Test
    void a_merged_component_counts_as_checked_up_to_its_end_or_the_oldest_reader() {
        layer(1, "anna");
        Snapshot snapshot = store.openSnapshot();
        long horizon = Inside.watermark(store);
        layer(1, "bert");
        MergeStep.run(partition(), 0, 1);
        assertThat(repaired()).isEqualTo(horizon);
        snapshot.close();
        layer(2, "other");
        MergeStep.run(partition(), 0, 1);
        assertThat(repaired()).isGreaterThan(horizon).isEqualTo(newest().maxTimestamp());
    }

    private long repaired() {
        return newest().repairedTimestamp();
    }

    private StoreDescription.ComponentDescription newest() {
        return Garbage.describe(store, dataset, BY_USER).components().getFirst();
    }

    @Test
    void a_delete_that_goes_with_the_oldest_component_takes_the_entry_first() {
        layer(1, "anna");
        layer(2, "other");
        dataset.delete(1L);
        dataset.flush();
        assertThat(entries()).isEqualTo(2);
        MergeStep.run(partition(), 0, 2);
        assertThat(entries()).isEqualTo(1);
        assertThat(valid()).isEqualTo(Map.of(2L, "other"));
    }

    /**
     * The paper's mark "deferred delete" must outlive a merge that sees the newer version alone.
     */
    @Test
    void a_merge_that_sees_the_newer_version_alone_leaves_the_older_to_the_next() {
        layer(1, "anna");
        layer(1, "bert");
        layer(2, "other");
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(3);
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(2);
        assertThat(valid()).isEqualTo(Map.of(1L, "bert", 2L, "other"));
    }

    @Test
    void what_a_snapshot_sees_stays_until_the_merge_after_its_end() {
        layer(1, "anna");
        Snapshot snapshot = store.openSnapshot();
        layer(1, "bert");
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(2);
        try (ReadView view = snapshot.view(dataset)) {
            assertThat(Garbage.valid(dataset, view, BY_USER)).isEqualTo(Map.of(1L, "anna"));
        }
        assertThat(valid()).isEqualTo(Map.of(1L, "bert"));
        snapshot.close();
        layer(2, "other");
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(2);
    }

    /**
     * The snapshot is below both versions: the primary drops the older one for good, so its entry
     * goes too.
     */
    @Test
    void a_snapshot_of_long_ago_keeps_no_entry_that_nobody_sees() {
        layer(9, "first");
        try (Snapshot snapshot = store.openSnapshot()) {
            layer(1, "anna");
            layer(1, "bert");
            MergeStep.run(partition(), 0, 1);
            assertThat(entries()).isEqualTo(2);
            try (ReadView view = snapshot.view(dataset)) {
                assertThat(Garbage.valid(dataset, view, BY_USER)).isEqualTo(Map.of(9L, "first"));
            }
        }
        assertThat(valid()).isEqualTo(Map.of(1L, "bert", 9L, "first"));
    }

    /**
     * Found in 2018: the flag that says that readers pass a deferred delete over was lost on dump.
     */
    @Test
    void skip_read_lost_on_dump_an_entry_that_came_again_is_not_hidden_wherever_things_lie() {
        layer(1, "anna");
        layer(1, "bert");
        layer(1, "anna");
        MergeStep.run(partition(), 1, 2);
        assertThat(valid()).isEqualTo(Map.of(1L, "anna"));
        MergeStep.run(partition(), 0, 1);
        assertThat(valid()).isEqualTo(Map.of(1L, "anna"));
        assertThat(entries()).isEqualTo(1);
    }

    @Test
    void issue_3638_an_index_that_is_new_shows_no_phantom() {
        layer(1, "anna");
        layer(1, "bert");
        put(1, "carl");
        dataset.createIndex(IndexSpec.btree("late", "user"));
        put(1, "dora");
        assertThat(Garbage.valid(dataset, "late")).isEqualTo(Map.of(1L, "dora"));
        dataset.flush();
        dataset.mergeAll();
        assertThat(Garbage.entries(store, dataset, "late")).isEqualTo(1);
        assertThat(entries()).isEqualTo(1);
    }

    @Test
    void issue_3693_nothing_is_made_where_the_key_has_not_changed() {
        layer(1, "anna");
        dataset.upsert(new Row(1, "anna", 1, null, "another body").toMap());
        dataset.flush();
        MergeStep.run(partition(), 0, 1);
        assertThat(made()).isZero();
        assertThat(entries()).isEqualTo(1);
        assertThat(valid()).isEqualTo(Map.of(1L, "anna"));
    }

    @Test
    void issue_4248_two_writes_of_a_key_in_one_batch_leave_no_garbage() {
        layer(1, "anna");
        WriteBatch batch = store.newBatch();
        for (String user : new String[] {"bert", "carl"}) {
            batch.upsert(dataset, dataset.newRecordWriter().write(row(1, user).toMap()));
        }
        store.write(batch);
        dataset.flush();
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(1);
        assertThat(valid()).isEqualTo(Map.of(1L, "carl"));
    }

    @Test
    void issue_4294_a_write_and_a_delete_of_a_key_in_one_batch_leave_no_garbage() {
        layer(1, "anna");
        WriteBatch batch = store.newBatch();
        batch.upsert(dataset, dataset.newRecordWriter().write(row(1, "anna").toMap()));
        batch.delete(dataset, Slice.of(dataset.primaryKeySpec().encode(1L)));
        store.write(batch);
        dataset.flush();
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isZero();
        assertThat(valid()).isEmpty();
    }

    @Test
    void issue_6448_an_index_that_is_dropped_during_a_merge_takes_nothing_with_it() {
        for (long id = 0; id < 200; id++) {
            put(id, "anna");
        }
        dataset.flush();
        for (long id = 0; id < 200; id++) {
            put(id, "bert");
        }
        dataset.flush();
        try (MergeStep step = MergeStep.start(partition(), 0, 1)) {
            assertThat(step.advance(100)).isFalse();
            dataset.dropIndex("by_score");
            step.finish();
        }
        assertThat(entries()).isEqualTo(200);
        assertThat(valid()).hasSize(200);
    }

    @Test
    void issue_6448_a_dataset_that_is_dropped_during_a_merge_lets_it_end() {
        Dataset other = store.createDataset(spec("Other"));
        for (String user : new String[] {"anna", "bert"}) {
            for (long id = 0; id < 200; id++) {
                other.upsert(row(id, user).toMap());
            }
            other.flush();
        }
        try (MergeStep step = MergeStep.start(Inside.partitions(other).getFirst(), 0, 1)) {
            assertThat(step.advance(100)).isFalse();
            store.dropDataset("Other");
            step.finish();
        }
    }

    @Test
    void issue_10820_what_is_written_over_in_memory_leaves_nothing_behind() {
        layer(1, "anna");
        put(1, "bert");
        put(1, "anna");
        put(1, "carl");
        dataset.flush();
        assertThat(valid()).isEqualTo(Map.of(1L, "carl"));
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(1);
    }

    @Test
    void issue_10822_an_insert_and_what_replaces_it_in_one_batch() {
        WriteBatch batch = store.newBatch();
        batch.insert(dataset, dataset.newRecordWriter().write(row(1, "anna").toMap()));
        batch.upsert(dataset, dataset.newRecordWriter().write(row(1, "bert").toMap()));
        store.write(batch);
        dataset.flush();
        assertThat(valid()).isEqualTo(Map.of(1L, "bert"));
        assertThat(entries()).isEqualTo(1);
    }

    /** A then B then A: the two A's are as if unchanged, but what lies between them must go. */
    @Test
    void issue_10895_a_key_that_is_what_it_was_again_hides_nothing_that_came_between() {
        layer(1, "anna");
        layer(1, "bert");
        layer(1, "anna");
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(2);
        MergeStep.run(partition(), 0, 1);
        assertThat(entries()).isEqualTo(1);
        assertThat(valid()).isEqualTo(Map.of(1L, "anna"));
    }

    /** There, a chain of cached neighbours reached over what was passed over. */
    @Test
    void issue_11079_an_obsolete_entry_between_two_others_hides_no_row_from_an_older_reader() {
        layer(1, "anna");
        layer(2, "bert");
        layer(3, "carl");
        try (ReadView before = dataset.openView()) {
            layer(2, "zoe");
            Map<Long, Object> expected = Map.of(1L, "anna", 2L, "bert", 3L, "carl");
            assertThat(valid()).isEqualTo(Map.of(1L, "anna", 2L, "zoe", 3L, "carl"));
            assertThat(Garbage.valid(dataset, before, BY_USER)).isEqualTo(expected);
            MergeStep.run(partition(), 0, 3);
            assertThat(Garbage.valid(dataset, before, BY_USER)).isEqualTo(expected);
            assertThat(valid()).isEqualTo(Map.of(1L, "anna", 2L, "zoe", 3L, "carl"));
        }
    }

    @Test
    void issue_11990_a_unique_index_is_not_deferred() {
        IndexSpec unique = IndexSpec.btree("once", "id").asUnique();
        assertThatThrownBy(() -> dataset.createIndex(unique))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("needs maintenance eager, not deferred");
    }

    @Test
    void an_uncorrelated_policy_is_refused_by_name() {
        DatasetSpec uncorrelated = spec("Other").mergePolicy(MergePolicySpec.parse("tiering"));
        assertThatThrownBy(() -> store.createDataset(uncorrelated))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("correlated-tiering");
    }

    @Test
    void what_is_more_than_memory_sorts_is_sorted_on_disk() {
        for (String user : new String[] {"anna", "bert"}) {
            for (long id = 0; id < 16_000; id++) {
                put(id, user + id % 100);
            }
            dataset.flush();
        }
        long before = store.meters().counter("sort.bytes.spilled").sum();
        dataset.mergeAll();
        assertThat(store.meters().counter("sort.bytes.spilled").sum()).isGreaterThan(before);
        assertThat(entries()).isEqualTo(16_000);
        assertThat(valid()).hasSize(16_000);
    }

    /** Issue 4501: what waited for merges made a query take minutes, and nothing told of it. */
    @Test
    void issue_4501_the_garbage_is_estimated_and_told_of() {
        for (long id = 0; id < 1_000; id++) {
            put(id, "anna");
        }
        dataset.flush();
        assertThat(garbage()).isZero();
        for (long id = 0; id < 1_500; id += 2) {
            put(id, "bert");
        }
        dataset.flush();
        assertThat(garbage()).isBetween(450L, 560L);
        assertThat(percent()).isBetween(25L, 32L);
        MergeStep.run(partition(), 0, 1);
        assertThat(garbage()).isZero();
        assertThat(percent()).isZero();
    }

    private void fill(long count, String user) {
        for (long id = 0; id < count; id++) {
            put(id, user);
        }
        dataset.flush();
    }

    private List<StoreEvent.GarbageMerged> garbageMerges() {
        return store.events().recent().stream()
                .filter(StoreEvent.GarbageMerged.class::isInstance)
                .map(StoreEvent.GarbageMerged.class::cast)
                .toList();
    }

    @Test
    void more_than_a_fifth_of_garbage_is_merged_away_when_nobody_writes() {
        fill(1_000, "anna");
        fill(150, "bert");
        sim.tasks.runForMicros(10_000_000);
        assertThat(garbageMerges()).isEmpty();
        fill(400, "carl");
        sim.tasks.runForMicros(200_000);
        assertThat(percent()).isGreaterThan(20);
        assertThat(garbageMerges()).isEmpty();
        sim.tasks.runForMicros(10_000_000);
        assertThat(garbageMerges())
                .singleElement()
                .satisfies(event -> assertThat(event.cause()).isEqualTo("idle"))
                .satisfies(event -> assertThat(event.percent()).isBetween(25, 45));
        assertThat(percent()).isLessThanOrEqualTo(20);
        assertThat(garbage()).isLessThan(160);
        assertThat(valid()).hasSize(1_000).containsEntry(1L, "carl").containsEntry(999L, "anna");
        assertThat(store.meters().counter("merge.for.garbage").sum()).isEqualTo(1);
    }

    /** Writers go on, the policy wants nothing, and there is much to pass over. */
    @Test
    void a_query_that_passes_over_too_many_entries_has_them_merged_away_at_once() {
        fill(12_000, "anna");
        fill(11_000, "bert");
        assertThat(percent()).isGreaterThan(20);
        // little was passed over: the garbage may wait
        assertThat(userOf(5_000)).isEqualTo("bert");
        keepWriting();
        assertThat(garbageMerges()).isEmpty();
        assertThat(valid()).hasSize(12_000);
        keepWriting();
        assertThat(garbageMerges())
                .singleElement()
                .satisfies(event -> assertThat(event.cause()).isEqualTo("query"));
        assertThat(entries()).isLessThan(12_100);
    }

    /** The same by fetching: a candidate whose record is another version's was passed over. */
    @Test
    void records_that_are_not_the_candidates_count_as_passed_over() {
        fill(12_000, "anna");
        fill(11_000, "bert");
        try (ReadView view = dataset.openView()) {
            KeyBatch keys = new KeyBatch(1 << 20);
            try (IndexCursor cursor =
                    view.search(0, BY_USER, KeyRange.all(), FilterPredicate.none())) {
                while (cursor.next() && keys.size() < 12_000) {
                    keys.add(cursor.primaryKey(), cursor.timestamp());
                }
            }
            keys.sortDistinct();
            try (RecordStream records = view.fetch(0, keys)) {
                while (records.next()) {
                    assertThat(records.timestamp()).isPositive();
                }
            }
        }
        keepWriting();
        assertThat(garbageMerges()).hasSize(1);
    }

    private @Nullable Object userOf(long id) {
        return Objects.requireNonNull(dataset.get(id)).get("user");
    }

    /** Writes for a while without being quiet. */
    private void keepWriting() {
        for (int i = 0; i < 20; i++) {
            put(20_000, "other");
            sim.tasks.runForMicros(200_000);
        }
        dataset.delete(20_000L);
    }

    private long percent() {
        return store.meters().instruments().stream()
                .filter(Reading.class::isInstance)
                .map(Reading.class::cast)
                .filter(reading -> reading.name().equals("deferred.garbage.percent"))
                .findFirst()
                .orElseThrow()
                .value();
    }

    private long garbage() {
        return Garbage.describe(store, dataset, BY_USER).garbageEntries();
    }
}
