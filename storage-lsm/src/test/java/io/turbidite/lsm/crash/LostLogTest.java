package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.NavigableMap;

/** A store that was never flushed and has lost its log is not taken for a fresh one. */
class LostLogTest {
    private static final long SEED = Seeds.of("LostLogTest");

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);

    private static NavigableMap<Long, Row> write(SimStore sim) {
        Dataset dataset = sim.store.createDataset(Row.spec("T").partitions(1));
        for (int id = 0; id < 10; id++) {
            dataset.upsert(new Row(id, "u" + id, id, null, "body " + id).toMap());
        }
        return SimStore.rows(dataset);
    }

    private static void assertRefusedWithoutLog(
            SimDisk on, StoreOptions options, NavigableMap<Long, Row> rows) {
        for (boolean directory : new boolean[] {true, false}) {
            SimDisk bare = withoutLog(on, directory);
            int files = bare.files().size();
            assertThatThrownBy(() -> SimStore.open(bare, SEED, options).close())
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining("put the directory back")
                    .hasMessageContaining("restore a backup");
            SimClock clock = new SimClock();
            assertThatThrownBy(() -> Store.openForReading(
                                    bare, new SimTasks(SEED, clock), clock, options)
                            .close())
                    .isInstanceOf(CorruptionException.class);
            assertThat(bare.files()).hasSize(files);
            assertThat(bare.openHandles()).isEmpty();
        }
        try (SimStore sim = SimStore.open(on.copy(), SEED, options)) {
            assertThat(SimStore.rows(sim.store.dataset("T"))).isEqualTo(rows);
        }
    }

    private static SimDisk withoutLog(SimDisk on, boolean directory) {
        SimDisk bare = on.copy();
        bare.list(StoreFiles.LOG).forEach(name -> bare.delete(StoreFiles.LOG + "/" + name));
        if (directory) {
            bare.delete(StoreFiles.LOG);
        }
        return bare;
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void after_a_close_the_lost_log_is_missed(Durability durability) {
        StoreOptions options = SimStore.options(durability);
        NavigableMap<Long, Row> rows;
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            rows = write(sim);
        }
        assertRefusedWithoutLog(disk, options, rows);
    }

    @ParameterizedTest
    @EnumSource(Durability.class)
    void after_a_crash_the_lost_log_is_missed(Durability durability) {
        StoreOptions options = SimStore.options(durability);
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            NavigableMap<Long, Row> rows = write(sim);
            sim.store.sync();
            sim.tasks.runForMicros(1_000_000);
            assertRefusedWithoutLog(disk.crashImage(SEED, Profile.STRICT), options, rows);
        }
    }

    @Test
    void a_store_that_no_record_was_written_to_needs_no_log() {
        StoreOptions options = SimStore.options(Durability.SYNC);
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            sim.store.createDataset(Row.spec("T").partitions(1));
        }
        for (boolean directory : new boolean[] {true, false}) {
            try (SimStore sim = SimStore.open(withoutLog(disk, directory), SEED, options)) {
                assertThat(SimStore.rows(sim.store.dataset("T"))).isEmpty();
            }
        }
    }
}
