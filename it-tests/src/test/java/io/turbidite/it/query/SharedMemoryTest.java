package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.QueryMemoryException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Join;
import io.turbidite.ops.Order;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Window;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.window.WindowFunction;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Queries of one store share its memory for queries, and spill what it does not hold. */
class SharedMemoryTest {
    private static final long MIB = 1 << 20;

    /** Some 40 MiB of rows, five times what queries have together. */
    private static final int RECORDS = 40_000;

    private static final String TEXT = "x".repeat(1_000);

    @TempDir
    Path directory;

    private Store store;
    private Dataset rows;
    private QueryMemory memory;

    @BeforeEach
    void fill() {
        store = Store.open(
                directory,
                StoreOptions.defaults()
                        .withDurability(Durability.BUFFERED)
                        .withQueryMemoryBytes(8 * MIB));
        rows = store.createDataset(DatasetSpec.named("Rows")
                .field("id", "int64")
                .field("key", "int64")
                .field("text", "string")
                .primaryKey("id"));
        for (long id = 0; id < RECORDS; id++) {
            // half of the rows have one key
            rows.upsert(Map.of(
                    "id", id, "key", id % 2 == 0 ? 0 : id * 7919 % RECORDS, "text", TEXT + id));
        }
        QueryMeans means = rows.means();
        memory = means.memory();
    }

    @AfterEach
    void nothing_is_left() throws Exception {
        assertThat(memory.bytesUsed()).isZero();
        Path spill = directory.resolve("spill");
        if (Files.exists(spill)) {
            try (var files = Files.list(spill)) {
                assertThat(files).isEmpty();
            }
        }
        store.close();
    }

    @Test
    void eight_queries_at_once_stay_within_the_memory_and_answer_right() throws Exception {
        List<Callable<Long>> kinds = List.of(this::sorted, this::grouped, this::joined);
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Future<Long>> results = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                results.add(threads.submit(kinds.get(i % kinds.size())));
            }
            for (Future<Long> result : results) {
                assertThat(result.get()).isEqualTo(RECORDS);
            }
        }
        assertThat(memory.bytesPeak()).isBetween(4 * MIB, 8 * MIB);
    }

    @Test
    void rows_around_each_row_are_held_of_the_memory_and_given_back() {
        // some 3 MiB of rows; sorting them has ended what it held by then, or holds its least
        try (QueryResult result = Window.of(Query.on(rows).select("id", "text"))
                .orderBy("id", Order.ASC)
                .add(WindowFunction.lag("text", 3_000))
                .run()) {
            for (int i = 0; i < 3_500; i++) {
                assertThat(result.next()).isTrue();
            }
            assertThat(memory.bytesUsed()).isGreaterThan(3 * MIB);
        }
        assertThat(memory.bytesUsed()).isZero();
    }

    @Test
    void rows_around_each_row_that_queries_have_no_memory_for_are_refused() {
        try (QueryResult result = Window.of(Query.on(rows).select("id", "text"))
                .orderBy("id", Order.ASC)
                .add(WindowFunction.lag("text", 12_000))
                .run()) {
            assertThatThrownBy(result::count)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("12,001 rows around each row need more than")
                    .hasMessageContaining("close results: queries hold");
        }
        assertThat(memory.bytesPeak()).isLessThanOrEqualTo(8 * MIB);
    }

    @Test
    void a_long_row_that_comes_by_leaves_its_length_at_no_place() {
        for (long id = 0; id < 2_000; id++) {
            rows.upsert(
                    Map.of("id", id, "key", id, "text", id % 101 == 0 ? "y".repeat(1 << 20) : "y"));
        }
        try (QueryResult result = Window.of(Query.on(rows).select("id", "text"))
                .orderBy("id", Order.ASC)
                .add(WindowFunction.lag("id", 99))
                .with(RunOptions.defaults().withMemoryBytesMax(4 * MIB))
                .run()) {
            for (int i = 0; i < 2_000; i++) {
                assertThat(result.next()).isTrue();
            }
        }
    }

    /** All rows, in order; the number of them. */
    private long sorted() {
        long count = 0;
        long before = Long.MIN_VALUE;
        try (QueryResult result = Query.on(rows)
                .orderBy("text", Order.DESC)
                .orderBy("id", Order.ASC)
                .run()) {
            while (result.next()) {
                count++;
                before = Math.max(before, id(result));
            }
        }
        assertThat(before).isEqualTo(RECORDS - 1);
        return count;
    }

    /** As many groups as rows, of long keys; the number of rows in them. */
    private long grouped() {
        long count = 0;
        try (QueryResult result =
                Query.on(rows).groupBy("text").aggregate(Aggregate.count()).run()) {
            for (Map<String, ?> group : result) {
                count += (Long) Objects.requireNonNull(group.get("count"));
            }
        }
        return count;
    }

    /** Each row with itself. */
    private long joined() {
        long count = 0;
        try (QueryResult result = Join.inner(Query.on(rows), Query.on(rows).select("text"))
                .on("text")
                .run()) {
            while (result.next()) {
                count++;
            }
        }
        return count;
    }

    private static long id(QueryResult result) {
        return (Long) Objects.requireNonNull(result.map().get("id"));
    }

    @Test
    void queries_of_a_loop_over_rows_get_the_least_and_spill() {
        try (QueryResult outer = Query.on(rows).orderBy("text", Order.ASC).run()) {
            for (int i = 0; i < 3; i++) {
                assertThat(outer.next()).isTrue();
                assertThat(memory.bytesUsed()).isGreaterThan(0);
                assertThat(sorted()).isEqualTo(RECORDS);
            }
        }
    }

    @Test
    void more_open_results_than_there_is_memory_for_are_refused_and_it_says_who_holds_it() {
        List<QueryResult> open = new ArrayList<>();
        try {
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 10; i++) {
                            open.add(Query.on(rows)
                                    .select("id", "key")
                                    .orderBy("key", Order.ASC)
                                    .run());
                            assertThat(open.getLast().next()).isTrue();
                        }
                    })
                    .isInstanceOf(QueryMemoryException.class)
                    .hasMessageContaining("of 8MiB")
                    .hasMessageContaining(Thread.currentThread().getName());
            assertThat(open).hasSizeBetween(2, 9);
        } finally {
            open.forEach(QueryResult::close);
        }
        assertThat(sorted()).isEqualTo(RECORDS);
    }

    @Test
    void options_of_a_query_are_a_bound_of_its_own() {
        try (QueryResult result = Query.on(rows)
                .orderBy("text", Order.ASC)
                .with(RunOptions.defaults().withMemoryBytesMax(2 * MIB))
                .run()) {
            assertThat(result.next()).isTrue();
        }
        assertThat(memory.bytesPeak()).isLessThanOrEqualTo(3 * MIB);
    }
}
