package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.StoreInUseException.Holder;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.LockAnswer;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One process holds a store: whatever is decided is decided under its lock, and the lock is looked
 * after.
 */
class LockTest {
    private static final long SEED = 13;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final StoreOptions options = SimStore.options(Durability.SYNC);

    /** Runs something just before the lock is taken: another process is faster. */
    private record Overtaken(Disk disk, Runnable other) implements ForwardingDisk {
        @Override
        public LockAnswer tryLock(String name) {
            other.run();
            return disk.tryLock(name);
        }
    }

    private void makeStore() {
        try (SimStore first = SimStore.open(disk, SEED, options)) {
            Dataset dataset = first.store.createDataset(Row.spec("T"));
            for (long id = 0; id < 100; id++) {
                dataset.upsert(new Row(id, "u", 1, null, "b").toMap());
            }
            dataset.flush();
            for (long id = 100; id < 200; id++) {
                dataset.upsert(new Row(id, "u", 1, null, "b").toMap());
            }
        }
    }

    @Test
    void who_comes_second_on_a_fresh_directory_finds_the_store_of_the_first() {
        try (SimStore second =
                SimStore.open(disk, SEED, options, same -> new Overtaken(same, this::makeStore))) {
            assertThat(SimStore.rows(second.store.dataset("T"))).hasSize(200);
            second.verify();
        }
    }

    @Test
    void who_is_refused_hears_which_process_has_the_store() {
        makeStore();
        SimDisk elsewhere = disk.copy();
        try (SimStore _ = SimStore.open(disk, SEED, options)) {
            assertRefused(disk, Holder.THIS_PROCESS, "in use by this process");
        }
        elsewhere.lockElsewhere(StoreFiles.LOCK);
        assertRefused(elsewhere, Holder.ANOTHER_PROCESS, "in use by another process");
    }

    private void assertRefused(SimDisk held, Holder holder, String words) {
        assertThatThrownBy(() -> SimStore.open(held, SEED, options))
                .isInstanceOfSatisfying(StoreInUseException.class, refused -> {
                    assertThat(refused.holder()).isEqualTo(holder);
                    assertThat(refused.store()).isEqualTo(held.description());
                })
                .hasMessageContaining(words);
    }

    @Test
    void a_lock_file_that_is_deleted_or_replaced_ends_writing_within_a_second() {
        for (boolean replaced : List.of(false, true)) {
            SimDisk each = new SimDisk(SEED, Profile.STRICT);
            try (SimStore sim = SimStore.open(each, SEED, options)) {
                Dataset dataset = sim.store.createDataset(Row.spec("T"));
                dataset.upsert(new Row(1, "u", 1, null, "b").toMap());
                each.delete(StoreFiles.LOCK);
                if (replaced) {
                    each.put(StoreFiles.LOCK, new byte[0]);
                }
                sim.tasks.runForMicros(1_000_000);
                assertThatThrownBy(() -> dataset.upsert(new Row(2, "u", 1, null, "b").toMap()))
                        .isInstanceOf(StoreFailedException.class)
                        .hasMessageContaining("LOCK");
                assertThat(SimStore.rows(dataset)).hasSize(1);
            }
        }
    }

    @Test
    void the_lock_file_is_looked_at_before_the_manifest_is_changed() {
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            byte[] before = disk.content(StoreFiles.MANIFEST);
            disk.delete(StoreFiles.LOCK);
            assertThatThrownBy(() -> sim.store.createDataset(Row.spec("T")))
                    .isInstanceOf(StoreFailedException.class)
                    .hasMessageContaining("LOCK");
            assertThat(disk.content(StoreFiles.MANIFEST)).isEqualTo(before);
        }
    }

    @Test
    void the_lock_file_is_looked_at_before_a_segment_of_the_log_is_made() {
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            disk.delete(StoreFiles.LOCK);
            assertThatThrownBy(() -> Inside.core(sim.store).log().claim(10))
                    .isInstanceOf(StoreFailedException.class)
                    .hasMessageContaining("LOCK");
            assertThat(disk.list(StoreFiles.LOG)).isEmpty();
        }
    }

    @Test
    void every_segment_is_locked_while_the_store_is_open() {
        try (SimStore sim = SimStore.open(disk, SEED, options)) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            for (long id = 0; id < 3_000; id++) {
                dataset.upsert(Map.of("id", id, "body", "b".repeat(200)));
            }
            List<String> open = new ArrayList<>();
            for (String name : disk.list(StoreFiles.LOG)) {
                try {
                    disk.openReadOnly(StoreFiles.LOG + "/" + name).close();
                    open.add(name);
                } catch (InvalidRequestException locked) {
                    assertThat(locked).hasMessageContaining("locked");
                }
            }
            assertThat(disk.list(StoreFiles.LOG)).hasSizeGreaterThan(1);
            assertThat(open).isEmpty();
        }
    }
}
