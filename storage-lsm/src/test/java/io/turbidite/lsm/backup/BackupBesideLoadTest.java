package io.turbidite.lsm.backup;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SubDisk;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.order.Timestamps;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;

import java.util.NavigableMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** A bulk load draws timestamps outside the gates that a backup closes. */
class BackupBesideLoadTest {
    private static final long SEED = Seeds.of("BackupBesideLoadTest");
    private static final int ROWS = 50;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);

    private SimStore open(SimDisk on, String directory) {
        return SimStore.open(
                on, SEED, SimStore.options(Durability.SYNC), same -> SubDisk.of(same, directory));
    }

    private static void write(Dataset dataset, String user, int from, int to) {
        for (int id = from; id < to; id++) {
            dataset.upsert(new Row(id, user, 1, null, "body").toMap());
        }
    }

    private static Slice record(Dataset dataset, long id) {
        return dataset.newRecordWriter().write(new Row(id, "ann", 1, null, "").toMap());
    }

    /** Stopped between drawing a timestamp and completing it, as a load may be at any record. */
    @Test
    void marks_are_those_of_the_moment_though_a_load_has_drawn_and_not_completed() {
        try (SimStore sim = open(disk, "store")) {
            Dataset marked = sim.store.createDataset(Row.spec("Marked")
                    .maintenance(Maintenance.MUTABLE_BITMAP)
                    .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
            write(marked, "old", 0, ROWS);
            marked.flush();
            write(marked, "new", 0, 10);
            Dataset loaded = sim.store.createDataset(Row.spec("Loaded"));
            NavigableMap<Long, Row> then = SimStore.rows(marked);
            try (BulkLoader load = loaded.bulkLoad(ROWS)) {
                load.add(record(loaded, 0));
                Timestamps timestamps = Inside.core(sim.store).timestamps();
                timestamps.awaitRoom();
                long draw = timestamps.draw(1);
                // once the backup has cut, the load goes on, and writers mark more
                AtomicBoolean isCut = new AtomicBoolean();
                disk.onOperation(step -> {
                    if (timestamps.snapshotCount() > 0 && !isCut.getAndSet(true)) {
                        timestamps.complete(draw);
                        write(marked, "later", 5, 20);
                    }
                });
                sim.store.backup(SubDisk.of(disk, "backup"), CopyMode.COPY);
                disk.onOperation(step -> {});
                assertThat(isCut).isTrue();
                load.add(record(loaded, 1));
                assertThat(load.finish()).isEqualTo(2);
            }
            assertThat(SimStore.rows(loaded)).hasSize(2);
            sim.verify();
            try (SimStore backup = open(disk.crashImage(SEED), "backup")) {
                assertThat(SimStore.rows(backup.store.dataset("Loaded"))).isEmpty();
                assertThat(SimStore.rows(backup.store.dataset("Marked"))).isEqualTo(then);
                backup.verify();
            }
        }
    }
}
