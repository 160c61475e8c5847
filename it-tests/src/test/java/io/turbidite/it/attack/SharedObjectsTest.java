package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What is meant to be shared is: one {@link Store}, {@link Dataset}, {@link Snapshot} and
 * {@link ReadView} in the hands of several threads at once. Writers give all records of a group the
 * same number in one batch, so that whoever sees two numbers has not seen one moment.
 */
class SharedObjectsTest {
    private static final int SECONDS_MAX = 60;
    private static final int ROUNDS = Tier.count(2, 4, 100);
    private static final int GROUPS = 4;
    private static final int MEMBERS = 40;
    private static final int BATCHES = 150;

    @TempDir
    Path directory;

    private Store store() {
        return Store.open(
                directory.resolve("store"),
                StoreOptions.defaults().withWriteMemoryBytes(1 << 20).withCacheBytes(4 << 20));
    }

    private static Dataset create(Store store, String name) {
        return store.createDataset(DatasetSpec.named(name)
                .field("id", "int64")
                .field("member", "int64")
                .field("number", "int64")
                .primaryKey("id")
                .partitions(2)
                .index(IndexSpec.btree("by_number", "number")));
    }

    private static void write(Store store, Dataset dataset, int group, long number) {
        WriteBatch batch = store.newBatch();
        RecordWriter writer = dataset.newRecordWriter();
        for (long member = 0; member < MEMBERS; member++) {
            batch.upsert(
                    dataset,
                    writer.write(Map.of(
                            "id", group * 1_000L + member, "member", member, "number", number)));
        }
        store.write(batch);
    }

    /** The number of each group, by gets, a batch of gets, a scan and a query of the same view. */
    private static List<Long> numbers(ReadView view, Dataset dataset) {
        List<List<Long>> byWay = List.of(
                byGets(view, dataset),
                byBatch(view, dataset),
                byScan(view, dataset),
                byQuery(view));
        assertThat(byWay).as("numbers at %d", view.timestamp()).containsOnly(byWay.getFirst());
        List<Long> numbers = new ArrayList<>();
        for (int group = 0; group < GROUPS; group++) {
            List<Long> members = byWay.getFirst().subList(group * MEMBERS, (group + 1) * MEMBERS);
            assertThat(members).containsOnly(members.getFirst());
            numbers.add(members.getFirst());
        }
        return numbers;
    }

    private static Slice key(Dataset dataset, long id) {
        ByteSink key = new ByteSink(16, 64);
        dataset.primaryKeySpec().appendValues(key, List.of(id));
        return key.asSlice(new Slice());
    }

    private static List<Long> byGets(ReadView view, Dataset dataset) {
        RecordView record = new RecordView(dataset.type());
        ByteSink bytes = new ByteSink(64, 1 << 20);
        List<Long> numbers = new ArrayList<>();
        for (long id : ids()) {
            bytes.clear();
            assertThat(view.get(key(dataset, id), bytes)).isTrue();
            numbers.add(record.wrap(bytes.asSlice(new Slice())).getLong(2));
        }
        return numbers;
    }

    private static List<Long> byBatch(ReadView view, Dataset dataset) {
        RecordView record = new RecordView(dataset.type());
        KeyBatch keys = new KeyBatch(1 << 20);
        for (long id : ids()) {
            keys.add(key(dataset, id));
        }
        RecordBatch records = new RecordBatch(1 << 20);
        view.get(keys, records);
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < GROUPS * MEMBERS; i++) {
            numbers.add(record.wrap(records.record(i, new Slice())).getLong(2));
        }
        return numbers;
    }

    private static List<Long> byScan(ReadView view, Dataset dataset) {
        RecordView record = new RecordView(dataset.type());
        Long[] numbers = new Long[GROUPS * MEMBERS];
        for (int partition = 0; partition < view.partitionCount(); partition++) {
            try (RecordCursor cursor =
                    view.scan(partition, KeyRange.all(), FilterPredicate.none())) {
                while (cursor.next()) {
                    record.wrap(cursor.record());
                    int group = (int) (record.getLong(0) / 1_000);
                    numbers[group * MEMBERS + (int) record.getLong(1)] = record.getLong(2);
                }
            }
        }
        return List.of(numbers);
    }

    private static List<Long> byQuery(ReadView view) {
        List<Long> numbers = new ArrayList<>();
        Query.on(view)
                .where(Predicates.range("number", 0, null))
                .orderBy("id")
                .run()
                .forEach(row -> numbers.add((Long) row.get("number")));
        return numbers;
    }

    private static List<Long> ids() {
        List<Long> ids = new ArrayList<>();
        for (int group = 0; group < GROUPS; group++) {
            for (long member = 0; member < MEMBERS; member++) {
                ids.add(group * 1_000L + member);
            }
        }
        return ids;
    }

    @Test
    void aStoreADatasetASnapshotAndAViewServeManyThreadsAtOnce() {
        try (Store store = store()) {
            Dataset dataset = create(store, "Shared");
            for (int group = 0; group < GROUPS; group++) {
                write(store, dataset, group, 0);
            }
            for (int round = 0; round < ROUNDS; round++) {
                round(store, dataset, round);
            }
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    private static void round(Store store, Dataset dataset, int round) {
        AtomicBoolean written = new AtomicBoolean();
        CyclicBarrier barrier = new CyclicBarrier(6);
        try (Snapshot snapshot = store.openSnapshot();
                ReadView view = snapshot.view(dataset)) {
            List<Long> shown = numbers(view, dataset);
            List<PublicCalls.Call> calls = new ArrayList<>();
            for (int writer = 0; writer < 2; writer++) {
                int first = writer;
                calls.add(start("writer " + writer, barrier, () -> {
                    for (int i = 0; i < BATCHES; i++) {
                        int group = first + 2 * (i % (GROUPS / 2));
                        write(store, dataset, group, round * (long) BATCHES + i);
                    }
                    written.set(true);
                }));
            }
            for (int reader = 0; reader < 2; reader++) {
                calls.add(start("reader " + reader, barrier, () -> {
                    do {
                        // the shared view, another view of the shared snapshot, and one of its own
                        assertThat(numbers(view, dataset)).isEqualTo(shown);
                        try (ReadView other = snapshot.view(dataset)) {
                            assertThat(numbers(other, dataset)).isEqualTo(shown);
                        }
                        try (ReadView now = dataset.openView()) {
                            numbers(now, dataset);
                        }
                    } while (!written.get());
                }));
            }
            calls.add(start("flusher", barrier, () -> {
                while (!written.get()) {
                    dataset.flush();
                    store.sync();
                    store.describe();
                }
                dataset.mergeAll();
            }));
            calls.add(start("changer", barrier, () -> {
                dataset.createIndex(IndexSpec.btree("by_member", "member"));
                Dataset other = create(store, "Other");
                write(store, other, 0, 1);
                store.dropDataset("Other");
                dataset.dropIndex("by_member");
            }));
            for (PublicCalls.Call call : calls) {
                assertThat(call.await(SECONDS_MAX)).isNull();
            }
        }
    }

    private static PublicCalls.Call start(String what, CyclicBarrier barrier, Runnable work) {
        return PublicCalls.start(what, () -> {
            try {
                barrier.await();
                work.run();
                return null;
            } catch (Throwable wrong) {
                return wrong;
            }
        });
    }

    @Test
    void aViewThatOneClosesWhileOthersReadEndsTheirCallsByName() {
        try (Store store = store()) {
            Dataset dataset = create(store, "Shared");
            for (int group = 0; group < GROUPS; group++) {
                write(store, dataset, group, 7);
            }
            dataset.flush();
            for (int round = 0; round < ROUNDS; round++) {
                Snapshot snapshot = store.openSnapshot();
                ReadView view = snapshot.view(dataset);
                CyclicBarrier barrier = new CyclicBarrier(3);
                List<PublicCalls.Call> calls = new ArrayList<>();
                for (int reader = 0; reader < 2; reader++) {
                    calls.add(start("reader " + reader, barrier, () -> {
                        try {
                            while (true) {
                                assertThat(numbers(view, dataset)).containsOnly(7L);
                            }
                        } catch (ClosedException closed) {
                            // what is looked for
                        }
                    }));
                }
                calls.add(start("closer", barrier, () -> {
                    numbers(view, dataset);
                    snapshot.close();
                    snapshot.close();
                    view.close();
                }));
                for (PublicCalls.Call call : calls) {
                    assertThat(call.await(SECONDS_MAX)).isNull();
                }
            }
            assertThat(store.describe().snapshots()).isEmpty();
        }
    }
}
