package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;

import java.util.NavigableMap;

/** What writers invalidation while a view is open is kept for it, and bounded. */
class InvalidationBudgetTest {
    private static final long WRITE_MEMORY_BYTES = 1 << 20;
    private static final int ROWS = 30_000;
    private static final int BATCH = 500;

    private final SimStore sim = SimStore.open(
            new SimDisk(3, Profile.STRICT),
            3,
            SimStore.options(Durability.BUFFERED).withWriteMemoryBytes(WRITE_MEMORY_BYTES));
    private final Dataset dataset = sim.store.createDataset(spec("Marked")
            .maintenance(Maintenance.MUTABLE_BITMAP)
            .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
    private final Dataset eager = sim.store.createDataset(spec("Eager"));

    private static DatasetSpec spec(String name) {
        return Row.blindSpec(name).partitions(1);
    }

    private void put(int first, int round) {
        WriteBatch batch = sim.store.newBatch();
        RecordWriter writer = dataset.newRecordWriter();
        for (int id = first; id < first + BATCH; id++) {
            batch.upsert(dataset, writer.write(row(id, round).toMap()));
        }
        sim.store.write(batch);
    }

    private static Row row(long id, int round) {
        return new Row(id, null, round, null, "");
    }

    private long invalidationBytes() {
        return sim.store.meters().instruments().stream()
                .filter(one -> one.name().equals("bitmap.kills.bytes"))
                .mapToLong(one -> ((Reading) one).value())
                .sum();
    }

    @Test
    void
            a_view_that_stays_open_bounds_the_writers_loses_no_invalidation_and_lets_them_go_on_when_it_ends() {
        for (int id = 0; id < ROWS; id += BATCH) {
            put(id, 0);
        }
        dataset.flush();
        int written = 0;
        try (ReadView view = dataset.openView()) {
            NavigableMap<Long, Row> before = SimStore.rows(dataset, view);
            StorageIoException refused = null;
            while (refused == null && written < ROWS) {
                try {
                    put(written, 1);
                    written += BATCH;
                } catch (StorageIoException refusal) {
                    refused = refusal;
                }
            }
            assertThat(refused).isNotNull();
            assertThat(refused)
                    .hasMessageContainingAll("snapshots and views", "at most 1048576", "close it");
            assertThat(written).isBetween(20_000, ROWS - 1);
            assertThat(invalidationBytes()).isBetween(WRITE_MEMORY_BYTES, 2 * WRITE_MEMORY_BYTES);
            // others go on
            eager.upsert(row(1, 1).toMap());
            assertThat(SimStore.rows(dataset, view)).isEqualTo(before);
        }
        put(written, 1);
        assertThat(invalidationBytes()).isLessThan(WRITE_MEMORY_BYTES / 2);
        assertNewest(written + BATCH);
        sim.verify();
        sim.close();
    }

    private void assertNewest(int written) {
        NavigableMap<Long, Row> now = SimStore.rows(dataset);
        assertThat(now).hasSize(ROWS);
        now.forEach((id, row) -> assertThat(row.score()).isEqualTo(id < written ? 1 : 0));
    }
}
