package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

class QueryTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("departure", "datetime")
            .field("carrier", "string")
            .field("tail", "string?")
            .field("delay", "double?")
            .field("name", "string?")
            .field("place", "point?")
            .field("area", "rectangle?")
            .build();

    private final MemorySource flights = new MemorySource(
            TYPE,
            List.of("id"),
            List.of("departure"),
            List.of(
                    new IndexDescription(
                            "by_tail", IndexDescription.Kind.BTREE, List.of("tail"), true),
                    new IndexDescription(
                            "by_carrier",
                            IndexDescription.Kind.BTREE,
                            List.of("carrier", "delay"),
                            false)),
            3);

    @AfterEach
    void nothing_is_left_open() {
        assertThat(flights.openCount).hasValue(0);
    }

    private static Map<String, @Nullable Object> flight(long id, Object... fields) {
        Map<String, @Nullable Object> flight = new LinkedHashMap<>();
        flight.put("id", id);
        flight.put("departure", Instant.ofEpochSecond(id * 3_600));
        flight.put("carrier", "UA");
        for (int i = 0; i < fields.length; i += 2) {
            flight.put((String) fields[i], fields[i + 1]);
        }
        return flight;
    }

    private Query query() {
        return Query.on((Source) flights);
    }

    private List<Object> ids(Query query) {
        List<Object> ids = new ArrayList<>();
        try (QueryResult result = query.orderBy("id").run()) {
            while (result.next()) {
                ids.add(result.row().getLong(0));
            }
        }
        return ids;
    }

    private String json(Query query) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (QueryResult result = query.run()) {
            result.forEachJson(out);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private void manyFlights(int count) {
        for (int i = 0; i < count; i++) {
            flights.upsert(flight(i, "tail", "N" + i % 10, "delay", i % 7 - 3.0));
        }
    }

    // ---- predicates
    // -------------------------------------------------------------------------------

    @Test
    void null_alone_matches_null_and_missing_and_no_range_does() {
        Map<String, @Nullable Object> withNull = flight(1);
        withNull.put("tail", null);
        flights.upsert(withNull).upsert(flight(2)).upsert(flight(3, "tail", ""));
        for (String access : List.of("*scan*", "by_tail")) {
            assertThat(ids(query().where(Predicates.eq("tail", null)).usingIndex(access)))
                    .containsExactly(1L, 2L);
            assertThat(ids(query().where(Predicates.parseEq("tail=null")).usingIndex(access)))
                    .containsExactly(1L, 2L);
            assertThat(ids(query().where(Predicates.parseRange("tail=..")).usingIndex(access)))
                    .containsExactly(3L);
        }
    }

    @Test
    void both_ends_of_a_range_are_in_it_and_either_may_be_empty() {
        manyFlights(9);
        assertThat(ids(query().where(Predicates.parseRange("id=3..5"))))
                .containsExactly(3L, 4L, 5L);
        assertThat(ids(query().where(Predicates.parseRange("id=..1")))).containsExactly(0L, 1L);
        assertThat(ids(query().where(Predicates.parseRange("id=7..")))).containsExactly(7L, 8L);
        assertThat(ids(query().where(Predicates.range("id", 5, 3)))).isEmpty();
        assertThat(ids(query().where(Predicates.parseRange(
                        "departure=1970-01-01T02:00:00Z..1970-01-01T05:00:00+02:00"))))
                .containsExactly(2L, 3L);
    }

    @Test
    void a_range_splits_at_the_first_two_dots() {
        flights.upsert(flight(1, "tail", "a..b"));
        assertThat(ids(query().where(Predicates.parseRange("tail=a..a..b")))).containsExactly(1L);
        assertThat(ids(query().where(Predicates.parseEq("tail=a..b")))).containsExactly(1L);
    }

    @Test
    void a_value_may_have_an_equals_sign_or_look_like_an_option() {
        flights.upsert(flight(1, "tail", "--x=y")).upsert(flight(2, "delay", -5.5));
        assertThat(ids(query().where(Predicates.parseEq("tail=--x=y")))).containsExactly(1L);
        assertThat(ids(query().where(Predicates.parseEq("delay=-5.5")))).containsExactly(2L);
    }

    @Test
    void the_two_zeros_are_one_number() {
        flights.upsert(flight(1, "delay", 0.0)).upsert(flight(2, "delay", -0.0));
        assertThat(ids(query().where(Predicates.eq("delay", 0.0)))).containsExactly(1L, 2L);
        assertThat(ids(query().where(Predicates.range("delay", 0.0, null))))
                .containsExactly(1L, 2L);
        assertThat(ids(query().where(Predicates.eq("carrier", "UA"))
                        .where(Predicates.range("delay", null, -0.0))
                        .usingIndex("by_carrier")))
                .containsExactly(1L, 2L);
    }

    @Test
    void strings_compare_by_their_utf8_bytes() {
        String inBasicPlane = "\uFFFD";
        String beyond = "\uD83D\uDE00";
        flights.upsert(flight(1, "tail", inBasicPlane)).upsert(flight(2, "tail", beyond));
        assertThat(inBasicPlane).isGreaterThan(beyond);
        assertThat(ids(query().where(Predicates.range("tail", inBasicPlane, null))))
                .containsExactly(1L, 2L);
    }

    @Test
    void a_window_takes_points_inside_and_rectangles_that_meet_it_borders_included() {
        flights.upsert(flight(1, "place", new Point(1, 1)))
                .upsert(flight(2, "place", new Point(1, 2.5)))
                .upsert(flight(3, "area", new Rectangle(2, 2, 5, 5)))
                .upsert(flight(4, "area", new Rectangle(2.1, 0, 3, 1)));
        assertThat(ids(query().where(Predicates.parseWithin("place=1,0,2,2")))).containsExactly(1L);
        assertThat(ids(query().where(Predicates.within("area", 0, 0, 2, 2)))).containsExactly(3L);
    }

    @Test
    void contains_takes_all_words_in_any_order_and_case() {
        flights.upsert(flight(1, "name", "Chicago-O'Hare International"))
                .upsert(flight(2, "name", "ZÜRICH International"))
                .upsert(flight(3, "name", "Internationale"));
        assertThat(ids(query().where(Predicates.parseContains("name=international chicago"))))
                .containsExactly(1L);
        assertThat(ids(query().where(Predicates.contains("name", "O'Hare")))).containsExactly(1L);
        assertThat(ids(query().where(Predicates.contains("name", "zürich")))).containsExactly(2L);
        assertThat(ids(query().where(Predicates.contains("name", "intern")))).isEmpty();
    }

    // ---- rows -----------------------------------------------------------------------------------

    @Test
    void rows_are_json_objects_with_all_fields_or_the_selected_ones_in_order() {
        flights.upsert(flight(
                1,
                "place",
                new Point(2, 3.5),
                "remark",
                "kept",
                "area",
                new Rectangle(0, 0, 1, 1)));
        assertThat(json(query())).isEqualTo("""
                        {"id":1,"departure":"1970-01-01T01:00:00Z","carrier":"UA","place":[2.0,3.5],\
                        "area":[0.0,0.0,1.0,1.0],"remark":"kept"}
                        """);
        assertThat(json(query().select("place", "tail", "id")))
                .isEqualTo("{\"place\":[2.0,3.5],\"id\":1}\n");
    }

    @Test
    void null_stays_null_and_missing_stays_missing() {
        Map<String, @Nullable Object> withNull = flight(1);
        withNull.put("tail", null);
        flights.upsert(withNull);
        assertThat(json(query().select("tail", "delay"))).isEqualTo("{\"tail\":null}\n");
    }

    @Test
    void a_count_is_one_row() {
        manyFlights(30);
        assertThat(json(query().count())).isEqualTo("{\"count\":30}\n");
        assertThat(json(query().where(Predicates.eq("id", 99)).count()))
                .isEqualTo("{\"count\":0}\n");
        assertThat(json(query().where(Predicates.eq("tail", "N1")).count()))
                .isEqualTo("{\"count\":3}\n");
        assertThat(json(query().count().limit(0))).isEmpty();
    }

    @Test
    void groups_come_by_value_with_null_first_and_count_it_as_null() {
        flights.upsert(flight(1, "tail", "b")).upsert(flight(2)).upsert(flight(3, "tail", "a"));
        flights.upsert(flight(4, "tail", "b"));
        String expected = """
                {"tail":null,"count":1}
                {"tail":"a","count":1}
                {"tail":"b","count":2}
                """;
        assertThat(json(query().groupBy("tail"))).isEqualTo(expected);
        assertThat(json(query().groupBy("tail").count().usingScan())).isEqualTo(expected);
        assertThat(json(query().groupBy("tail").orderBy("count:desc").limit(1)))
                .isEqualTo("{\"tail\":\"b\",\"count\":2}\n");
    }

    @Test
    void cells_start_at_the_window_or_at_zero() {
        flights.upsert(flight(1, "place", new Point(0.5, 0.5)))
                .upsert(flight(2, "place", new Point(-0.5, 1)))
                .upsert(flight(3, "place", new Point(0, 0)))
                .upsert(flight(4));
        assertThat(json(query().groupByCell("place=1,1"))).isEqualTo("""
                        {"cell":null,"count":1}
                        {"cell":[-1.0,1.0,0.0,2.0],"count":1}
                        {"cell":[0.0,0.0,1.0,1.0],"count":2}
                        """);
        assertThat(json(query().where(Predicates.within("place", -0.75, 0, 1, 1))
                        .groupByCell("place", 1, 1)))
                .isEqualTo("""
                        {"cell":[-0.75,0.0,0.25,1.0],"count":1}
                        {"cell":[-0.75,1.0,0.25,2.0],"count":1}
                        {"cell":[0.25,0.0,1.25,1.0],"count":1}
                        """);
    }

    @Test
    void order_puts_null_first_or_last_and_breaks_ties_by_primary_key() {
        flights.upsert(flight(4, "delay", 2))
                .upsert(flight(3, "delay", 2))
                .upsert(flight(2))
                .upsert(flight(1, "delay", Double.NaN));
        assertThat(json(query().select("id").orderBy("delay")))
                .isEqualTo("{\"id\":2}\n{\"id\":3}\n{\"id\":4}\n{\"id\":1}\n");
        assertThat(json(query().select("id").orderBy("delay:desc").limit(3)))
                .isEqualTo("{\"id\":1}\n{\"id\":3}\n{\"id\":4}\n");
    }

    @Test
    void strings_longer_than_any_key_are_ordered_grouped_and_compared() {
        String lower = "x".repeat(5_000) + "a";
        String higher = "x".repeat(5_000) + "b";
        flights.upsert(flight(1, "name", higher)).upsert(flight(2, "name", lower));
        assertThat(json(query().select("id").orderBy("name")))
                .isEqualTo("{\"id\":2}\n{\"id\":1}\n");
        assertThat(query().groupBy("name").run().toList()).hasSize(2);
        assertThat(ids(query().where(Predicates.eq("name", higher)))).containsExactly(1L);
        assertThat(ids(query().where(Predicates.eq("tail", higher)).usingIndex("by_tail")))
                .isEmpty();
    }

    // ---- ways in
    // ------------------------------------------------------------------------------------

    private static OptionalLong actual(Explanation explanation, String operator) {
        return explanation.operators().stream()
                .filter(step -> step.name().equals(operator))
                .findFirst()
                .orElseThrow()
                .actualRows();
    }

    private static Explanation explanationOf(Query query) {
        try (QueryResult result = query.run()) {
            result.count();
            return result.explain();
        }
    }

    @Test
    void the_whole_primary_key_is_a_get() {
        manyFlights(100);
        flights.moveCount.set(0);
        Explanation explanation = explanationOf(query().where(Predicates.eq("id", 17)));
        assertThat(explanation.access()).isEqualTo("get by primary key");
        assertThat(flights.moveCount).hasValue(1);
    }

    @Test
    void a_range_of_the_filter_field_skips_components() {
        manyFlights(480);
        Explanation explanation = explanationOf(query().where(Predicates.range(
                "departure", Instant.ofEpochSecond(0), Instant.ofEpochSecond(9 * 3_600))));
        assertThat(explanation.access()).isEqualTo("primary scan with filter");
        assertThat(actual(explanation, "scan").orElseThrow())
                .isLessThan(2 * MemorySource.COMPONENT_RECORDS);
        assertThat(actual(explanation, "select")).hasValue(10);
    }

    @Test
    void few_entries_of_an_index_are_fetched_and_many_are_not() {
        manyFlights(480);
        assertThat(explanationOf(query().where(Predicates.eq("tail", "N3"))).access())
                .isEqualTo("index by_tail, then fetch");
        assertThat(explanationOf(query().where(Predicates.range("tail", "N0", "N8")))
                        .access())
                .isEqualTo("primary scan");
    }

    @Test
    void a_count_that_an_index_covers_reads_no_record() {
        manyFlights(100);
        Explanation explanation = explanationOf(query().where(Predicates.eq("tail", "N3"))
                .where(Predicates.range("id", 0, 50))
                .count());
        assertThat(explanation.access()).isEqualTo("index by_tail only");
        assertThat(actual(explanation, "search")).hasValue(10);
        assertThat(actual(explanation, "select")).hasValue(5);
        assertThat(explanationOf(query().where(Predicates.eq("carrier", "UA")).count())
                        .access())
                .as("its entries may be out of date")
                .isEqualTo("primary scan");
    }

    @Test
    void entries_that_are_out_of_date_give_each_record_once_and_as_it_is() {
        for (int i = 0; i < 3_000; i++) {
            flights.upsert(flight(i % 1_000, "carrier", "C" + (i + i / 1_000) % 10));
        }
        flights.delete(999L);
        Query query = query().where(Predicates.range("carrier", "C0", "C9"))
                .usingIndex("by_carrier")
                .with(RunOptions.defaults().withKeyBatchBytes(4 << 10));
        Explanation explanation = explanationOf(query);
        assertThat(actual(explanation, "search")).hasValue(3_000);
        assertThat(actual(explanation, "re-check")).hasValue(999);
    }

    @Test
    void a_limit_without_order_stops_early() {
        manyFlights(2_000);
        flights.moveCount.set(0);
        assertThat(query().limit(5).run().count()).isEqualTo(5);
        assertThat(flights.moveCount.get()).isLessThan(20);
        assertThat(query().where(Predicates.eq("tail", "N1"))
                        .usingIndex("by_tail")
                        .limit(2)
                        .run()
                        .count())
                .isEqualTo(2);
        assertThat(flights.moveCount.get()).isLessThan(600);
    }

    @Test
    void the_primary_keys_order_needs_no_sort_and_stops_early() {
        manyFlights(2_000);
        flights.moveCount.set(0);
        Explanation explanation = explanationOf(
                query().orderBy("id").where(Predicates.range("id", 50, null)).limit(3));
        assertThat(explanation.access()).isEqualTo("primary range scan in key order");
        assertThat(explanation.operators()).extracting("name").doesNotContain("top");
        assertThat(flights.moveCount.get()).isLessThan(20);
    }

    @Test
    void the_last_records_by_primary_key_are_read_from_the_end() {
        manyFlights(2_000);
        flights.moveCount.set(0);
        Query last = query().select("id")
                .orderBy("id:desc")
                .where(Predicates.range("id", null, 1_500))
                .limit(3);
        assertThat(explanationOf(last).access())
                .isEqualTo("primary range scan in descending key order");
        assertThat(flights.moveCount.get()).isLessThan(20);
        assertThat(json(last)).isEqualTo("{\"id\":1500}\n{\"id\":1499}\n{\"id\":1498}\n");
    }

    @Test
    void predicates_that_contradict_each_other_read_nothing() {
        manyFlights(100);
        flights.moveCount.set(0);
        Query query = query().where(Predicates.eq("tail", "N1"))
                .where(Predicates.range("tail", "N2", null));
        assertThat(explanationOf(query).access())
                .isEqualTo("nothing: the predicates leave no value");
        assertThat(flights.moveCount).hasValue(0);
    }

    @Test
    void partitions_are_read_by_workers_where_there_are_some() {
        manyFlights(900);
        try (ThreadTasks tasks = ThreadTasks.create("query-test")) {
            RunOptions options = RunOptions.defaults().withTasks(tasks);
            assertThat(query().with(options).usingScan().groupBy("tail").run().toList())
                    .hasSize(10)
                    .allSatisfy(row -> assertThat(row).containsEntry("count", 90L));
            assertThat(query().with(options).orderBy("delay").limit(7).run().count())
                    .isEqualTo(7);
            flights.failAfterMoves = flights.moveCount.get() + 450;
            assertThatThrownBy(
                            () -> query().with(options).groupBy("carrier").run().count())
                    .isInstanceOf(CorruptionException.class);
        }
    }

    // ---- explain
    // ----------------------------------------------------------------------------------

    @Test
    void explain_tells_access_operators_rows_and_what_else_was_considered() {
        manyFlights(480);
        Query query = query().where(Predicates.eq("tail", "N3"))
                .where(Predicates.range("id", 100, null))
                .select("id")
                .orderBy("delay:desc")
                .limit(4);
        assertThat(query.explain().operators())
                .allSatisfy(step -> assertThat(step.actualRows()).isEmpty());
        Explanation explanation = explanationOf(query.usingIndex("by_tail"));
        assertThat(explanation.operators())
                .extracting(step -> step.name() + " " + step.actualRows().orElse(-1))
                .containsExactly(
                        "top 4",
                        "project 38",
                        "re-check 38",
                        "fetch 48",
                        "sort-distinct 48",
                        "search 48");
        assertThat(explanation.toString())
                .startsWith("Memory: index by_tail, then fetch")
                .contains("tail = \"N3\" and id in 100..")
                .contains("4 by delay desc")
                .contains("→ index by_tail, then fetch")
                .contains("primary range scan");
        assertThat(explanation.toMap())
                .containsKeys("dataset", "access", "operators", "considered");
    }

    // ---- bad input
    // ----------------------------------------------------------------------------------

    private void assertRefused(Query query, String... parts) {
        assertThatThrownBy(query::run)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll(parts);
        assertThatThrownBy(query::explain).isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void unknown_fields_are_refused_by_name_wherever_they_are() {
        assertRefused(query().where(Predicates.eq("tali", 1)), "'tali'", "predicate", "carrier");
        assertRefused(query().select("id", "nope"), "select", "'nope'");
        assertRefused(query().groupBy("nope"), "group", "'nope'");
        assertRefused(query().groupByCell("nope", 1, 1), "group-cell", "'nope'");
        assertRefused(query().orderBy("nope"), "order", "'nope'");
        assertRefused(query().groupBy("tail").orderBy("id"), "order", "'id'", "tail or count");
        assertRefused(query().usingIndex("nope"), "no index 'nope'", "by_tail");
        assertRefused(query().usingIndex("by_tail"), "'by_tail'", "no equality or range");
    }

    @Test
    void values_of_the_wrong_type_are_refused() {
        assertRefused(query().where(Predicates.eq("id", "17")), "id = \"17\"", "int64");
        assertRefused(query().where(Predicates.parseEq("id=x")), "id = x", "int64");
        assertRefused(query().where(Predicates.parseRange("departure=yesterday..")), "datetime");
        assertRefused(query().where(Predicates.range("delay", "a", null)), "double");
        assertRefused(query().where(Predicates.within("id", 0, 0, 1, 1)), "neither point");
        assertRefused(query().where(Predicates.contains("id", "x")), "not string");
        assertRefused(query().where(Predicates.contains("name", " - ")), "no word");
        assertRefused(query().groupByCell("id", 1, 1), "not point");
    }

    @Test
    void parts_that_do_not_go_together_are_refused() {
        assertRefused(query().select("id").count(), "leave one out");
        assertRefused(query().select("id").groupBy("tail"), "leave one out");
        assertRefused(query().groupBy("tail").groupByCell("place", 1, 1), "not by both");
        assertRefused(query().count().orderBy("id"), "nothing to order");
        assertRefused(query().select("id", "id"), "twice");
    }

    @Test
    void text_that_is_no_predicate_is_refused_with_its_shape() {
        for (String text : List.of("tail", "=x", "")) {
            assertThatThrownBy(() -> Predicates.parseEq(text)).hasMessageContaining("f=value");
        }
        assertThatThrownBy(() -> Predicates.parseRange("id=3")).hasMessageContaining("'..'");
        assertThatThrownBy(() -> Predicates.parseWithin("place=1,2,3"))
                .hasMessageContaining("3 numbers, not 4");
        assertThatThrownBy(() -> Predicates.parseWithin("place=1,2,3,x"))
                .hasMessageContaining("minX");
        assertThatThrownBy(() -> Predicates.within("place", 2, 0, 1, 1))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> query().groupByCell("place=0,1")).hasMessageContaining("above 0");
        assertThatThrownBy(() -> query().groupByCell("place", 1, Double.NaN))
                .hasMessageContaining("above 0");
        assertThatThrownBy(() -> query().limit(-1)).hasMessageContaining("below 0");
    }

    @Test
    void cells_that_are_too_small_for_a_coordinate_are_refused() {
        flights.upsert(flight(1, "place", new Point(1e300, 0)));
        assertThatThrownBy(() -> query().groupByCell("place", 1e-3, 1).run().count())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("too small");
    }

    // ---- results
    // ----------------------------------------------------------------------------------

    @Test
    void a_closed_result_can_not_be_read_but_explained() {
        manyFlights(10);
        QueryResult result = query().run();
        assertThatThrownBy(result::row).hasMessageContaining("next()");
        assertThat(result.next()).isTrue();
        result.close();
        result.close();
        assertThatThrownBy(result::next).isInstanceOf(ClosedException.class);
        assertThatThrownBy(result::row).isInstanceOf(ClosedException.class);
        assertThat(result.explain().access()).isEqualTo("primary scan");
        assertThat(result.rowType()).isEqualTo(TYPE);
    }

    @Test
    void a_result_that_was_read_to_its_end_holds_nothing() {
        manyFlights(10);
        QueryResult result = query().run();
        assertThat(result).hasSize(10);
        assertThat(flights.openCount).hasValue(0);
        assertThat(result.next()).isFalse();
    }

    @Test
    void a_failing_cursor_fails_the_query_and_closes_everything() {
        manyFlights(300);
        List<Query> queries = List.of(
                query(),
                query().orderBy("delay"),
                query().orderBy("id"),
                query().groupBy("carrier"),
                query().count(),
                query().where(Predicates.eq("tail", "N1")).usingIndex("by_tail"),
                query().groupBy("tail").where(Predicates.range("tail", "A", null)));
        for (Query query : queries) {
            flights.failAfterMoves = flights.moveCount.get() + 8;
            QueryResult result = query.run();
            assertThatThrownBy(result::count).isInstanceOf(CorruptionException.class);
            assertThat(flights.openCount).hasValue(0);
            assertThat(result.next()).isFalse();
            result.close();
        }
    }

    @Test
    void a_view_of_the_caller_stays_open_and_answers_twice() {
        manyFlights(10);
        try (ReadView view = flights.openView()) {
            assertThat(Query.on(view).count().run().count()).isEqualTo(10);
            assertThat(Query.on(view).orderBy("id").limit(2).run().toList()).hasSize(2);
            assertThat(Query.on(view).explain().dataset()).isEqualTo("Memory");
        }
    }

    @Test
    void a_failing_stream_is_reported_and_the_result_can_be_closed() {
        manyFlights(10);
        OutputStream broken = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("broken pipe");
            }
        };
        try (QueryResult result = query().run()) {
            assertThatThrownBy(() -> result.forEachJson(broken))
                    .isInstanceOf(UncheckedIOException.class);
        }
    }

    @Test
    void predicates_print_as_they_are_meant() {
        assertThat(Predicates.eq("a", "x")).hasToString("a = \"x\"");
        assertThat(Predicates.eq("a", null)).hasToString("a = null");
        assertThat(Predicates.parseRange("a=1..")).hasToString("a in 1..");
        assertThat(Predicates.within("a", 0, 0, 1, 2)).hasToString("a within 0.0,0.0,1.0,2.0");
    }
}
