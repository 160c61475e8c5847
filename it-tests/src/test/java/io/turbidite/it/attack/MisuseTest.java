package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Every public method of every object of the API is called as it should not be: on what is closed,
 * with nothing for each argument, by an interrupted thread. It answers, refuses with a
 * {@link StorageException}, or says which argument is null; it comes back within ten seconds; and
 * the store is as it was.
 */
class MisuseTest {
    private static final int SECONDS_MAX = 10;
    private static final Set<String> CLOSING = Set.of("close");

    @TempDir
    Path directory;

    private final List<String> wrong = new ArrayList<>();
    private int callCount;

    private static Store open(Path at) {
        return Store.open(
                at, StoreOptions.defaults().withWriteMemoryBytes(1 << 20).withCacheBytes(1 << 20));
    }

    private static Dataset create(Store store) {
        Dataset dataset = store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("user", "string")
                .primaryKey("id")
                .index(IndexSpec.btree("by_user", "user")));
        for (long id = 0; id < 20; id++) {
            dataset.upsert(Map.of("id", id, "user", "u" + id));
        }
        return dataset;
    }

    private static void isWhole(Store store) {
        Dataset dataset = store.dataset("T");
        for (long id = 0; id < 20; id++) {
            assertThat(dataset.get(id)).containsEntry("user", "u" + id);
        }
        assertThat(store.verify().errors()).isEmpty();
    }

    /** A value for a parameter that a careful caller could pass. */
    private @Nullable Object argument(Class<?> type, Store store) {
        Map<Class<?>, Supplier<?>> values = Map.ofEntries(
                Map.entry(String.class, () -> "T"),
                Map.entry(Map.class, () -> Map.of("id", 1L, "user", "u1")),
                Map.entry(Object[].class, () -> new Object[] {1L}),
                Map.entry(Slice.class, () -> Slice.of(new byte[8])),
                Map.entry(ByteSink.class, () -> new ByteSink(16, 1 << 20)),
                Map.entry(KeyRange.class, KeyRange::all),
                Map.entry(FilterPredicate.class, FilterPredicate::none),
                Map.entry(IndexSpec.class, () -> IndexSpec.btree("by_id", "id")),
                Map.entry(
                        DatasetSpec.class,
                        () -> DatasetSpec.named("U").field("id", "int64").primaryKey("id")),
                Map.entry(WriteBatch.class, store::newBatch),
                Map.entry(Path.class, () -> directory.resolve("other")),
                Map.entry(InputStream.class, () -> new ByteArrayInputStream(new byte[3])),
                Map.entry(Duration.class, () -> Duration.ofSeconds(1)),
                Map.entry(int.class, () -> 0),
                Map.entry(long.class, () -> 0L),
                Map.entry(boolean.class, () -> false));
        try {
            Supplier<?> value = values.get(type);
            return value == null ? null : value.get();
        } catch (StorageException closed) {
            return null;
        }
    }

    /** Calls all of {@code target}'s methods, the closing ones last. */
    private void callAll(String as, Object target, Store store, boolean withNothing) {
        for (Method method : PublicCalls.methods(target, CLOSING)) {
            Class<?>[] types = method.getParameterTypes();
            if (withNothing && types.length == 0) {
                continue;
            }
            @Nullable Object[] arguments = new @Nullable Object[types.length];
            for (int i = 0; i < types.length; i++) {
                arguments[i] =
                        withNothing ? PublicCalls.nothing(types[i]) : argument(types[i], store);
            }
            call(as, target, method, arguments, withNothing);
        }
    }

    private void call(
            String as,
            Object target,
            Method method,
            @Nullable Object[] arguments,
            boolean withNothing) {
        callCount++;
        String what =
                "%s: %s.%s".formatted(as, target.getClass().getSimpleName(), method.getName());
        Throwable thrown =
                PublicCalls.start(what, () -> thrown(target, method, arguments)).await(SECONDS_MAX);
        boolean lacks = false;
        for (Object argument : arguments) {
            lacks |= argument == null;
        }
        if (thrown != null
                && !(thrown instanceof StorageException)
                && !((lacks || withNothing) && PublicCalls.isOfArgument(thrown))) {
            wrong.add(what + ": " + thrown);
        }
    }

    private static @Nullable Throwable thrown(
            Object target, Method method, @Nullable Object[] arguments) {
        return PublicCalls.thrown(target, method, arguments, opened -> !(opened instanceof Store));
    }

    @Test
    @LeaksOnPurpose("what is called on closed objects may open nothing; a hanging call is reported")
    void whatIsClosedAnswersOrRefuses() {
        Store store = open(directory.resolve("store"));
        Dataset dataset = create(store);
        WriteBatch batch = store.newBatch();
        Snapshot snapshot = store.openSnapshot();
        ReadView view = dataset.openView();
        RecordCursor records = view.scan(0, KeyRange.all(), FilterPredicate.none());
        IndexCursor entries = view.search(0, "by_user", KeyRange.all(), FilterPredicate.none());
        BulkLoader loader = loader(store);
        records.close();
        entries.close();
        for (Object closed : List.of(records, entries)) {
            callAll("closed cursor", closed, store, false);
        }
        view.close();
        callAll("closed view", view, store, false);
        snapshot.close();
        callAll("closed snapshot", snapshot, store, false);
        loader.close();
        callAll("closed loader", loader, store, false);
        isWhole(store);
        store.close();
        for (Object object : List.of(store, dataset, batch, view, snapshot, loader)) {
            callAll("closed store", object, store, false);
        }
        store.close();
        try (Store again = open(directory.resolve("store"))) {
            isWhole(again);
        }
        report("closed");
    }

    private static BulkLoader loader(Store store) {
        return store.createDataset(
                        DatasetSpec.named("Loaded").field("id", "int64").primaryKey("id"))
                .bulkLoad(10);
    }

    @Test
    void nothingForAnArgumentIsSaidAndChangesNothing() {
        try (Store store = open(directory.resolve("store"))) {
            Dataset dataset = create(store);
            try (Snapshot snapshot = store.openSnapshot();
                    ReadView view = dataset.openView();
                    RecordCursor records = view.scan(0, KeyRange.all(), FilterPredicate.none());
                    IndexCursor entries =
                            view.search(0, "by_user", KeyRange.all(), FilterPredicate.none())) {
                for (Object object : List.of(
                        store, dataset, store.newBatch(), snapshot, view, records, entries)) {
                    callAll("null", object, store, true);
                }
            }
            isWhole(store);
            dataset.upsert(Map.of("id", 100L, "user", "u100"));
            assertThat(dataset.get(100L)).containsEntry("user", "u100");
        }
        report("null");
    }

    @Test
    void anInterruptedThreadIsToldAndTheStoreGoesOn() {
        try (Store store = open(directory.resolve("store"))) {
            Dataset dataset = create(store);
            Set<String> changing = Set.of(
                    "close",
                    "delete",
                    "deleteRange",
                    "dropDataset",
                    "dropIndex",
                    "upsertRecord",
                    "insertRecord");
            for (Object object : List.of(dataset, store)) {
                for (Method method : PublicCalls.methods(object, changing)) {
                    Class<?>[] types = method.getParameterTypes();
                    @Nullable Object[] arguments = new @Nullable Object[types.length];
                    for (int i = 0; i < types.length; i++) {
                        arguments[i] = argument(types[i], store);
                    }
                    callInterrupted(object, method, arguments);
                }
            }
            assertThat(dataset.get(5L)).containsEntry("user", "u5");
            dataset.upsert(Map.of("id", 100L, "user", "u100"));
            dataset.flush();
            assertThat(dataset.get(100L)).containsEntry("user", "u100");
            assertThat(store.verify().errors()).isEmpty();
        }
        report("interrupted");
    }

    private void callInterrupted(Object target, Method method, @Nullable Object[] arguments) {
        callCount++;
        String what =
                "interrupted: %s.%s".formatted(target.getClass().getSimpleName(), method.getName());
        Throwable thrown = PublicCalls.start(what, () -> {
                    Thread.currentThread().interrupt();
                    return thrown(target, method, arguments);
                })
                .await(SECONDS_MAX);
        if (thrown instanceof StorageException said) {
            assertThat(said.getMessage()).as(what).isNotBlank().doesNotContain("failed: null");
        } else if (thrown != null && !PublicCalls.isOfArgument(thrown)) {
            wrong.add(what + ": " + thrown);
        }
    }

    private void report(String how) {
        System.out.printf("MisuseTest: %d calls, %s%n", callCount, how);
        assertThat(wrong).isEmpty();
    }
}
