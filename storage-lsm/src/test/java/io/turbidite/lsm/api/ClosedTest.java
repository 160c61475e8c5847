package io.turbidite.lsm.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.scan.CandidateBatch;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordBatch;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.DuplicateKeys;
import io.turbidite.lsm.IndexBuild;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.partition.VersionLease;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.RepairOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Every public method of what is closed, or belongs to a closed store, says so: by reflection, so
 * that new ones do too.
 */
class ClosedTest {
    private static final long SEED = 34;

    /** What only tells what is known without the store, or ends something. */
    private static final Set<String> ANSWERS = Set.of(
            "close",
            "endWaitsWithin",
            "requireOwn",
            "events",
            "meters",
            "environment",
            "means",
            "newRecordWriter",
            "typed",
            "entries",
            "primaryKeySpec",
            "keyForm",
            "name",
            "id",
            "type",
            "primaryKey",
            "filterFields",
            "indexes",
            "pages",
            "timestamp",
            "source",
            "partitionCount",
            "visitedCount",
            "work",
            "layers",
            "recordCount");

    private final List<String> wrong = new ArrayList<>();
    private int callCount;

    private @Nullable Object argument(Class<?> type, Dataset dataset, WriteBatch batch) {
        Map<Class<?>, Supplier<?>> values = Map.ofEntries(
                Map.entry(
                        String.class, () -> "{\"id\":1,\"user\":\"u\",\"score\":1,\"body\":\"b\"}"),
                Map.entry(Map.class, () -> new Row(1, "u", 1, null, "b").toMap()),
                Map.entry(List.class, () -> List.of(1L)),
                Map.entry(Object[].class, () -> new Object[] {1L}),
                Map.entry(Slice.class, () -> Slice.of(dataset.primaryKeySpec().encode(1L))),
                Map.entry(ByteSink.class, () -> new ByteSink(16, 1 << 20)),
                Map.entry(KeyRange.class, KeyRange::all),
                Map.entry(FilterPredicate.class, FilterPredicate::none),
                Map.entry(IndexSpec.class, () -> IndexSpec.btree("by_body", "body")),
                Map.entry(DatasetSpec.class, () -> Row.spec("U")),
                Map.entry(DuplicateKeys.class, () -> DuplicateKeys.REFUSED),
                Map.entry(RepairOptions.class, () -> RepairOptions.within(1 << 20)),
                Map.entry(WriteBatch.class, () -> batch),
                Map.entry(Dataset.class, () -> dataset),
                Map.entry(CopyMode.class, () -> CopyMode.COPY),
                Map.entry(FetchOptions.class, FetchOptions::defaults),
                Map.entry(IndexDescription.class, () -> dataset.indexes().getFirst()),
                Map.entry(KeyBatch.class, () -> new KeyBatch(1 << 10)),
                Map.entry(RecordBatch.class, () -> new RecordBatch(1 << 10)),
                Map.entry(CandidateBatch.class, () -> new CandidateBatch(1 << 10)),
                Map.entry(Path.class, () -> Path.of("nowhere")));
        Supplier<?> value = values.get(type);
        if (value != null) {
            return value.get();
        }
        return type == int.class ? (Object) 0 : type == long.class ? (Object) 1L : null;
    }

    private void callAll(Class<?> type, Object target, Dataset dataset, WriteBatch batch)
            throws IllegalAccessException {
        for (Method method : type.getMethods()) {
            if (Modifier.isStatic(method.getModifiers())
                    || method.getDeclaringClass().equals(Object.class)
                    || method.isSynthetic()
                    || ANSWERS.contains(method.getName())
                    || method.getName().equals("toString")) {
                continue;
            }
            Class<?>[] types = method.getParameterTypes();
            @Nullable Object[] arguments = new @Nullable Object[types.length];
            for (int i = 0; i < types.length; i++) {
                arguments[i] = argument(types[i], dataset, batch);
            }
            callCount++;
            method.setAccessible(true);
            String what = type.getSimpleName() + "." + method.getName();
            try {
                var _ = method.invoke(target, arguments);
                wrong.add(what + " answers");
            } catch (InvocationTargetException e) {
                if (!(e.getCause() instanceof ClosedException)) {
                    wrong.add(what + ": " + e.getCause());
                }
            }
        }
    }

    @Test
    void every_call_says_that_it_is_closed() throws IllegalAccessException {
        SimStore sim = SimStore.open(
                new SimDisk(SEED, Profile.STRICT), SEED, SimStore.options(Durability.SYNC));
        Store store = sim.store;
        Dataset dataset = store.createDataset(Row.spec("T").maintenance(Maintenance.VALIDATION));
        dataset.upsert(new Row(1, "u", 1, null, "b").toMap());
        WriteBatch batch = store.newBatch()
                .delete(dataset, Slice.of(dataset.primaryKeySpec().encode(1L)));
        Snapshot snapshot = store.openSnapshot();
        ReadView view = dataset.openView();
        ReadView closedView = dataset.openView();
        Snapshot closedSnapshot = store.openSnapshot();
        RecordCursor records = view.scan(0, KeyRange.all(), FilterPredicate.none());
        IndexCursor entries = view.search(
                0, dataset.indexes().getFirst().name(), KeyRange.all(), FilterPredicate.none());
        RecordCursor closedRecords = view.scan(0, KeyRange.all(), FilterPredicate.none());
        IndexCursor closedEntries = view.search(
                0, dataset.indexes().getFirst().name(), KeyRange.all(), FilterPredicate.none());
        BulkLoader closedLoader = store.createDataset(Row.spec("L")).bulkLoad(10);
        BulkLoader loader = store.createDataset(Row.spec("M")).bulkLoad(10);
        closedRecords.close();
        closedEntries.close();
        closedLoader.close();
        callAll(RecordCursor.class, closedRecords, dataset, batch);
        callAll(IndexCursor.class, closedEntries, dataset, batch);
        callAll(BulkLoader.class, closedLoader, dataset, batch);
        closedView.close();
        closedSnapshot.close();
        callAll(ReadView.class, closedView, dataset, batch);
        callAll(Snapshot.class, closedSnapshot, dataset, batch);
        sim.close();
        callAll(Store.class, store, dataset, batch);
        callAll(Dataset.class, dataset, dataset, batch);
        callAll(Snapshot.class, snapshot, dataset, batch);
        callAll(ReadView.class, view, dataset, batch);
        callAll(RecordCursor.class, records, dataset, batch);
        callAll(IndexCursor.class, entries, dataset, batch);
        callAll(BulkLoader.class, loader, dataset, batch);
        assertThat(callCount).isGreaterThan(60);
        assertThat(wrong).isEmpty();
    }

    @Test
    void a_build_that_a_close_ends_says_that_it_was_stopped() {
        IndexBuild build;
        try (SimStore sim = SimStore.open(
                new SimDisk(SEED, Profile.STRICT), SEED, SimStore.options(Durability.SYNC))) {
            Dataset dataset = sim.store.createDataset(Row.spec("T"));
            dataset.upsert(new Row(1, "u", 1, null, "b").toMap());
            build = dataset.startIndex(IndexSpec.btree("by_body", "body"));
        }
        assertThat(build.isDone()).isTrue();
        assertThat(build.index()).isEqualTo("by_body");
        build.stop();
        assertThatThrownBy(build::await)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("by_body");
    }

    /** Closes a store; gives what it said while somebody kept it, whom {@code letGo} makes end. */
    private static String closedBeside(Store store, SimClock clock, Runnable letGo) {
        AtomicReference<@Nullable String> told = new AtomicReference<>();
        store.events().listen(event -> {
            if (event instanceof StoreEvent.CloseKept kept) {
                told.set(kept.whose());
            }
        });
        CompletableFuture<Void> closed = CompletableFuture.runAsync(store::close);
        while (told.get() == null && !closed.isDone()) {
            clock.advanceMicros(1_000_000);
            Thread.onSpinWait();
        }
        assertThat(closed).isNotDone();
        letGo.run();
        closed.join();
        return String.valueOf(told.get());
    }

    @Test
    @Timeout(60)
    void a_close_that_waits_says_whose_call_keeps_it() throws InterruptedException {
        SimClock clock = new SimClock();
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        StoreOptions options = SimStore.options(Durability.SYNC);
        Store read = Store.open(disk, ThreadTasks.create("read"), clock, options);
        Dataset dataset = read.createDataset(Row.spec("T"));
        Snapshot snapshot = read.openSnapshot(); // nobody waits for it
        VersionLease cursor = new VersionLease(
                Inside.partitions(dataset).getFirst(),
                new ViewState(1, Inside.core(read).health()),
                () -> {});
        cursor.enter();
        assertThat(closedBeside(read, clock, cursor::leave)).isEqualTo("a cursor over dataset T");
        snapshot.close();

        Store loaded = Store.open(disk, ThreadTasks.create("loaded"), clock, options);
        Dataset empty = loaded.createDataset(Row.spec("L"));
        BulkLoader loader = empty.bulkLoad(1);
        loader.add(empty.newRecordWriter().write(new Row(1, "u", 1, null, "b").toMap()));
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Thread finishing = new Thread(() -> {
            try {
                loader.finish();
            } catch (ClosedException | StoreFailedException ended) {
                assertThat(ended).isNotNull();
            }
        });
        disk.onOperation(step -> {
            if (Thread.currentThread().equals(finishing)) {
                inside.countDown();
                awaitDone(go);
            }
        });
        finishing.start();
        inside.await();
        assertThat(closedBeside(loaded, clock, go::countDown))
                .isEqualTo("a bulk load of dataset L, 1 records so far");
        finishing.join();
        disk.onOperation(step -> {});
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void a_registry_may_read_the_meters_of_a_closed_store() {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        List<Reading> readings = new ArrayList<>();
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC))) {
            sim.store.createDataset(Row.spec("T"));
            sim.store.meters().observe(instrument -> {
                if (instrument instanceof Reading reading) {
                    readings.add(reading);
                }
            });
        }
        assertThat(readings).extracting(Reading::name).contains("components.quarantined");
        assertThat(readings).allSatisfy(reading -> assertThat(reading.value()).isNotNegative());
    }

    private static void awaitDone(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
