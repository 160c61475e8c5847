package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.harness.BackupRound;
import io.turbidite.lsm.harness.BatchCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.merge.run.MergeStep;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;

import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** What the mutable-bitmap strategy reads and does not read, and what is refused (LUO19 §5). */
class MutableBitmapTest {
    private static final long SEED = 17;
    private static final int ROWS = 200;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private SimStore sim = open();

    private SimStore open() {
        return SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));
    }

    private static DatasetSpec spec(String name) {
        return Row.spec(name)
                .maintenance(Maintenance.MUTABLE_BITMAP)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge"));
    }

    private static Row row(long id, int second) {
        return new Row(id, "a", (int) id, Instant.ofEpochSecond(second), "x".repeat(2_000));
    }

    private long reading(String name) {
        return sim.store.meters().instruments().stream()
                .filter(one -> one.name().equals(name))
                .mapToLong(one -> ((Reading) one).value())
                .sum();
    }

    private void finish() {
        sim.verify();
        sim.close();
    }

    @Test
    void an_update_reads_a_page_of_the_key_tree_and_none_of_records() {
        Dataset dataset = sim.store.createDataset(spec("T"));
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row(i, i).toMap());
        }
        dataset.flush();
        sim.close();
        sim = open();
        dataset = sim.store.dataset("T");
        long loads = reading("cache.loads");
        long touched = loads + reading("cache.hits");
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row(i, i).toMap());
        }
        // all 200 keys lie on a page or two; their records fill a hundred
        assertThat(reading("cache.loads") - loads).isBetween(1L, 2L);
        assertThat(reading("cache.loads") + reading("cache.hits") - touched).isEqualTo(ROWS);
        finish();
    }

    @Test
    void a_query_for_old_data_passes_over_what_hides_some_of_it() {
        Dataset dataset = sim.store.createDataset(spec("T"));
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row(i, i).toMap());
        }
        dataset.flush();
        for (int i = 0; i < ROWS; i += 2) {
            dataset.upsert(row(i, 10_000 + i).toMap());
        }
        dataset.flush();
        for (int i = 1; i < ROWS; i += 4) {
            dataset.delete((long) i);
        }
        KeyRange span = KeyRange.of(created(dataset, 0), created(dataset, ROWS));
        try (ReadView view = dataset.openView();
                RecordCursor old =
                        view.scan(0, KeyRange.all(), new FilterPredicate(List.of(span)))) {
            int count = 0;
            while (old.next()) {
                count++;
            }
            assertThat(count).isEqualTo(ROWS / 4);
            // and the move that finds the end
            assertThat(old.visitedCount()).isEqualTo(ROWS / 4);
        }
        finish();
    }

    private static byte[] created(Dataset dataset, int second) {
        return Inside.schema(dataset).filter().getFirst().encode(Instant.ofEpochSecond(second));
    }

    @Test
    void marks_and_merges_change_nothing_for_a_snapshot_of_before() {
        Dataset dataset = sim.store.createDataset(spec("T"));
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row(i, i).toMap());
        }
        dataset.flush();
        NavigableMap<Long, Row> before = SimStore.rows(dataset);
        try (ReadView view = dataset.openView()) {
            for (int round = 0; round < 3; round++) {
                for (int i = round; i < ROWS; i += 2) {
                    dataset.upsert(row(i, 10_000 * (round + 1)).toMap());
                }
                dataset.delete((long) round);
                assertThat(SimStore.rows(dataset, view)).isEqualTo(before);
                dataset.flush();
                assertThat(SimStore.rows(dataset, view)).isEqualTo(before);
                dataset.mergeAll();
                assertThat(SimStore.rows(dataset, view)).isEqualTo(before);
                BatchCheck.run(dataset, view, before);
            }
        }
        assertThat(SimStore.rows(dataset)).hasSize(ROWS - 3);
        finish();
    }

    @Test
    void a_scan_in_no_order_shows_each_record_once_whatever_comes_in_between() {
        Dataset dataset = sim.store.createDataset(spec("T"));
        SplittableRandom random = new SplittableRandom(SEED);
        for (int round = 0; round < 40; round++) {
            write(dataset, random, 30);
            NavigableMap<Long, Row> expected = SimStore.rows(dataset);
            NavigableMap<Long, Row> seen = new TreeMap<>();
            RecordView record = new RecordView(dataset.type());
            try (ReadView view = dataset.openView();
                    RecordStream records =
                            view.scanUnordered(0, KeyRange.all(), FilterPredicate.none())) {
                while (records.next()) {
                    Row row = Row.of(record.wrap(records.record()).toMap());
                    assertThat(seen.put(row.id(), row)).isNull();
                    disturb(dataset, random);
                }
                assertThat(records.next()).isFalse();
            }
            assertThat(seen).as("round %d", round).isEqualTo(expected);
        }
        finish();
    }

    private static void disturb(Dataset dataset, SplittableRandom random) {
        switch (random.nextInt(20)) {
            case 0 -> write(dataset, random, 10);
            case 1 -> dataset.flush();
            case 2 -> dataset.mergeAll();
            default -> {}
        }
        List<Partition> partitions = Inside.partitions(dataset);
        int components = partitions.getFirst().components(TreeId.PRIMARY).size();
        if (components > 2 && random.nextInt(10) == 0) {
            // of neighbours: what is read already with what is not, perhaps
            int first = random.nextInt(components - 1);
            MergeStep.run(partitions.getFirst(), first, first + 1);
        }
    }

    private static void write(Dataset dataset, SplittableRandom random, int count) {
        for (int i = 0; i < count; i++) {
            long id = random.nextInt(ROWS);
            if (random.nextInt(5) == 0) {
                dataset.delete(id);
            } else {
                dataset.upsert(row(id, random.nextInt(1_000)).toMap());
            }
        }
    }

    @Test
    void a_backup_has_the_marks_of_its_timestamp() {
        for (int i = 0; i < 4; i++) {
            BackupRound round = new BackupRound(
                    Seeds.mix(SEED, i),
                    workload -> workload.withMaintenance(Maintenance.MUTABLE_BITMAP));
            round.disturb(() -> {});
            assertThat(round.backup("backup", CopyMode.COPY).copied()).isNotNegative();
            round.disk.onOperation(step -> {});
            round.checkBackup(round.disk.copy(), "backup");
            round.sim.verify();
            round.sim.close();
        }
        finish();
    }

    @Test
    void indexes_that_need_old_records_later_are_refused() {
        for (Maintenance index : new Maintenance[] {Maintenance.EAGER, Maintenance.DEFERRED}) {
            assertThatThrownBy(() -> sim.store.createDataset(spec("T")
                            .index(IndexSpec.btree("by_body", "body").withMaintenance(index))))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("by_body")
                    .hasMessageContaining("mutable-bitmap")
                    .hasMessageContaining("validation goes");
        }
        assertThatThrownBy(() -> sim.store.createDataset(
                        spec("T").mergePolicy(MergePolicySpec.parse("tiering"))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("correlated");
        finish();
    }
}
