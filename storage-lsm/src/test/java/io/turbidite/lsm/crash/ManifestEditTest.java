package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Every change of the manifest: with an outcome that nobody knows, and on a thread that is
 * interrupted.
 */
class ManifestEditTest {
    private static final long SEED = 17;

    /** What changes the manifest. */
    enum Change {
        CREATE_DATASET {
            @Override
            void run(Store store) {
                var _ = store.createDataset(
                        DatasetSpec.named("New").field("id", "int64").primaryKey("id"));
            }
        },
        CREATE_INDEX {
            @Override
            void run(Store store) {
                store.dataset("T").createIndex(IndexSpec.btree("by_body", "body"));
            }
        },
        DROP_INDEX {
            @Override
            void run(Store store) {
                store.dataset("T").dropIndex("by_user");
            }
        },
        DISABLE_INDEX {
            @Override
            void run(Store store) {
                store.dataset("T").disableIndex("by_user");
            }
        },
        DROP_DATASET {
            @Override
            void run(Store store) {
                store.dropDataset("T");
            }
        },
        BULK_LOAD {
            @Override
            void run(Store store) {
                Dataset dataset = store.dataset("Empty");
                RecordWriter writer = new RecordWriter(dataset.type());
                try (BulkLoader loader = dataset.bulkLoad(1)) {
                    loader.add(writer.write(new Row(1, "u", 1, null, "b").toMap()));
                    var _ = loader.finish();
                }
            }
        },
        FLUSH {
            @Override
            void run(Store store) {
                store.dataset("T").flush();
            }
        },
        MERGE {
            @Override
            void run(Store store) {
                store.dataset("T").mergeAll();
            }
        },
        REPAIR {
            @Override
            void run(Store store) {
                var _ = store.dataset("T").repair();
            }
        };

        abstract void run(Store store);
    }

    private static void fill(Store store) {
        var _ = store.createDataset(Row.spec("Empty").partitions(1));
        Dataset other = store.createDataset(Row.spec("Other"));
        other.upsert(new Row(1, "u", 1, null, "b").toMap());
        Dataset dataset = store.createDataset(
                Row.spec("T").maintenance(Maintenance.VALIDATION).partitions(1));
        for (int round = 0; round < 2; round++) {
            for (long id = 0; id < 20; id++) {
                dataset.upsert(new Row(id, "u" + round, 1, null, "b").toMap());
            }
            dataset.flush();
        }
        dataset.upsert(new Row(1, "u", 1, null, "b").toMap());
    }

    @ParameterizedTest
    @EnumSource(Change.class)
    void after_a_change_with_an_unknown_outcome_nothing_is_acknowledged(Change change) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        List<SimDisk> images = new ArrayList<>();
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC))) {
            fill(sim.store);
            FaultScript fault = disk.fault(FaultScript.with(Fault.EIO)
                    .on(OperationKind.SYNC_DIRECTORY)
                    .named(String::isEmpty)
                    .call(1));
            assertThatThrownBy(() -> change.run(sim.store)).isInstanceOf(StorageException.class);
            assertThat(fault.hitCount()).isEqualTo(1);
            disk.clearFaults();
            assertThatThrownBy(() -> sim.store
                            .dataset("Other")
                            .upsert(new Row(2, "u", 1, null, "b").toMap()))
                    .isInstanceOf(StoreFailedException.class)
                    .hasMessageContaining("manifest");
            for (Change next : Change.values()) {
                assertThatThrownBy(() -> next.run(sim.store))
                        .as("%s", next)
                        .isInstanceOf(StorageException.class);
            }
            sim.tasks.runForMicros(5_000_000); // what background work deletes, it deletes
            images.add(disk.crashImage(SEED)); // the old manifest stands
            images.add(disk.copy()); // the new one
        }
        images.add(disk);
        for (SimDisk image : images) {
            try (SimStore again = SimStore.open(image, SEED, SimStore.options(Durability.SYNC))) {
                assertThat(SimStore.rows(again.store.dataset("Other"))).hasSize(1);
                again.verify();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Change.class)
    @Timeout(60)
    void an_interrupt_of_the_callers_thread_costs_nothing(Change change, @TempDir Path directory) {
        Thread caller = Thread.currentThread();
        AtomicBoolean over = new AtomicBoolean();
        AtomicBoolean on = new AtomicBoolean();
        AtomicBoolean came = new AtomicBoolean();
        Thread other = Thread.ofPlatform().start(() -> {
            while (!over.get()) {
                if (on.get()) {
                    caller.interrupt();
                    came.set(true);
                }
                LockSupport.parkNanos(20_000);
            }
        });
        try {
            for (int round = 0; round < 4; round++) {
                // an interrupt would end a wait for a flush that fills the store
                var _ = Thread.interrupted();
                try (Store store = Store.open(directory.resolve("store" + round))) {
                    fill(store);
                    came.set(false);
                    on.set(true);
                    while (!came.get() && other.isAlive()) {
                        Thread.onSpinWait(); // on a busy machine the change may be over before
                        // one comes
                    }
                    try {
                        change.run(store);
                    } catch (StorageIoException told) {
                        // the wait for background work that goes on; nothing else is ended
                        assertThat(told.kind()).isEqualTo(StorageIoException.Kind.INTERRUPTED);
                        assertThat(told).hasMessageContaining("which goes on");
                    } finally {
                        on.set(false);
                    }
                    store.dataset("Other").upsert(new Row(2, "u", 1, null, "b").toMap());
                }
                assertThat(Thread.interrupted()).as("round %d", round).isTrue();
            }
        } finally {
            over.set(true);
            while (other.isAlive()) {
                Thread.onSpinWait(); // a join would be interrupted
            }
            var _ = Thread.interrupted(); // the last one may have come late
        }
    }

    @Test
    void an_interrupted_thread_opens_and_backs_up(@TempDir Path directory) {
        Thread.currentThread().interrupt();
        try (Store store = Store.open(directory.resolve("a/b/store"))) {
            Dataset dataset = store.createDataset(
                    DatasetSpec.named("T").field("id", "int64").primaryKey("id"));
            dataset.upsert(Map.of("id", 1L));
            assertThat(store.backup(directory.resolve("c/d/backup"), CopyMode.COPY)
                            .timestamp())
                    .isPositive();
        }
        assertThat(Thread.interrupted()).isTrue();
    }
}
