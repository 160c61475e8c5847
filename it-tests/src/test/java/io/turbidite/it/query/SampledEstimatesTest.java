package io.turbidite.it.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.scan.ReadView;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.FieldStatistics;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.expr.Predicate;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What queries over a store expect by the sample that its components keep. */
@SuppressWarnings("NullAway.Init") // JUnit sets the directory and calls fill() first
class SampledEstimatesTest {
    private static final int RECORDS = 60_000;

    @TempDir
    Path directory;

    private Store store;
    private Dataset dataset;

    @BeforeEach
    void fill() {
        store = Store.open(directory, StoreOptions.defaults());
        dataset = store.createDataset(DatasetSpec.named("Orders")
                .field("id", "int64")
                .field("state", "string")
                .field("city", "string")
                .field("price", "double")
                .field("note", "string?")
                .field("placed", "datetime")
                .primaryKey("id")
                .index(IndexSpec.btree("by_price", "price")));
        for (int i = 0; i < RECORDS; i++) {
            int city = i * 7919 % 100;
            dataset.upsert(Map.of(
                    "id",
                    (long) i,
                    "state",
                    i % 50 == 0 ? "open" : "done",
                    // a city lies in one state of its own: both together are no rarer
                    "city",
                    i % 50 == 0 ? "harbour" : "city" + city,
                    "price",
                    i * 31 % RECORDS / 100.0,
                    "note",
                    "n".repeat(100),
                    "placed",
                    second(i)));
        }
        dataset.flush();
    }

    @AfterEach
    void close() {
        store.close();
    }

    private long expected(Predicate... predicates) {
        Query query = Query.on(dataset);
        for (Predicate predicate : predicates) {
            query = query.where(predicate);
        }
        return query.explain().operators().stream()
                .filter(step -> step.name().equals("select"))
                .findFirst()
                .orElseThrow()
                .estimatedRows()
                .orElseThrow();
    }

    @Test
    void conditions_without_an_index_are_expected_as_often_as_they_are() {
        long open = RECORDS / 50;
        assertThat(expected(Predicates.eq("state", "open"))).isBetween(open / 2, open * 2);
        assertThat(expected(Predicates.eq("state", "done")))
                .isBetween(RECORDS * 9L / 10, (long) RECORDS);
        assertThat(expected(Predicates.eq("state", "open"), Predicates.eq("city", "harbour")))
                .as("fields that go together")
                .isBetween(open / 2, open * 2);
        assertThat(expected(Predicates.eq("state", "lost"))).isLessThan(open / 2);
        assertThat(expected(Predicates.eq("city", "city7"), Predicates.eq("state", "open")))
                .isLessThan(RECORDS / 200L);
    }

    private static Instant second(int number) {
        return Instant.ofEpochSecond(number);
    }

    /** 21 seconds with an order each: too few for a sample of some hundreds to see one of them. */
    @Test
    void of_two_ranges_on_one_field_the_narrower_bounds_count() {
        Predicate narrow = Predicates.range("placed", second(30_000), second(30_020));
        Predicate wide = Predicates.range("placed", second(0), second(40_000));
        assertThat(expected(narrow)).isBetween(5L, 80L);
        assertThat(expected(wide, narrow)).isEqualTo(expected(narrow));
        assertThat(expected(narrow, wide)).isEqualTo(expected(narrow));
    }

    /**
     * A scan gives ids in their order and ends at the tenth; an index has to find and sort all.
     * With guesses an open order is one of twenty, and so is one that is done.
     */
    @Test
    void with_a_limit_the_scan_or_the_index_is_taken_by_what_the_sample_says() {
        Query done = cheap("done");
        Query open = cheap("open");
        assertThat(done.explain().access()).isEqualTo("primary scan in key order");
        assertThat(open.explain().access()).contains("by_price");
        for (Query query : List.of(done, open)) {
            try (QueryResult result = query.run()) {
                assertThat(result.toList()).hasSize(10);
            }
        }
    }

    private Query cheap(String state) {
        return Query.on(dataset)
                .where(Predicates.eq("state", state))
                .where(Predicates.range("price", 0.0, 6.0))
                .orderBy("id")
                .limit(10);
    }

    @Test
    void fields_are_described() {
        try (ReadView view = dataset.openView()) {
            assertThat(FieldStatistics.records(view)).isEqualTo(RECORDS);
            Map<String, FieldStatistics> fields = new HashMap<>();
            FieldStatistics.of(view).forEach(field -> fields.put(field.field(), field));
            assertThat(fields.keySet())
                    .containsExactlyInAnyOrder("id", "state", "city", "price", "note", "placed");
            assertThat(field(fields, "id").distinct()).isBetween(RECORDS / 4L, (long) RECORDS);
            assertThat(field(fields, "state").distinct()).isEqualTo(2);
            assertThat(field(fields, "state").frequent().getFirst().value()).isEqualTo("done");
            assertThat(field(fields, "state").frequent().getFirst().share()).isBetween(0.9, 1.0);
            assertThat(field(fields, "city").distinct()).isBetween(80L, 130L);
            assertThat((Double) field(fields, "price").min()).isLessThan(100);
            assertThat((Double) field(fields, "price").max()).isGreaterThan(500);
            assertThat(field(fields, "note").absentShare()).isZero();
        }
    }

    private static FieldStatistics field(Map<String, FieldStatistics> fields, String name) {
        return Objects.requireNonNull(fields.get(name), name);
    }
}
