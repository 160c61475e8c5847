package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.StoreDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.BatchCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/** What snapshots keep alive, for how long, and that batches are seen as a whole or not at all. */
class SnapshotTest {
    private static final long SEED = 12;
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, SEED, OPTIONS);
    private final Dataset dataset =
            sim.store.createDataset(Row.spec("T").mergePolicy(MergePolicySpec.parse("no-merge")));

    private void put(String user) {
        for (long id = 0; id < 10; id++) {
            dataset.upsert(new Row(id, user, 1, null, user).toMap());
        }
    }

    /** Entries in all components of the primary and of an index. */
    private List<Long> entries() {
        return Inside.partitions(dataset).get(0).schema().treeIds().stream()
                .map(tree -> sim
                        .store
                        .describe()
                        .datasets()
                        .get(0)
                        .partitions()
                        .get(0)
                        .indexes()
                        .get(tree.number())
                        .components()
                        .stream()
                        .mapToLong(StoreDescription.ComponentDescription::entries)
                        .sum())
                .toList()
                .subList(0, 2);
    }

    private void flushAndMerge() {
        dataset.flush();
        dataset.mergeAll();
    }

    @Test
    void versions_are_kept_exactly_while_a_snapshot_or_the_newest_reader_sees_them() {
        List<Snapshot> snapshots = new ArrayList<>();
        for (int round = 0; round < 4; round++) {
            put("user" + round);
            snapshots.add(sim.store.openSnapshot());
            // nobody sees these: they are superseded before the next snapshot
            put("lost" + round);
        }
        put("now");
        flushAndMerge();
        // four snapshots and now see ten versions each; in an index each old entry has its
        // anti-matter
        // too, but for what nobody sees
        assertThat(entries().get(0)).isEqualTo(5 * 10);
        List<Integer> order = List.of(1, 3, 0, 2);
        for (int closed = 0; closed < order.size(); closed++) {
            snapshots.get(order.get(closed)).close();
            dataset.upsert(new Row(99, "other", 1, null, "x").toMap());
            flushAndMerge();
            assertThat(entries().get(0)).isEqualTo((4L - closed) * 10 + 1);
            for (int left = closed + 1; left < order.size(); left++) {
                int round = order.get(left);
                try (ReadView view = snapshots.get(round).view(dataset)) {
                    assertThat(SimStore.rows(dataset, view).values())
                            .hasSize(10)
                            .allMatch(row -> ("user" + round).equals(row.user()));
                    BatchCheck.run(dataset, view, SimStore.rows(dataset, view));
                }
            }
        }
        assertThat(entries()).containsExactly(11L, 11L);
        sim.verify();
        sim.close();
    }

    @Test
    void a_flush_drops_what_nobody_sees_any_more() {
        put("a");
        Snapshot snapshot = sim.store.openSnapshot();
        put("b");
        put("c");
        dataset.flush();
        assertThat(entries().get(0)).isEqualTo(2 * 10);
        snapshot.close();
        put("d");
        put("e");
        dataset.flush();
        assertThat(entries().get(0)).isEqualTo(3 * 10);
        sim.close();
    }

    @Test
    void a_snapshot_that_nobody_closes_is_reported_by_its_age() {
        put("a");
        Snapshot forgotten = sim.store.openSnapshot();
        try (ReadView shortLived = dataset.openView()) {
            assertThat(sim.store.describe().snapshots()).hasSize(1);
            assertThat(sim.store.describe().snapshots().get(0).count()).isEqualTo(2);
            assertThat(shortLived.timestamp()).isEqualTo(forgotten.timestamp());
        }
        sim.tasks.runForMicros(290_000_000);
        assertThat(reports()).isEmpty();
        sim.tasks.runForMicros(20_000_000);
        assertThat(reports()).hasSize(1);
        assertThat(reports().get(0).timestamp()).isEqualTo(forgotten.timestamp());
        assertThat(reports().get(0).ageNanos()).isGreaterThanOrEqualTo(300_000_000_000L);
        sim.tasks.runForMicros(200_000_000);
        assertThat(reports()).hasSize(1);
        sim.tasks.runForMicros(200_000_000);
        // once more at twice the age
        assertThat(reports()).hasSize(2);
        assertThat(sim.store.describe().snapshots().get(0).ageMicros()).isGreaterThan(700_000_000);
        forgotten.close();
        assertThat(sim.store.describe().snapshots()).isEmpty();
        sim.close();
    }

    private List<StoreEvent.SnapshotOld> reports() {
        return sim.store.events().recent().stream()
                .filter(StoreEvent.SnapshotOld.class::isInstance)
                .map(StoreEvent.SnapshotOld.class::cast)
                .toList();
    }

    @Test
    void a_batch_over_partitions_and_datasets_is_seen_whole_by_every_snapshot_and_after_a_crash() {
        Dataset parts = sim.store.createDataset(Row.spec("P").partitions(3));
        Dataset blind = sim.store.createDataset(Row.blindSpec("B"));
        RecordWriter records = parts.newRecordWriter();
        RecordWriter blindRecords = blind.newRecordWriter();
        List<Snapshot> snapshots = new ArrayList<>();
        List<SimDisk> images = new ArrayList<>();
        disk.onOperation(step -> images.add(disk.crashImage(step.index())));
        for (int round = 0; round < 6; round++) {
            WriteBatch batch = sim.store.newBatch();
            for (long id = 0; id < 12; id++) {
                Row row = new Row(id, "round" + round, round, null, "x");
                batch.upsert(parts, records.write(row.toMap()));
                if (id % 4 == round % 4) {
                    batch.delete(blind, Slice.of(blind.primaryKeySpec().encode(id)));
                } else {
                    batch.upsert(blind, blindRecords.write(row.toMap()));
                }
            }
            sim.store.write(batch);
            snapshots.add(sim.store.openSnapshot());
            if (round % 2 == 1) {
                parts.flush();
            }
        }
        disk.onOperation(step -> {});
        for (int round = 0; round < snapshots.size(); round++) {
            try (Snapshot snapshot = snapshots.get(round)) {
                assertThat(roundOf(parts, snapshot)).isEqualTo(round);
                assertThat(roundOf(blind, snapshot)).isEqualTo(round);
            }
        }
        int recovered = -1;
        for (SimDisk image : images) {
            try (SimStore again = SimStore.open(image, SEED, OPTIONS);
                    Snapshot snapshot = again.store.openSnapshot()) {
                int round = roundOf(again.store.dataset("P"), snapshot);
                assertThat(roundOf(again.store.dataset("B"), snapshot)).isEqualTo(round);
                recovered = Math.max(recovered, round);
            }
        }
        assertThat(recovered).isEqualTo(5);
        sim.close();
    }

    /** Of which batch the rows are, all of them and all that it left; -1 if there are none. */
    private static int roundOf(Dataset of, Snapshot snapshot) {
        try (ReadView view = snapshot.view(of)) {
            Collection<Row> rows = SimStore.rows(of, view).values();
            if (rows.isEmpty()) {
                return -1;
            }
            // of twelve rows the batch deletes three in the other dataset
            assertThat(rows).hasSize(of.name().equals("P") ? 12 : 9);
            List<Integer> rounds = rows.stream()
                    .map(row -> Objects.requireNonNull(row.score()))
                    .distinct()
                    .toList();
            assertThat(rounds).hasSize(1);
            return rounds.get(0);
        }
    }
}
