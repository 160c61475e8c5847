package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.dataset.KeptCounts;
import io.turbidite.lsm.dataset.MeasuredFacts;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.partition.LiveBits;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.Version;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.Objects;
import java.util.function.LongPredicate;

/**
 * What is known of live versions is counted as what is validated is: advice and repairs go by the
 * same numbers. And those who look for entries come up for breath.
 */
class LiveCountsTest {
    private static final long SEED = 29;
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC)
            .withWriteMemoryBytes(64 << 20)
            .withCacheBytes(16 << 20)
            .withLog(
                    64 << 20,
                    LogOptions.defaults()
                            .withSegmentBytes(4 << 20, 16, 256, 1 << 20)
                            .withDurability(Durability.SYNC));

    /** As many that the obsolete ones of a query are too many, unless the others count as well. */
    private static final int ROWS = 100_000;

    private static final int UPDATED = 12_500;

    /** More than a query may pass over. */
    private static final int GARBAGE = 12_000;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, SEED, OPTIONS);
    private final Dataset dataset = sim.store.createDataset(Row.blindSpec("T")
            .index(IndexSpec.btree("by_user", "user"))
            .maintenance(Maintenance.VALIDATION)
            .repair(MergeRepair.OFF)
            .mergePolicy(MergePolicySpec.parse("no-merge")));
    private final IndexSchema index =
            Objects.requireNonNull(Inside.schema(dataset).catalog().find("by_user"));

    @AfterEach
    void all_is_right_and_closed() {
        sim.verify();
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
        sim.close();
    }

    private void write(String user, long count, LongPredicate which) {
        WriteBatch batch = sim.store.newBatch();
        for (long id = 0; id < count; id++) {
            if (which.test(id)) {
                Row row = new Row(id, user, 1, null, "");
                batch.upsert(dataset, dataset.newRecordWriter().write(row.toMap()));
            }
            if (batch.size() == 1_000 || id == count - 1) {
                sim.store.write(batch);
                batch.clear();
            }
        }
    }

    private Partition partition() {
        return Inside.partitions(dataset).getFirst();
    }

    private long count(KeyRange range) {
        long count = 0;
        try (ReadView view = dataset.openView();
                ValidSearch entries = ValidSearch.open(
                        view, 0, index.describe(), range, FilterPredicate.none())) {
            while (entries.next()) {
                count++;
            }
        }
        return count;
    }

    private KeyRange ofUser(String user) {
        KeySpec key = index.fieldKey();
        return KeyRange.startingWith(key.encode(user));
    }

    /** By questions for a user who has one entry: the counts stay what they are, almost. */
    private void learn() {
        long flushed = partition().flushedTimestamp();
        sim.tasks.await(() -> {
            count(ofUser("rare"));
            LiveBits bits = partition().liveVersions().bits();
            return bits != null && bits.known() == flushed;
        });
    }

    private double obsoleteShare() {
        return MeasuredFacts.of(Inside.opened(dataset), Inside.core(sim.store))
                .indexes()
                .getFirst()
                .obsoleteShare();
    }

    private DatasetCounts.Reads reads() {
        return KeptCounts.of(Inside.core(sim.store), Inside.opened(dataset)).reads();
    }

    /** One entry in nine is obsolete, so few that no query passed over too much. */
    @Test
    void what_bits_decide_is_counted_where_updates_are_in_memory() {
        write("ann", ROWS, _ -> true);
        write("rare", 1, _ -> true);
        dataset.flush();
        learn();
        write("ann", ROWS, id -> id % 8 == 1); // over their own entries: these are met once
        write("bob", ROWS, id -> id % 8 == 2);
        DatasetCounts.Reads before = reads();
        assertThat(count(KeyRange.all())).isEqualTo(ROWS);
        DatasetCounts.Reads after = reads();
        assertThat(after.validated() - before.validated()).isEqualTo(ROWS + UPDATED);
        assertThat(after.valid() - before.valid()).isEqualTo(ROWS);
        assertThat(obsoleteShare()).isBetween(0.1, 0.2);
        assertThat(partition().work().takePassedOverMost(index.id())).isZero();
    }

    @Test
    void what_bits_drop_is_counted() {
        write("ann", GARBAGE, _ -> true);
        write("rare", 1, _ -> true);
        dataset.flush();
        write("bob", GARBAGE, id -> id > 0);
        dataset.flush();
        learn();
        DatasetCounts.Reads before = reads();
        assertThat(count(KeyRange.all())).isEqualTo(GARBAGE);
        DatasetCounts.Reads after = reads();
        assertThat(after.validated() - before.validated()).isEqualTo(2L * GARBAGE - 1);
        assertThat(after.valid() - before.valid()).isEqualTo(GARBAGE);
        assertThat(obsoleteShare()).isBetween(0.45, 0.55);
        assertThat(partition().work().takePassedOverMost(index.id()))
                .as("half of what lies there")
                .isBetween(GARBAGE - 200L, (long) GARBAGE);
    }

    /** The key is noted before the entry is put, and the count of entries may come later still. */
    @Test
    void a_memory_layer_that_has_keys_is_asked_whatever_it_counts() {
        write("ann", 200, _ -> true);
        write("rare", 1, _ -> true);
        dataset.flush();
        learn();
        // the view is of a moment after what is known
        sim.store.createDataset(Row.blindSpec("Other")).upsert(new Row(1, "", 1, null, "").toMap());
        DatasetCounts.Reads before = reads();
        long validated = sim.store.meters().counter("validation.candidates").sum();
        Version pinned = partition().pin();
        try {
            assertThat(pinned.current().isEmpty()).isTrue();
            assertThat(pinned.current().hasKeys()).isFalse();
            pinned.current()
                    .noteKey(BloomFilter.hash(Slice.of(dataset.primaryKeySpec().encode(7L))));
            assertThat(pinned.current().isEmpty()).isTrue();
            assertThat(pinned.current().hasKeys()).isTrue();
        } finally {
            pinned.unpin();
        }
        assertThat(count(KeyRange.all())).isEqualTo(200);
        assertThat(sim.store.meters().counter("validation.candidates").sum() - validated)
                .isEqualTo(1);
        assertThat(reads().validated() - before.validated()).isEqualTo(200);
    }

    @Test
    void who_meets_dropped_entries_alone_comes_up_for_breath() {
        write("ann", 8_000, _ -> true);
        write("rare", 1, _ -> true);
        dataset.flush();
        write("bob", 8_000, id -> id > 0);
        dataset.flush();
        learn();
        int returns = 0;
        long shown = 0;
        try (ReadView view = dataset.openView();
                IndexCursor cursor =
                        view.search(0, index.name(), ofUser("ann"), FilterPredicate.none())) {
            int count = cursor.nextEntries(Integer.MAX_VALUE);
            while (count > 0) {
                returns++;
                shown += count;
                count = cursor.nextEntries(Integer.MAX_VALUE);
            }
        }
        assertThat(returns).isBetween(1, 20);
        assertThat(shown).isLessThan(8_000 / 8);
        assertThat(count(ofUser("ann"))).isZero();
    }
}
