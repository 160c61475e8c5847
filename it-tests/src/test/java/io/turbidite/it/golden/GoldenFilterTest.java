package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.LogOptions;
import io.turbidite.core.type.Point;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.expr.Predicate;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * A store whose components have filters of the form before version 4: points ordered by x, then y,
 * and absent values that may stand for unknown ones. It is asked, written on and merged with
 * components of today. {@code -Dgolden.write=true} wrote the archive, by the release of then.
 */
class GoldenFilterTest {
    private static final String ARCHIVE = "golden/filters-v3.zip";
    private static final int KEYS = 200;

    /** What is in the store: of each key the number of the write that put it. */
    private final Map<Long, Integer> rows = new TreeMap<>();

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(256 << 10, 16, 256, 64 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(1 << 20)
                .withCacheBytes(1 << 20)
                .withLog(1 << 20, log);
    }

    @Test
    void filters_of_the_form_before_are_read_and_merged(@TempDir Path directory)
            throws IOException {
        if (Boolean.getBoolean("golden.write")) {
            write(directory.resolve("new"));
            GoldenStoreTest.zip(
                    directory.resolve("new"), Path.of("src/test/resources").resolve(ARCHIVE));
            rows.clear();
        }
        GoldenStoreTest.unzip(ARCHIVE, directory.resolve("store"));
        noteWrites();
        try (Store store = Store.openExisting(directory.resolve("store"), options())) {
            Dataset dataset = store.dataset("Golden");
            check(dataset);
            dataset.flush();
            for (long id = 0; id < KEYS; id += 7) {
                put(dataset, id, 4);
            }
            dataset.flush();
            check(dataset);
            dataset.mergeAll();
            check(dataset);
            assertThat(store.verify().errors()).isEmpty();
        }
        try (Store store = Store.openExisting(directory.resolve("store"), options())) {
            check(store.dataset("Golden"));
        }
    }

    private void write(Path directory) {
        try (Store store = Store.open(directory, options())) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Golden")
                    .field("id", "int64")
                    .field("at", "datetime")
                    .field("place", "point?")
                    .field("n", "int32?")
                    .primaryKey("id")
                    .filter("at", "place", "n")
                    .mergePolicy(MergePolicySpec.parse("no-merge"))
                    .index(IndexSpec.rtree("by_place", "place"))
                    .index(IndexSpec.btree("by_n", "n")));
            writeAll(dataset);
        }
    }

    /** Two flushes and what is in the log alone. */
    private void writeAll(Dataset dataset) {
        for (long id = 0; id < KEYS; id++) {
            put(dataset, id, 1);
        }
        dataset.flush();
        for (long id = 0; id < KEYS; id += 3) {
            dataset.delete(id);
        }
        for (long id = 1; id < KEYS; id += 3) {
            put(dataset, id, 2);
        }
        dataset.flush();
        for (long id = 0; id < KEYS; id += 5) {
            put(dataset, id, 3);
        }
    }

    /** As {@link #writeAll} does. */
    private void noteWrites() {
        for (long id = 0; id < KEYS; id++) {
            int write = id % 3 == 1 ? 2 : 1;
            if (id % 3 != 0) {
                rows.put(id, write);
            }
            if (id % 5 == 0) {
                rows.put(id, 3);
            }
        }
    }

    private void put(Dataset dataset, long id, int write) {
        Map<String, Object> row = new HashMap<>(Map.of("id", id));
        row.put("at", Instant.parse("2013-07-0%dT00:00:00Z".formatted(write)));
        if (!isAbsent(id)) {
            row.put("place", new Point(x(id), y(write)));
            row.put("n", write * 10);
        }
        dataset.upsert(row);
        rows.put(id, write);
    }

    private static boolean isAbsent(long id) {
        return id % 4 == 0;
    }

    private static double x(long id) {
        return id / 2.0;
    }

    private static double y(int write) {
        return 10 * write;
    }

    private void check(Dataset dataset) {
        for (int write = 1; write <= 4; write++) {
            int put = write;
            assertThat(count(dataset, Predicates.within("place", 0, y(put) - 1, 50, y(put) + 1)))
                    .as("y of write %d", put)
                    .isEqualTo(rows.entrySet().stream()
                            .filter(row -> row.getValue() == put
                                    && !isAbsent(row.getKey())
                                    && x(row.getKey()) <= 50)
                            .count());
            assertThat(count(dataset, Predicates.eq("n", 10 * put)))
                    .as("n of write %d", put)
                    .isEqualTo(rows.entrySet().stream()
                            .filter(row -> row.getValue() == put && !isAbsent(row.getKey()))
                            .count());
        }
        assertThat(count(dataset, Predicates.within("place", -9, -9, 999, 5))).isZero();
        long absent = rows.keySet().stream().filter(GoldenFilterTest::isAbsent).count();
        assertThat(count(dataset, Predicates.eq("n", null))).isEqualTo(absent);
        assertThat(count(dataset, Predicates.eq("place", null))).isEqualTo(absent);
    }

    /** By the scan and by the planner's choice, which must agree. */
    private static long count(Dataset dataset, Predicate predicate) {
        try (QueryResult chosen = Query.on(dataset).where(predicate).count().run();
                QueryResult scan =
                        Query.on(dataset).where(predicate).count().usingScan().run()) {
            long count = chosen.count();
            assertThat(scan.count()).isEqualTo(count);
            return count;
        }
    }
}
