package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * A trace of public calls in which something is thrown, and what it knows to be acknowledged. Each
 * call comes back within ten seconds, with what was thrown or a {@link StorageException}.
 * <em>Confined to one thread at a time.</em>
 */
final class Trace {
    /** Until a call counts as hanging. */
    static final long MILLIS_MAX = 10_000;

    private static final long LARGE_ID = 100;

    /** More than a slot of the log's ring, and than a page. */
    private static final String LARGE = "x".repeat(60_000);

    private final Map<Long, String> acknowledged = new TreeMap<>();
    private final Map<Long, String> attempted = new TreeMap<>();
    /** What was answered otherwise than it should be. */
    private final List<String> wrong = new ArrayList<>();

    private final Function<Disk, Store> opener;
    private final Maintenance maintenance;
    private @Nullable Store store;

    Trace(Function<Disk, Store> opener) {
        this(opener, Maintenance.EAGER);
    }

    /** @param maintenance of the dataset; the default's trace is the shortest */
    Trace(Function<Disk, Store> opener, Maintenance maintenance) {
        this.opener = opener;
        this.maintenance = maintenance;
    }

    /** Ends early where the store or the dataset could not be had. */
    void run(Disk disk) {
        step("open", () -> store = opener.apply(disk));
        Store opened = store;
        if (opened == null) {
            return;
        }
        step("createDataset", () -> opened.createDataset(spec()));
        Dataset dataset = opened.findDataset("T");
        if (dataset != null) {
            calls(opened, dataset);
        }
        step("close", opened::close);
        step("open again", () -> opener.apply(disk).close());
    }

    private DatasetSpec spec() {
        DatasetSpec spec = DatasetSpec.named("T")
                .field("id", "int64")
                .field("user", "string")
                .field("body", "string?")
                .primaryKey("id")
                .maintenance(maintenance)
                .index(IndexSpec.btree("by_user", "user"));
        return maintenance == Maintenance.EAGER
                ? spec
                : spec.mergePolicy(MergePolicySpec.parse("correlated-prefix", Map.of()));
    }

    private void calls(Store opened, Dataset dataset) {
        Map<String, Runnable> calls = new LinkedHashMap<>();
        calls.put("upsert", () -> write(dataset, 0, 12, "a"));
        calls.put("flush", dataset::flush);
        calls.put("upsert again", () -> write(dataset, 6, 12, "b"));
        calls.put("createIndex", () -> dataset.createIndex(IndexSpec.btree("by_id", "id")));
        calls.put("flush again", dataset::flush);
        calls.put("upsert of a large one", () -> writeLarge(dataset));
        calls.put("upsert below a snapshot", () -> {
            try (Snapshot snapshot = opened.openSnapshot()) {
                assertThat(snapshot).isNotNull();
                write(dataset, 0, 4, "s");
            }
        });
        calls.put("merge", dataset::mergeAll);
        calls.put("snapshot", () -> {
            try (Snapshot snapshot = opened.openSnapshot()) {
                assertThat(snapshot).isNotNull();
            }
        });
        calls.put("search", () -> search(dataset));
        calls.put("disableIndex", () -> dataset.disableIndex("by_id"));
        calls.put("enableIndex", () -> dataset.enableIndex("by_id"));
        calls.put("repair", dataset::repair);
        calls.put("load", () -> load(opened));
        calls.put("sync", opened::sync);
        calls.put("verify", opened::verify);
        calls.put("dropIndex", () -> dataset.dropIndex("by_id"));
        calls.put("dropDataset", () -> opened.dropDataset("Loaded"));
        calls.put("upsert at last", () -> write(dataset, 12, 12, "c"));
        calls.forEach(this::step);
    }

    private static void load(Store opened) {
        Dataset loaded = opened.createDataset(
                DatasetSpec.named("Loaded").field("id", "int64").primaryKey("id"));
        try (BulkLoader loader = loaded.bulkLoad(5)) {
            for (long id = 0; id < 5; id++) {
                loader.add(loaded.newRecordWriter().write(Map.of("id", id)));
            }
            loader.finish();
        }
    }

    private void write(Dataset dataset, long from, int count, String user) {
        for (long id = from; id < from + count; id++) {
            attempted.put(id, user);
            dataset.upsert(Map.of("id", id, "user", user));
            acknowledged.put(id, user);
            attempted.remove(id);
        }
    }

    private void writeLarge(Dataset dataset) {
        attempted.put(LARGE_ID, "large");
        dataset.upsert(Map.of("id", LARGE_ID, "user", "large", "body", LARGE));
        acknowledged.put(LARGE_ID, "large");
        attempted.remove(LARGE_ID);
    }

    private static void search(Dataset dataset) {
        try (ReadView view = dataset.openView();
                IndexCursor cursor =
                        view.search(0, "by_user", KeyRange.all(), FilterPredicate.none())) {
            while (cursor.next()) {
                assertThat(cursor.secondaryKey()).isNotNull();
            }
        }
    }

    private void step(String name, Runnable call) {
        long begin = System.nanoTime();
        try {
            call.run();
        } catch (StorageException told) {
            if (String.valueOf(told.getMessage()).contains("failed: null")) {
                wrong.add("%s: %s".formatted(name, told));
            }
        } catch (Error | RuntimeException thrown) {
            if (!isInjected(thrown)) {
                wrong.add("%s: %s".formatted(name, thrown));
            }
        }
        long millis = (System.nanoTime() - begin) / 1_000_000;
        if (millis > MILLIS_MAX) {
            wrong.add("%s took %d ms".formatted(name, millis));
        }
    }

    private static boolean isInjected(Throwable thrown) {
        for (Throwable at = thrown; at != null; at = at.getCause()) {
            if ("injected".equals(at.getMessage())) {
                return true;
            }
        }
        return false;
    }

    /** What the sound disk holds afterwards. */
    void check(Disk disk) {
        try (Store reopened = opener.apply(disk)) {
            Dataset dataset = reopened.findDataset("T");
            acknowledged.forEach((id, user) -> {
                Map<String, ?> record = dataset == null ? null : dataset.get(id);
                Object found = record == null ? null : record.get("user");
                if (!user.equals(found) && !String.valueOf(attempted.get(id)).equals(found)) {
                    wrong.add("%d is %s and not %s".formatted(id, found, user));
                }
            });
            wrong.addAll(
                    reopened.verify().errors().stream().map(String::valueOf).toList());
        }
    }

    /** Runs in a thread that is given up on when it hangs. */
    void watched(Runnable run, String as) throws InterruptedException {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        run.run();
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                },
                "injected");
        thread.setDaemon(true);
        thread.start();
        thread.join(12 * MILLIS_MAX);
        if (thread.isAlive()) {
            StringBuilder stack = new StringBuilder();
            for (StackTraceElement element : thread.getStackTrace()) {
                stack.append("\n  at ").append(element);
            }
            throw new AssertionError("%s hangs%s".formatted(as, stack));
        }
        if (failure.get() != null) {
            throw new AssertionError(as, failure.get());
        }
        assertThat(wrong).as(as).isEmpty();
    }
}
