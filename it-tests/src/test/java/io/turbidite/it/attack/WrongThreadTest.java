package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.DuplicateKeys;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CyclicBarrier;
import java.util.function.LongConsumer;

/**
 * What is for one thread at a time is used by two at once, and closed by another than its own: a
 * call is refused or done, what was taken is there afterwards, and nobody hangs.
 */
class WrongThreadTest {
    private static final int SECONDS_MAX = 10;
    private static final int ROUNDS = Tier.count(2, 8, 200);
    private static final int CALLS = 2_000;

    @TempDir
    Path directory;

    private Store open() {
        return Store.open(
                directory.resolve("store"),
                StoreOptions.defaults().withWriteMemoryBytes(4 << 20).withCacheBytes(1 << 20));
    }

    private static Dataset create(Store store, String name) {
        return store.createDataset(DatasetSpec.named(name)
                .field("id", "int64")
                .field("user", "string")
                .primaryKey("id")
                .index(IndexSpec.btree("by_user", "user")));
    }

    private static Slice record(RecordWriter writer, long id) {
        return writer.write(Map.of("id", id, "user", "u" + id % 7));
    }

    /** Two threads at once; each takes every other number. Gives what was taken. */
    private static Set<Long> byTwo(Dataset dataset, RecordCall call) {
        Set<Long> taken = new ConcurrentSkipListSet<>();
        CyclicBarrier barrier = new CyclicBarrier(2);
        List<PublicCalls.Call> calls = new ArrayList<>();
        for (long thread = 0; thread < 2; thread++) {
            long first = thread;
            calls.add(PublicCalls.start("thread " + thread, () -> {
                RecordWriter writer = dataset.newRecordWriter();
                return each(first, barrier, id -> {
                    call.take(record(writer, id));
                    taken.add(id);
                });
            }));
        }
        for (PublicCalls.Call under : calls) {
            assertThat(under.await(SECONDS_MAX)).isNull();
        }
        return taken;
    }

    private interface RecordCall {
        void take(Slice record);
    }

    /** Calls with every other number from {@code first} on, whatever is refused. */
    private static @Nullable Throwable each(long first, CyclicBarrier barrier, LongConsumer call) {
        try {
            barrier.await();
        } catch (Exception e) {
            return e;
        }
        for (long id = first; id < 2L * CALLS; id += 2) {
            try {
                call.accept(id);
            } catch (StorageException refused) {
                assertThat(refused.getMessage()).isNotBlank();
            }
        }
        return null;
    }

    private static void holds(Store store, Dataset dataset, Set<Long> taken) {
        for (long id = 0; id < 2L * CALLS; id++) {
            Map<String, @Nullable Object> found = dataset.get(id);
            if (taken.contains(id)) {
                assertThat(found).as("%d was taken", id).containsEntry("user", "u" + id % 7);
            } else {
                assertThat(found).as("%d was refused", id).isNull();
            }
        }
        assertThat(store.verify().errors()).isEmpty();
    }

    @Test
    void aBatchThatTwoThreadsFillHoldsWhatItTook() {
        try (Store store = open()) {
            for (int round = 0; round < ROUNDS; round++) {
                Dataset dataset = create(store, "T" + round);
                WriteBatch batch = store.newBatch();
                Set<Long> taken = byTwo(dataset, record -> batch.upsert(dataset, record));
                assertThat(batch.size()).isEqualTo(taken.size());
                store.write(batch);
                holds(store, dataset, taken);
                store.dropDataset(dataset.name());
            }
        }
    }

    @Test
    void aBatchThatOneFillsWhileTheOtherWritesItLosesNothing() {
        try (Store store = open()) {
            for (int round = 0; round < ROUNDS; round++) {
                Dataset dataset = create(store, "T" + round);
                WriteBatch batch = store.newBatch();
                Set<Long> taken = new ConcurrentSkipListSet<>();
                CyclicBarrier barrier = new CyclicBarrier(2);
                PublicCalls.Call fills = PublicCalls.start("fills", () -> {
                    RecordWriter writer = dataset.newRecordWriter();
                    return each(0, barrier, id -> {
                        batch.upsert(dataset, record(writer, id));
                        taken.add(id);
                    });
                });
                PublicCalls.Call writes = PublicCalls.start(
                        "writes", () -> each(2L * CALLS - 200, barrier, id -> store.write(batch)));
                assertThat(fills.await(SECONDS_MAX)).isNull();
                assertThat(writes.await(SECONDS_MAX)).isNull();
                store.write(batch);
                holds(store, dataset, taken);
                store.dropDataset(dataset.name());
            }
        }
    }

    @Test
    void aLoaderThatTwoThreadsFillLoadsWhatItTook() {
        try (Store store = open()) {
            for (int round = 0; round < ROUNDS; round++) {
                Dataset dataset = create(store, "T" + round);
                Set<Long> taken;
                try (BulkLoader loader = dataset.bulkLoadUnsorted(DuplicateKeys.REFUSED)) {
                    taken = byTwo(dataset, loader::add);
                    assertThat(loader.recordCount()).isEqualTo(taken.size());
                    assertThat(loader.finish()).isEqualTo(taken.size());
                }
                holds(store, dataset, taken);
                store.dropDataset(dataset.name());
            }
        }
    }

    @Test
    void aLoaderThatAnotherThreadClosesLoadsNothing() {
        try (Store store = open()) {
            for (int round = 0; round < ROUNDS; round++) {
                Dataset dataset = create(store, "T" + round);
                BulkLoader loader = dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS);
                CyclicBarrier barrier = new CyclicBarrier(2);
                PublicCalls.Call fills = PublicCalls.start("fills", () -> {
                    RecordWriter writer = dataset.newRecordWriter();
                    return each(0, barrier, id -> loader.add(record(writer, id)));
                });
                PublicCalls.Call closes = PublicCalls.start("closes", () -> {
                    Throwable none = each(2L * CALLS, barrier, id -> {});
                    loader.close();
                    return none;
                });
                assertThat(closes.await(SECONDS_MAX)).isNull();
                assertThat(fills.await(SECONDS_MAX)).isNull();
                holds(store, dataset, Set.of());
                store.dropDataset(dataset.name());
            }
        }
    }

    @Test
    @LeaksOnPurpose("a store that can't be closed is what is looked for")
    void aStoreThatIsClosedUnderALoaderWaitsForItsCallAndOpensWithoutIt() {
        for (int round = 0; round < ROUNDS; round++) {
            Store store = open();
            Dataset dataset = create(store, "T" + round);
            BulkLoader loader = dataset.bulkLoadUnsorted(DuplicateKeys.LAST_COUNTS);
            CyclicBarrier barrier = new CyclicBarrier(2);
            PublicCalls.Call fills = PublicCalls.start("fills", () -> {
                RecordWriter writer = dataset.newRecordWriter();
                Throwable wrong = each(0, barrier, id -> loader.add(record(writer, id)));
                try {
                    // all calls may have come before the close: goes on until it is met
                    while (wrong == null) {
                        loader.add(record(writer, 0));
                    }
                    loader.finish();
                    return new AssertionError("finished behind the close");
                } catch (StorageException closed) {
                    return wrong;
                }
            });
            PublicCalls.Call closes = PublicCalls.start("closes", () -> {
                Throwable none = each(2L * CALLS, barrier, id -> {});
                store.close();
                return none;
            });
            assertThat(closes.await(SECONDS_MAX)).isNull();
            assertThat(fills.await(SECONDS_MAX)).isNull();
            loader.close();
            try (Store again = open()) {
                holds(again, again.dataset("T" + round), Set.of());
                again.dropDataset("T" + round);
                assertThat(again.describe().trash()).isEmpty();
            }
        }
    }
}
