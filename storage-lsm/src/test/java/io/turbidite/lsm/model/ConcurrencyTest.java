package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.ClosedException;
import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Real threads: transfers between accounts in atomic batches, while readers check at snapshots that
 * no money is lost, and flushes and merges go on. A reader that saw half a batch, a moment that
 * differs between partitions, or a lost update would change the sum.
 */
class ConcurrencyTest {
    private static final int ACCOUNTS = 64;
    private static final int BALANCE = 1_000;
    private static final int WRITERS = 3;
    private static final int TRANSFERS = Tier.count(400, 3_000, 100_000);

    @ParameterizedTest
    @EnumSource(names = {"EAGER", "MUTABLE_BITMAP"})
    @Timeout(120)
    void every_snapshot_shows_whole_batches(Maintenance maintenance) throws Exception {
        long seed = Seeds.of("ConcurrencyTest");
        LogOptions log = LogOptions.defaults()
                .withSegmentBytes(1 << 20, 64, 256, 64 << 10)
                .withDurability(Durability.INTERVAL);
        StoreOptions options = StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(2 << 20, log);
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        try (Store store = Store.open(disk, ThreadTasks.create("test"), Clock.system(), options);
                ExecutorService threads = Executors.newFixedThreadPool(WRITERS + 2)) {
            Dataset dataset = store.createDataset(Row.spec("Accounts")
                    .maintenance(maintenance)
                    .partitions(3)
                    .mergePolicy(MergePolicySpec.parse("correlated-tiering")));
            for (long id = 0; id < ACCOUNTS; id++) {
                dataset.upsert(account(id, BALANCE).toMap());
            }
            AtomicBoolean done = new AtomicBoolean();
            List<Future<?>> writers = new ArrayList<>();
            // each writer has accounts of its own, so that a transfer may read before it writes
            for (int writer = 0; writer < WRITERS; writer++) {
                int number = writer;
                writers.add(threads.submit(() -> transfer(store, dataset, number, seed)));
            }
            Future<?> reader = threads.submit(() -> read(dataset, done));
            Future<?> disturber = threads.submit(() -> {
                while (!done.get()) {
                    dataset.flush();
                }
            });
            for (Future<?> writer : writers) {
                writer.get();
            }
            done.set(true);
            reader.get();
            disturber.get();
            assertThat(sum(dataset)).isEqualTo((long) ACCOUNTS * BALANCE);
            assertThat(store.verify().errors()).isEmpty();
            assertThat(Inside.holdsNothing(store)).isTrue();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    /** What is told to be gone, or to be there, must not come back or go with a crash. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Timeout(60)
    void a_write_that_finds_its_work_done_waits_until_that_is_durable(boolean deletes)
            throws Exception {
        SimDisk disk = new SimDisk(5, Profile.STRICT);
        StoreOptions options = SimStore.options(Durability.SYNC);
        CountDownLatch syncing = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Store store = Store.open(disk, ThreadTasks.create("test"), Clock.system(), options);
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Dataset dataset = store.createDataset(Row.spec("Accounts"));
            Row row = account(1, BALANCE);
            if (deletes) {
                dataset.upsert(row.toMap());
            }
            disk.onOperation(operation -> {
                if (operation.kind() == OperationKind.SYNC && operation.name().startsWith("log")) {
                    syncing.countDown();
                    await(goOn);
                }
            });
            Runnable write = deletes ? () -> dataset.delete(1L) : () -> dataset.insert(row.toMap());
            Future<?> first = threads.submit(write);
            await(syncing);
            AtomicInteger through = new AtomicInteger();
            Future<?> second = threads.submit(() -> {
                try {
                    write.run();
                } catch (DuplicateKeyException taken) {
                    assertThat(deletes).isFalse();
                }
                through.incrementAndGet();
            });
            // long enough for a write that waits for nothing
            for (int i = 0; i < 2_000_000 && through.get() == 0; i++) {
                Thread.onSpinWait();
            }
            assertThat(through).as("writes that did not wait").hasValue(0);
            goOn.countDown();
            first.get();
            second.get();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @Timeout(120)
    void a_store_that_is_closed_under_its_readers_says_so_to_each() throws Exception {
        long seed = Seeds.of("ConcurrencyTest");
        for (int round = 0; round < 8; round++) {
            SimDisk disk = new SimDisk(seed + round, Profile.STRICT);
            StoreOptions options = SimStore.options(Durability.INTERVAL);
            AtomicInteger reads = new AtomicInteger();
            List<Future<?>> readers = new ArrayList<>();
            try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
                Store store = Store.open(disk, ThreadTasks.create("test"), Clock.system(), options);
                Dataset dataset = store.createDataset(Row.spec("Accounts").partitions(2));
                for (long id = 0; id < 400; id++) {
                    dataset.upsert(account(id, BALANCE).toMap());
                    if (id == 200) {
                        dataset.flush();
                    }
                }
                for (int kind = 0; kind < 3; kind++) {
                    int way = kind;
                    readers.add(threads.submit(() -> readUntilClosed(dataset, way, reads)));
                }
                while (reads.get() < 500) {
                    Thread.onSpinWait();
                }
                store.close();
                for (Future<?> reader : readers) {
                    reader.get();
                }
            }
            assertThat(disk.openHandles()).isEmpty();
        }
    }

    private static void readUntilClosed(Dataset dataset, int way, AtomicInteger reads) {
        try {
            while (true) {
                if (way == 0) {
                    assertThat(dataset.get(reads.get() % 400L)).isNotNull();
                    reads.incrementAndGet();
                    continue;
                }
                try (ReadView view = dataset.openView();
                        RecordCursor cursor =
                                view.scan(1, KeyRange.all(), FilterPredicate.none())) {
                    cursor.seekEnd();
                    while (way == 1 ? cursor.next() || cursor.previous() : cursor.previous()) {
                        assertThat(cursor.record().byteAt(0)).isNotNegative();
                        reads.incrementAndGet();
                    }
                }
            }
        } catch (ClosedException expected) {
            assertThat(expected).isNotNull();
        }
    }

    private static Row account(long id, int balance) {
        return new Row(id, "user" + balance % 17, balance, null, "account");
    }

    private static void transfer(Store store, Dataset dataset, int writer, long seed) {
        SplittableRandom random = new SplittableRandom(Seeds.mix(seed, writer));
        WriteBatch batch = store.newBatch();
        RecordWriter records = dataset.newRecordWriter();
        for (int i = 0; i < TRANSFERS; i++) {
            long from = own(random, writer);
            long to = own(random, writer);
            if (from == to) {
                continue;
            }
            int amount = random.nextInt(10);
            batch.clear();
            batch.upsert(dataset, changed(dataset, records, from, -amount));
            batch.upsert(dataset, changed(dataset, records, to, amount));
            store.write(batch);
            // everyone reads their own writes
            assertThat(dataset.get(to)).isNotNull();
        }
    }

    private static long own(SplittableRandom random, int writer) {
        return (long) random.nextInt(ACCOUNTS / WRITERS) * WRITERS + writer;
    }

    private static Slice changed(Dataset dataset, RecordWriter records, long id, int amount) {
        Map<String, ?> now = Objects.requireNonNull(dataset.get(id));
        int balance = (Integer) Objects.requireNonNull(now.get("score"));
        return records.write(account(id, balance + amount).toMap());
    }

    private static void read(Dataset dataset, AtomicBoolean done) {
        while (!done.get()) {
            assertThat(sum(dataset)).isEqualTo((long) ACCOUNTS * BALANCE);
        }
    }

    private static long sum(Dataset dataset) {
        try (ReadView view = dataset.openView()) {
            return SimStore.rows(dataset, view).values().stream()
                    .mapToLong(row -> Objects.requireNonNull(row.score()))
                    .sum();
        }
    }
}
