package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordSample;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The sample of a dataset: its components', laid over one another as the components are. */
class DatasetSampleTest {
    private static final int ROUNDS = 4;
    private static final int LARGE = 1_200_000;

    private final DamagedStore tried = new DamagedStore();

    @AfterEach
    void close() {
        tried.close();
    }

    private static Set<Long> ids(Dataset dataset, int round) {
        Set<Long> ids = new HashSet<>();
        try (ReadView view = dataset.openView()) {
            RecordSample sample = view.sample();
            RecordView record = new RecordView(dataset.type());
            Slice bytes = new Slice();
            for (int i = 0; i < sample.size(); i++) {
                Map<String, ?> row = record.wrap(sample.record(i, bytes)).toMap();
                assertThat(row.get("score")).isEqualTo(round);
                assertThat(ids.add((Long) row.get("id"))).as("once").isTrue();
            }
        }
        return ids;
    }

    private static double records(Dataset dataset) {
        try (ReadView view = dataset.openView()) {
            return view.estimateScan(KeyRange.all(), FilterPredicate.none())
                    * view.sample().liveShare();
        }
    }

    /** Enough that a component's share of samples has records. */
    private static void put(Dataset dataset, int round, int from, int to) {
        for (int i = from; i < to; i++) {
            dataset.upsert(Map.of(
                    "id",
                    (long) i,
                    "user",
                    "user" + i % 7,
                    "score",
                    round,
                    "body",
                    "b".repeat(300)));
        }
    }

    /** A component for each flush, not for each megabyte. */
    private void takeMemory() {
        tried.sim.close();
        tried.sim = SimStore.open(
                tried.disk,
                DamagedStore.SEED,
                SimStore.options(Durability.SYNC).withWriteMemoryBytes(64L << 20));
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void what_was_replaced_or_deleted_is_in_it_no_more(Maintenance maintenance) {
        takeMemory();
        Dataset dataset = tried.sim.store.createDataset(Row.spec("T")
                .maintenance(maintenance)
                .partitions(2)
                .mergePolicy(MergePolicySpec.parse(
                        maintenance == Maintenance.EAGER ? "no-merge" : "correlated-no-merge")));
        int count = 12_000;
        for (int round = 0; round < ROUNDS; round++) {
            put(dataset, round, 0, count);
            dataset.flush();
        }
        Set<Long> all = ids(dataset, ROUNDS - 1);
        assertThat(all.size()).isBetween(5, 400);
        // of as many entries in each round those of the last one live
        assertThat(records(dataset)).isBetween(count * 0.9, count * 1.1);

        for (long id = 0; id < count; id += 2) {
            dataset.delete(id);
        }
        dataset.flush();
        Set<Long> left = ids(dataset, ROUNDS - 1);
        assertThat(left).allSatisfy(id -> assertThat(id % 2).isEqualTo(1)).isSubsetOf(all);
        assertThat(records(dataset)).isBetween(count * 0.3, count * 0.7);
        assertThat(left).isEqualTo(ids(dataset, ROUNDS - 1));

        dataset.mergeAll();
        assertThat(ids(dataset, ROUNDS - 1))
                .allSatisfy(id -> assertThat(id % 2).isEqualTo(1))
                .hasSizeBetween(left.size() / 5, left.size() * 5);
        tried.reopen();
        Dataset again = tried.dataset("T");
        assertThat(ids(again, ROUNDS - 1)).isNotEmpty();
        assertThat(records(again)).isBetween(count * 0.45, count * 0.55);
    }

    @Test
    void it_is_read_once_and_a_new_component_adds_to_it() {
        Dataset dataset = tried.sim.store.createDataset(
                Row.spec("T").mergePolicy(MergePolicySpec.parse("no-merge")));
        put(dataset, 0, 0, 12_000);
        dataset.flush();
        try (ReadView view = dataset.openView()) {
            RecordSample first = view.sample();
            assertThat(view.sample()).isSameAs(first);
            put(dataset, 0, 12_000, 12_010);
            assertThat(view.sample()).as("writes in memory don't count").isSameAs(first);
            put(dataset, 0, 12_010, 24_000);
            dataset.flush();
            assertThat(view.sample().size()).isGreaterThan(first.size());
        }
    }

    @Test
    void where_there_is_no_component_there_is_no_sample() {
        Dataset dataset = tried.sim.store.createDataset(Row.spec("T"));
        put(dataset, 0, 0, 100);
        try (ReadView view = dataset.openView()) {
            assertThat(view.sample().size()).isZero();
            assertThat(view.sample().liveShare()).isEqualTo(1);
        }
    }

    @Test
    void a_disk_that_does_not_read_costs_the_estimate_alone_and_the_next_one_has_it() {
        Dataset dataset = tried.sim.store.createDataset(
                Row.spec("T").mergePolicy(MergePolicySpec.parse("no-merge")));
        put(dataset, 0, 0, 12_000);
        dataset.flush();
        int whole = ids(dataset, 0).size();
        tried.reopen();
        Dataset again = tried.dataset("T");
        FaultScript script = tried.disk.fault(
                FaultScript.with(Fault.EIO).on(OperationKind.READ).call(1));

        assertThat(ids(again, 0)).isEmpty();

        assertThat(script.hitCount()).isEqualTo(1);
        assertThat(ids(again, 0)).hasSize(whole);
        assertThat(tried.events(StoreEvent.DamageMet.class)).isEmpty();
    }

    /** A component whose sample has more records than are kept, and one more beside it. */
    @Test
    void of_a_large_component_a_part_is_kept_and_what_comes_later_is_cut_alike() {
        takeMemory();
        Dataset dataset = tried.sim.store.createDataset(
                Row.blindSpec("T").mergePolicy(MergePolicySpec.parse("no-merge")));
        Map<String, Object> row = new HashMap<>(Map.of("score", 0, "body", ""));
        try (BulkLoader load = dataset.bulkLoad(LARGE)) {
            RecordWriter writer = dataset.newRecordWriter();
            for (long id = 0; id < LARGE; id++) {
                row.put("id", id);
                load.add(writer.write(row));
            }
            load.finish();
        }
        int one = ids(dataset, 0).size();
        assertThat(one).isBetween(1_024, 4_096);
        long bytes = tried.tree("T", "primary").components().getFirst().space().sample();
        assertThat(bytes / 48).as("records of its sample").isGreaterThan(4_096);

        put(dataset, 0, LARGE, LARGE + 50_000);
        dataset.flush();

        assertThat(ids(dataset, 0)).hasSizeBetween(one, one + 500);
        assertThat(records(dataset)).isBetween(LARGE * 0.95, LARGE * 1.1);
    }

    @Test
    void a_damaged_one_is_told_of_and_the_next_merge_makes_it_anew() {
        Dataset dataset = tried.sim.store.createDataset(
                Row.spec("T").mergePolicy(MergePolicySpec.parse("no-merge")));
        put(dataset, 0, 0, 12_000);
        dataset.flush();
        dataset.mergeAll();
        long file = tried.files("T", "primary").getFirst();
        int before = ids(dataset, 0).size();
        tried.reopen();
        Dataset again = tried.dataset("T");
        String name = StoreFiles.component(file);
        // the sample lies before the table of contents, in front of a footer of 64 bytes
        tried.disk.flipBit(name, tried.disk.content(name).length - 4_000, 1);

        assertThat(ids(again, 0)).isEmpty();
        assertThat(again.get(7L)).containsEntry("score", 0);
        List<StoreEvent.DamageMet> met = tried.events(StoreEvent.DamageMet.class);
        assertThat(met).singleElement().satisfies(event -> {
            assertThat(event.file()).isEqualTo(name);
            assertThat(event.cause()).contains("sample");
        });
        tried.sim.tasks.runUntilIdle();
        assertThat(tried.quarantined()).isEmpty();
        assertThat(ids(again, 0)).hasSize(before);
        assertThat(tried.sim.store.verify().errors()).isEmpty();
    }
}
