package io.turbidite.lsm.indexbuild;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Real threads write and read while indexes come and go; and a disk that is full while one is
 * built.
 */
class SchemaStressTest {
    private static final int ROUNDS = Tier.count(3, 12, 200);

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults()
                .withSegmentBytes(1 << 20, 64, 256, 64 << 10)
                .withDurability(Durability.INTERVAL);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(2 << 20, log);
    }

    private static Row row(long id, int body) {
        return new Row(id, "user" + id % 7, (int) id, null, "b" + body);
    }

    /** Every key of the index once, at one view over all partitions. */
    private static void assertDistinct(Dataset dataset, String index) {
        Set<String> seen = new HashSet<>();
        try (ReadView view = dataset.openView()) {
            for (int p = 0; p < view.partitionCount(); p++) {
                try (IndexCursor cursor =
                        view.search(p, index, KeyRange.all(), FilterPredicate.none())) {
                    while (cursor.next()) {
                        String key = new String(
                                cursor.secondaryKey().toByteArray(), StandardCharsets.ISO_8859_1);
                        assertThat(seen.add(key))
                                .as("key %s is there once", key)
                                .isTrue();
                    }
                }
            }
        } catch (InvalidRequestException gone) {
            // not there yet, or no more
            assertThat(gone).hasMessageContaining("index");
        }
    }

    @Test
    @Timeout(120)
    void writers_and_readers_go_on_while_indexes_come_and_go() throws Exception {
        long seed = Seeds.of("SchemaStressTest");
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger refused = new AtomicInteger();
        try (Store store = Store.open(disk, ThreadTasks.create("test"), Clock.system(), options());
                ExecutorService threads = Executors.newFixedThreadPool(3)) {
            Dataset dataset = store.createDataset(Row.spec("T")
                    .partitions(3)
                    .mergePolicy(MergePolicySpec.parse("correlated-tiering")));
            for (long id = 0; id < 200; id++) {
                dataset.upsert(row(id, (int) id).toMap());
            }
            List<Future<?>> workers = new ArrayList<>();
            for (int writer = 0; writer < 2; writer++) {
                SplittableRandom random = new SplittableRandom(Seeds.mix(seed, writer));
                workers.add(threads.submit(() -> {
                    while (!done.get()) {
                        try {
                            if (random.nextInt(10) == 0) {
                                dataset.delete((long) random.nextInt(200));
                            } else {
                                // keys are scarce: most of them are taken
                                dataset.upsert(row(random.nextInt(200), random.nextInt(250))
                                        .toMap());
                            }
                        } catch (DuplicateKeyException taken) {
                            refused.incrementAndGet();
                        }
                    }
                }));
            }
            workers.add(threads.submit(() -> {
                while (!done.get()) {
                    assertDistinct(dataset, "once");
                    assertThat(store.verify().errors()).isEmpty();
                    dataset.flush();
                }
            }));
            try {
                for (int round = 0; round < ROUNDS; round++) {
                    change(dataset, round);
                }
            } finally {
                done.set(true);
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
            assertThat(store.verify().errors()).isEmpty();
            assertThat(refused).hasPositiveValue();
            assertThat(Inside.holdsNothing(store)).isTrue();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    private static void change(Dataset dataset, int round) {
        dataset.createIndex(IndexSpec.btree("by_body", "body"));
        boolean unique;
        try {
            dataset.createIndex(IndexSpec.btree("once", "body").asUnique());
            unique = true;
        } catch (DuplicateKeyException there) {
            unique = false;
        }
        if (!unique) {
            // bodies of their own, once nobody can take them away again
            for (long id = 0; id < 200; id++) {
                dataset.delete(id);
            }
            dataset.createIndex(IndexSpec.btree("once", "score").asUnique());
        }
        dataset.disableIndex("by_user");
        assertDistinct(dataset, "once");
        dataset.enableIndex("by_user");
        dataset.dropIndex("by_body");
        if (round % 3 != 2) {
            assertDistinct(dataset, "once");
        }
        dataset.dropIndex("once");
    }

    @Test
    void a_full_disk_ends_a_build_and_leaves_the_store_as_it_was() {
        for (int call = 1; call <= 16; call++) {
            SimDisk disk = new SimDisk(call, Profile.STRICT);
            try (SimStore sim = SimStore.open(disk, call, SimStore.options(Durability.BUFFERED))) {
                Dataset dataset = sim.store.createDataset(Row.spec("T").partitions(2));
                for (long id = 0; id < 300; id++) {
                    dataset.upsert(row(id, (int) id).toMap());
                }
                dataset.flush();
                sim.tasks.runForMicros(100_000);
                List<String> before = disk.list("data");
                disk.fault(FaultScript.with(Fault.ENOSPC)
                        .on(OperationKind.CREATE, OperationKind.WRITE)
                        .named(name -> !name.startsWith("log"))
                        .call(call)
                        .forever());
                boolean failed = false;
                try {
                    dataset.createIndex(IndexSpec.btree("by_body", "body"));
                } catch (StorageIoException full) {
                    failed = true;
                    assertThat(full.kind()).isEqualTo(StorageIoException.Kind.NO_SPACE);
                }
                disk.clearFaults();
                if (failed) {
                    assertThat(dataset.indexes()).hasSize(2);
                    sim.tasks.runForMicros(1_000_000);
                    assertThat(disk.list("data")).isEqualTo(before);
                }
                dataset.upsert(row(1, 1_000).toMap());
                sim.verify();
                if (failed) {
                    dataset.createIndex(IndexSpec.btree("by_body", "body"));
                    sim.verify();
                }
            }
        }
    }

    @Test
    void a_key_that_many_want_goes_to_one() throws Exception {
        SimDisk disk = new SimDisk(3, Profile.STRICT);
        try (Store store = Store.open(disk, ThreadTasks.create("test"), Clock.system(), options());
                ExecutorService threads = Executors.newFixedThreadPool(3)) {
            Dataset dataset = store.createDataset(Row.spec("T")
                    .partitions(4)
                    .index(IndexSpec.btree("once", "body").asUnique()));
            AtomicInteger won = new AtomicInteger();
            List<Future<?>> writers = new ArrayList<>();
            for (int writer = 0; writer < 3; writer++) {
                long base = writer * 1_000L;
                writers.add(threads.submit(() -> {
                    for (int key = 0; key < 500; key++) {
                        try {
                            dataset.insert(row(base + key, key).toMap());
                            won.incrementAndGet();
                        } catch (DuplicateKeyException taken) {
                            assertThat(taken.index()).isEqualTo("once");
                        }
                    }
                }));
            }
            for (Future<?> writer : writers) {
                writer.get();
            }
            assertThat(won).hasValue(500);
            assertDistinct(dataset, "once");
            assertThatThrownBy(() -> dataset.upsert(row(9_999, 1).toMap()))
                    .isInstanceOf(DuplicateKeyException.class);
        }
    }
}
