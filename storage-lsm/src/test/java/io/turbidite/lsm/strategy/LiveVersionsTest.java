package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.AnswerCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.partition.LiveBits;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.ManifestState;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.TreeMap;

/** What is known of live versions decides on entries, as far as it goes and no further. */
class LiveVersionsTest {
    private static final long SEED = 23;
    private static final int ROWS = 200;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final TreeMap<Long, Row> rows = new TreeMap<>();
    private SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    private Dataset dataset = create("T", "no-merge");

    private Dataset create(String name, String policy) {
        rows.clear();
        return sim.store.createDataset(Row.spec(name)
                .maintenance(Maintenance.VALIDATION)
                .repair(MergeRepair.OFF)
                .mergePolicy(MergePolicySpec.parse(policy)));
    }

    @AfterEach
    void all_is_right_and_closed() {
        check();
        sim.verify();
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
        sim.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    private void load(int batchSize, String user, long from, long to) {
        WriteBatch batch = sim.store.newBatch();
        for (long id = from; id < to; id++) {
            Row row = new Row(id, user, 1, null, "body");
            rows.put(id, row);
            batch.upsert(dataset, dataset.newRecordWriter().write(row.toMap()));
            if (batch.size() == batchSize || id == to - 1) {
                sim.store.write(batch);
                batch.clear();
            }
        }
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

    private Partition partition() {
        return Inside.partitions(dataset).getFirst();
    }

    /** Asks until all on disk is known. */
    private void learn() {
        long flushed = partition().flushedTimestamp();
        sim.tasks.await(() -> {
            count(null);
            LiveBits bits = partition().liveVersions().bits();
            return bits != null && bits.known() == flushed;
        });
    }

    private long count(@Nullable ReadView open) {
        ReadView view = open == null ? dataset.openView() : open;
        long count = 0;
        try (ValidSearch entries = ValidSearch.open(
                view,
                0,
                view.indexes().stream()
                        .filter(index -> index.name().equals("by_user"))
                        .findFirst()
                        .orElseThrow(),
                KeyRange.all(),
                FilterPredicate.none())) {
            while (entries.next()) {
                count++;
            }
        } finally {
            if (open == null) {
                view.close();
            }
        }
        return count;
    }

    private long reading(String name) {
        return sim.store.meters().instruments().stream()
                .filter(one -> one.name().equals(name))
                .mapToLong(one -> ((Counter) one).sum())
                .sum();
    }

    private long decided() {
        return reading("validation.decided");
    }

    private long validated() {
        return reading("validation.candidates");
    }

    /** Counts, and checks how many entries were decided and how many validated. */
    private void assertCount(@Nullable ReadView view, long valid, long decided, long validated) {
        long decidedBefore = decided();
        long validatedBefore = validated();
        assertThat(count(view)).isEqualTo(valid);
        assertThat(decided() - decidedBefore).as("decided").isEqualTo(decided);
        assertThat(validated() - validatedBefore).as("validated").isEqualTo(validated);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, ROWS})
    void entries_of_what_is_on_disk_are_decided_by_bits(int batchSize) {
        load(batchSize, "old", 0, ROWS);
        dataset.flush();
        load(batchSize, "new", 0, 20);
        load(batchSize, "old", 20, 30); // the same key, and another entry
        delete(40);
        dataset.flush();
        delete(41);
        load(batchSize, "again", 40, 41);
        dataset.flush();
        learn();
        // the cleared ones are decided too: 30 and 1 that were put again, and 2 deletes; of the
        // same key only the newest entry is met
        assertCount(null, ROWS - 1, ROWS - 1 + 20 + 2, 0);
        assertThat(reading("validation.keys")).isPositive();
    }

    @Test
    void what_is_in_memory_is_asked_whether_it_may_have_the_key() {
        load(1, "old", 0, ROWS);
        dataset.flush();
        learn();
        load(5, "new", 0, 10);
        delete(10);
        long decidedBefore = decided();
        assertThat(count(null)).isEqualTo(ROWS - 1);
        assertThat(decided() - decidedBefore)
                .as("its filter may know keys that it has not")
                .isBetween(ROWS - 50L, ROWS - 11L);
    }

    /** Rule 3: what was superseded since is not gone for those who look at the moment before. */
    @Test
    void a_snapshot_from_before_sees_what_was_superseded_since() {
        load(3, "old", 0, ROWS);
        dataset.flush();
        learn();
        TreeMap<Long, Row> then = new TreeMap<>(rows);
        try (ReadView view = dataset.openView()) {
            load(3, "new", 0, 20);
            delete(30);
            load(3, "more", ROWS, ROWS + 10);
            dataset.flush();
            learn();
            assertCount(view, ROWS, ROWS - 21, 21);
            AnswerCheck.run(dataset, view, then);
            assertCount(null, ROWS + 9, ROWS + 9 + 21, 0);
            dataset.mergeAll();
            AnswerCheck.run(dataset, view, then);
            check();
        }
    }

    /** The merge drops versions whose successors are not known yet, and a delete for good. */
    @Test
    void what_a_merge_has_left_out_is_not_live() {
        load(4, "old", 0, ROWS);
        dataset.flush();
        learn();
        load(4, "new", 0, 20);
        delete(30);
        dataset.flush();
        dataset.mergeAll();
        check();
        assertCount(null, ROWS - 1, 0, ROWS + 20);
        learn();
        assertCount(null, ROWS - 1, ROWS - 1 + 21, 0);
        load(4, "newer", 0, 5);
        dataset.flush();
        learn();
        check();
    }

    @Test
    void nothing_is_known_after_an_opening_until_it_is_asked_for() {
        load(4, "old", 0, ROWS);
        dataset.flush();
        load(4, "new", 0, 20);
        dataset.flush();
        dataset.mergeAll();
        load(4, "in the log", 20, 25);
        learn();
        sim.close();
        sim = SimStore.open(disk, SEED + 1, SimStore.options(Durability.SYNC));
        dataset = sim.store.dataset("T");
        assertThat(partition().liveVersions().bits()).isNull();
        check();
        learn();
        check();
        assertThat(decided()).isPositive();
    }

    /** Of a store that an earlier release has written: its batches had one timestamp. */
    @Test
    void timestamps_that_may_be_of_a_batch_decide_nothing() {
        load(4, "old", 0, ROWS);
        dataset.flush();
        sim.close();
        ManifestState state = Manifest.open(disk).state();
        Manifest.write(
                disk,
                new ManifestState(
                        state.storeId(),
                        state.nextFileId(),
                        state.nextDatasetId(),
                        state.session(),
                        new ManifestState.Progress(
                                state.lastTimestamp(),
                                state.logPosition(),
                                state.hasLog(),
                                ManifestState.NONE_OWN),
                        state.datasets()));
        sim = SimStore.open(disk, SEED + 1, SimStore.options(Durability.SYNC));
        dataset = sim.store.dataset("T");
        long ownFrom = Inside.core(sim.store).manifest().ownFrom();
        assertThat(ownFrom).isEqualTo(state.lastTimestamp() + 1);
        assertCount(null, ROWS, 0, ROWS);
        load(4, "new", 0, 20);
        dataset.flush();
        learn();
        assertCount(null, ROWS, 20, ROWS);
        sim.close();
        assertThat(Manifest.open(disk).state().ownFrom()).isEqualTo(ownFrom);
        sim = SimStore.open(disk, SEED + 2, SimStore.options(Durability.SYNC));
        dataset = sim.store.dataset("T");
    }

    /**
     * A merge leaves out what a bit hides, though the successor is in no component that it merges:
     * no one would learn that the version is not live.
     */
    @Test
    void of_a_primary_with_live_bitmaps_nothing_is_known() {
        rows.clear();
        dataset = sim.store.createDataset(Row.spec("Bitmaps")
                .maintenance(Maintenance.MUTABLE_BITMAP)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
        load(4, "old", 0, ROWS);
        dataset.flush();
        for (int i = 0; i < 10; i++) {
            assertCount(null, ROWS, 0, ROWS);
        }
        assertThat(partition().liveVersions().bits()).isNull();
    }

    @Test
    void without_memory_nothing_is_known() {
        MemoryBudget.Account account = Inside.core(sim.store).liveVersions().account();
        long free = account.bytesFree();
        assertThat(account.reserve(free)).isTrue();
        load(4, "old", 0, ROWS);
        dataset.flush();
        for (int i = 0; i < 100; i++) {
            assertCount(null, ROWS, 0, ROWS);
        }
        assertThat(partition().liveVersions().bits()).isNull();
        account.release(free);
        learn();
        assertCount(null, ROWS, ROWS, 0);
    }

    @Test
    void what_is_known_of_a_dataset_goes_with_it() {
        MemoryBudget.Account account = Inside.core(sim.store).liveVersions().account();
        load(4, "old", 0, ROWS);
        dataset.flush();
        learn();
        assertThat(account.bytesUsed()).isPositive();
        sim.store.dropDataset("T");
        assertThat(account.bytesUsed()).isZero();
        dataset = create("Other", "no-merge");
    }
}
