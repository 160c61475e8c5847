package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * A store of the format in which all operations of a batch have one timestamp (log record 3,
 * manifest 15): batches in components, and in the log alone. The release of then wrote its archive.
 */
class GoldenBatchesTest {
    private static final String ARCHIVE = "golden/batches-v1.zip";
    private static final int KEYS = 240;
    private static final int BATCH = 12;

    /** Index-only queries of all users: readers of as many entries have asked for bits by then. */
    private static final int ROUNDS = 60;

    /** The write that each row is of. */
    private final Map<Long, Integer> rows = new TreeMap<>();

    private static StoreOptions options() {
        return StoreOptions.defaults().withWriteMemoryBytes(4 << 20).withCacheBytes(1 << 20);
    }

    private static void write(Path directory) {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Golden")
                    .field("id", "int64")
                    .field("user", "string")
                    .primaryKey("id")
                    .partitions(2)
                    .maintenance(Maintenance.VALIDATION)
                    .mergePolicy(MergePolicySpec.parse("no-merge"))
                    .index(IndexSpec.btree("by_user", "user")));
            put(store, dataset, 1, 1);
            dataset.flush();
            put(store, dataset, 3, 2);
            dataset.flush();
            put(store, dataset, 5, 3);
        }
    }

    /** Rewrites each n-th row in batches, and deletes the row behind it. */
    private static void put(Store store, Dataset dataset, int each, int write) {
        WriteBatch batch = store.newBatch();
        int count = 0;
        for (long id = 0; id < KEYS; id += each) {
            batch.upsert(
                    dataset,
                    dataset.newRecordWriter().write(Map.of("id", id, "user", user(id, write))));
            if (each > 1) {
                batch.delete(dataset, Slice.of(dataset.primaryKeySpec().encode(id + 1)));
            }
            if (++count % BATCH == 0) {
                store.write(batch);
                batch = store.newBatch();
            }
        }
        store.write(batch);
    }

    private void note(int each, int write) {
        for (long id = 0; id < KEYS; id += each) {
            rows.put(id, write);
            if (each > 1) {
                rows.remove(id + 1);
            }
        }
    }

    private static String user(long id, int write) {
        return "user " + id % 5 + " of " + write;
    }

    private void check(Dataset dataset) {
        rows.forEach(
                (id, write) -> assertThat(dataset.get(id)).containsEntry("user", user(id, write)));
        for (int write = 1; write <= 4; write++) {
            for (int user = 0; user < 5; user++) {
                String wanted = user(user, write);
                long expected = rows.entrySet().stream()
                        .filter(row -> user(row.getKey(), row.getValue()).equals(wanted))
                        .count();
                assertThat(count(dataset, wanted, true)).as(wanted).isEqualTo(expected);
                assertThat(count(dataset, wanted, false)).as(wanted).isEqualTo(expected);
            }
        }
    }

    private static long count(Dataset dataset, String user, boolean byIndex) {
        Query query = Query.on(dataset).where(Predicates.eq("user", user)).count();
        try (QueryResult result =
                (byIndex ? query.usingIndex("by_user") : query.usingScan()).run()) {
            return result.count();
        }
    }

    @Test
    void what_batches_wrote_is_read_beside_operations_with_timestamps_of_their_own(
            @TempDir Path directory) throws IOException {
        if (Boolean.getBoolean("golden.write")) {
            write(directory.resolve("new"));
            GoldenStoreTest.zip(
                    directory.resolve("new"), Path.of("src/test/resources").resolve(ARCHIVE));
        }
        note(1, 1);
        note(3, 2);
        note(5, 3);
        Path old = directory.resolve("old");
        GoldenStoreTest.unzip(ARCHIVE, old);
        try (Store store = Store.openExisting(old, options())) {
            check(store.dataset("Golden"));
        }
        try (Store store = Store.openExisting(old, options())) {
            Dataset dataset = store.dataset("Golden");
            // one component has operations of both kinds
            put(store, dataset, 7, 4);
            note(7, 4);
            check(dataset);
            dataset.flush();
            for (int round = 0; round < ROUNDS; round++) {
                check(dataset);
            }
            dataset.mergeAll();
            check(dataset);
            assertThat(store.verify().errors()).isEmpty();
        }
        try (Store store = Store.openExisting(old, options())) {
            check(store.dataset("Golden"));
        }
    }
}
