package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/** The first few rows of an order are read where a B+-tree has them, and not much else is. */
class IndexOrderTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("at", "int64?")
            .field("kind", "int32?")
            .field("tags", "[string]?")
            .field("note", "string?")
            .build();

    private static final int RECORDS = 1_000;
    private static final String UP = " in key order, then fetch";
    private static final String DOWN = " in descending key order, then fetch";

    private final MemorySource source = source(true);

    @AfterEach
    void nothing_is_left_open() {
        assertThat(source.openCount).hasValue(0);
    }

    private static MemorySource source(boolean alwaysValid) {
        return new MemorySource(
                TYPE,
                List.of("id"),
                List.of(),
                List.of(
                        btree("by_at", alwaysValid, "at"),
                        btree("by_kind", alwaysValid, "kind", "at"),
                        new IndexDescription(
                                "by_tags",
                                IndexDescription.Kind.BTREE,
                                List.of("tags[]"),
                                alwaysValid,
                                KeyForm.CURRENT,
                                true,
                                Map.of())),
                3);
    }

    private static IndexDescription btree(String name, boolean alwaysValid, String... fields) {
        return new IndexDescription(
                name, IndexDescription.Kind.BTREE, List.of(fields), alwaysValid);
    }

    /** Of each hundred records one has no time; of the others each has its own. */
    private static void fill(MemorySource to) {
        for (int i = 0; i < RECORDS; i++) {
            to.upsert(record(i, i % 100 == 0 ? null : (i * 7_919L) % RECORDS, i % 3));
        }
    }

    private static Map<String, @Nullable Object> record(long id, @Nullable Object at, int kind) {
        Map<String, @Nullable Object> record = new HashMap<>();
        record.put("id", id);
        record.put("at", at);
        record.put("kind", kind);
        record.put("tags", List.of("a", "b"));
        record.put("note", id % 2 == 0 ? "even" : "odd");
        return record;
    }

    private Query query() {
        return Query.on((Source) source);
    }

    /** The same rows as those of a scan that sorts, by this way in, with few moves of cursors. */
    private void check(Query asked, Query scanned, String access, int movesMax) {
        List<Map<String, @Nullable Object>> expected = scanned.usingScan().run().toList();
        asked.explain(); // how many values there are is known from now on
        source.moveCount.set(0);
        try (QueryResult result = asked.run()) {
            List<Map<String, @Nullable Object>> rows = result.toList();
            assertThat(source.moveCount.get()).isLessThanOrEqualTo(movesMax);
            assertThat(result.explain().access()).isEqualTo(access);
            assertThat(rows).isEqualTo(expected);
        }
    }

    private interface Asking {
        Query ask(Query query);
    }

    private void check(Asking asking, String access, int movesMax) {
        check(asking.ask(query()), asking.ask(query()), access, movesMax);
    }

    @Test
    void the_last_few_are_read_backwards() {
        fill(source);
        check(query -> query.orderBy("at:desc").limit(10), "index by_at" + DOWN, 40);
        check(
                query -> query.orderBy("at:desc").orderBy("kind").limit(10),
                "index by_at" + DOWN,
                40);
        check(
                query -> query.orderBy("at:desc").orderBy("id:desc").limit(10),
                "index by_at" + DOWN,
                40);
    }

    @Test
    void the_first_few_are_read_forwards_and_nulls_come_first() {
        fill(source);
        check(query -> query.orderBy("at").limit(10), "index by_at" + UP, 40);
        check(query -> query.orderBy("at").limit(40), "index by_at" + UP, 100);
        check(query -> query.orderBy("at").orderBy("id").limit(40), "index by_at" + UP, 100);
    }

    @Test
    void a_range_says_where_it_begins() {
        fill(source);
        check(
                query -> query.where(Predicates.range("at", null, 500L))
                        .orderBy("at:desc")
                        .limit(5),
                "index by_at" + DOWN,
                40);
        check(
                query -> query.where(Predicates.range("at", 7L, null))
                        .orderBy("at")
                        .limit(5),
                "index by_at" + UP,
                40);
    }

    @Test
    void behind_an_equality_the_next_field_has_the_order() {
        fill(source);
        Asking up = query -> query.where(Predicates.eq("kind", 3)).orderBy("at").limit(10);
        check(up, "index by_kind" + UP, 40);
        check(
                query -> query.where(Predicates.eq("kind", 3))
                        .orderBy("kind")
                        .orderBy("at:desc")
                        .limit(10),
                "index by_kind" + DOWN,
                40);
        check(
                query -> query.where(Predicates.eq("kind", 3))
                        .where(Predicates.eq("at", null))
                        .orderBy("id:desc")
                        .limit(2),
                "index by_kind" + DOWN,
                40);
    }

    @Test
    void what_does_not_match_is_passed_over() {
        fill(source);
        check(
                query -> query.where(Predicates.eq("note", "odd"))
                        .orderBy("at:desc")
                        .limit(10),
                "index by_at" + DOWN,
                200);
    }

    @Test
    void all_ties_are_read_where_they_come_in_another_order() {
        for (int i = 0; i < RECORDS; i++) {
            source.upsert(record(i, (long) (i / 4), i % 3));
        }
        check(query -> query.orderBy("at:desc").limit(2), "index by_at" + DOWN, 60);
        check(query -> query.orderBy("at").orderBy("kind:desc").limit(6), "index by_at" + UP, 60);
    }

    @Test
    void a_value_that_most_records_have_is_scanned_for() {
        fill(source);
        assertThat(query().orderBy("kind:desc").limit(3).explain().access())
                .as("a third of all has the highest")
                .isEqualTo("primary scan");
        assertThat(query().orderBy("kind").limit(3).explain().access())
                .as("among which some have no time, which the order does not ask for")
                .isEqualTo("primary scan");
        assertThat(query().orderBy("kind").orderBy("at").limit(3).explain().access())
                .isEqualTo("index by_kind" + UP);
    }

    @Test
    void absent_values_are_many_ties() {
        for (int i = 0; i < RECORDS; i++) {
            source.upsert(record(i, i % 2 == 0 ? null : (Object) (long) i, 0));
        }
        assertThat(query().orderBy("at").orderBy("kind").limit(3).explain().access())
                .isEqualTo("primary scan");
        assertThat(query().where(Predicates.range("at", 0L, null))
                        .orderBy("at")
                        .orderBy("kind")
                        .limit(3)
                        .explain()
                        .access())
                .isEqualTo("index by_at" + UP);
    }

    @Test
    void nulls_on_the_other_side_are_sorted() {
        fill(source);
        assertThat(query().orderBy("at", Order.ASC, Nulls.LAST)
                        .limit(3)
                        .explain()
                        .access())
                .isEqualTo("primary scan");
        assertThat(query().orderBy("at", Order.DESC, Nulls.FIRST)
                        .limit(3)
                        .explain()
                        .access())
                .isEqualTo("primary scan");
        assertThat(query().orderBy("at", Order.ASC, Nulls.LAST)
                        .where(Predicates.range("at", 0L, null))
                        .limit(3)
                        .explain()
                        .access())
                .isEqualTo("index by_at" + UP);
    }

    @Test
    void entries_of_the_past_give_no_row() {
        MemorySource lazy = source(false);
        fill(lazy);
        for (int i = 0; i < RECORDS; i += 2) {
            lazy.upsert(record(i, (i * 31L) % RECORDS, 1));
        }
        for (int i = 0; i < RECORDS; i += 7) {
            lazy.delete((long) i);
        }
        for (Asking asking : List.<Asking>of(
                query -> query.orderBy("at:desc").limit(60),
                query -> query.orderBy("at").limit(60),
                query -> query.where(Predicates.eq("kind", 1)).orderBy("at").limit(60))) {
            List<Map<String, @Nullable Object>> expected =
                    asking.ask(Query.on((Source) lazy)).usingScan().run().toList();
            try (QueryResult result = asking.ask(Query.on((Source) lazy)).run()) {
                assertThat(result.explain().access()).endsWith("key order, then fetch");
                assertThat(result.toList()).isEqualTo(expected);
            }
        }
        assertThat(lazy.openCount).hasValue(0);
    }

    @Test
    void the_elements_of_an_array_have_no_order_of_records() {
        fill(source);
        assertThatThrownBy(() -> query().orderBy("id:desc")
                        .limit(3)
                        .usingIndex("by_tags")
                        .explain())
                .hasMessageContaining("has no equality or range");
    }

    @Test
    void a_query_of_which_nothing_matches_can_be_stopped() {
        fill(source);
        AtomicBoolean stop = new AtomicBoolean();
        source.onMove = () -> stop.set(stop.get() || source.moveCount.get() > 200);
        Query none = query().where(Predicates.eq("note", "neither"))
                .orderBy("at")
                .limit(3)
                .usingIndex("by_at")
                .with(RunOptions.defaults().withStop(stop::get));
        source.moveCount.set(0);
        try (QueryResult result = none.run()) {
            assertThatThrownBy(result::next).isInstanceOf(CancellationException.class);
        }
        source.onMove = () -> {};
        assertThat(source.moveCount.get()).isLessThan(1_200);
    }

    @Test
    void an_explanation_says_what_was_read() {
        fill(source);
        try (QueryResult result = query().orderBy("at:desc").limit(10).run()) {
            result.count();
            assertThat(result.explain().operators())
                    .extracting(step -> step.name() + " " + step.actualRows().orElse(-1))
                    .containsExactly("top 10", "fetch 10", "sort-distinct 10", "search 13");
            assertThat(result.explain().toString())
                    .contains("by_at (btree) on at in descending key order");
        }
    }
}
