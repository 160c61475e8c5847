package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/** Rows that come out, what is refused, and results that are closed or fail. */
class QueryTest {
    private final MemorySource flights = Flights.source();

    @AfterEach
    void nothing_is_left_open() {
        assertThat(flights.openCount).hasValue(0);
    }

    private Query query() {
        return Query.on((Source) flights);
    }

    // ---- rows -----------------------------------------------------------------------------------

    @Test
    void rows_are_json_objects_with_all_fields_or_the_selected_ones_in_order() {
        flights.upsert(Flights.flight(
                1,
                "place",
                new Point(2, 3.5),
                "remark",
                "kept",
                "area",
                new Rectangle(0, 0, 1, 1)));
        assertThat(Flights.json(query())).isEqualTo("""
                        {"id":1,"departure":"1970-01-01T01:00:00Z","carrier":"UA","place":[2.0,3.5],\
                        "area":[0.0,0.0,1.0,1.0],"remark":"kept"}
                        """);
        assertThat(Flights.json(query().select("place", "tail", "id")))
                .isEqualTo("{\"place\":[2.0,3.5],\"id\":1}\n");
    }

    @Test
    void a_field_that_is_not_declared_comes_with_the_whole_record_alone_and_is_told_so() {
        flights.upsert(Flights.flight(1, "remark", "kept"));
        assertThat(Flights.json(query())).contains("\"remark\":\"kept\"");
        Map<String, Query> uses = Map.of(
                "select names", query().select("id", "remark"),
                "order names", query().orderBy("remark"),
                "group names", query().groupBy("remark"),
                "group-cell names", query().groupByCell("remark", 1, 1),
                "predicate remark = \"kept\" names",
                        query().where(Predicates.eq("remark", "kept")));
        uses.forEach((use, query) -> assertThatThrownBy(query::run)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "%s field 'remark', which is not declared. Only declared fields can be asked for, others are shown with whole records. Declared (dataset.type of the feed definition) are id, departure, carrier, tail, delay, name, place, area"
                                .formatted(use)));
    }

    @Test
    void null_stays_null_and_missing_stays_missing() {
        Map<String, @Nullable Object> withNull = Flights.flight(1);
        withNull.put("tail", null);
        flights.upsert(withNull);
        assertThat(Flights.json(query().select("tail", "delay"))).isEqualTo("{\"tail\":null}\n");
    }

    @Test
    void a_count_is_one_row() {
        Flights.many(flights, 30);
        assertThat(Flights.json(query().count())).isEqualTo("{\"count\":30}\n");
        assertThat(Flights.json(query().where(Predicates.eq("id", 99)).count()))
                .isEqualTo("{\"count\":0}\n");
        assertThat(Flights.json(query().where(Predicates.eq("tail", "N1")).count()))
                .isEqualTo("{\"count\":3}\n");
        assertThat(Flights.json(query().count().limit(0))).isEmpty();
    }

    @Test
    void groups_come_by_value_with_null_first_and_count_it_as_null() {
        flights.upsert(Flights.flight(1, "tail", "b"))
                .upsert(Flights.flight(2))
                .upsert(Flights.flight(3, "tail", "a"));
        flights.upsert(Flights.flight(4, "tail", "b"));
        String expected = """
                {"tail":null,"count":1}
                {"tail":"a","count":1}
                {"tail":"b","count":2}
                """;
        assertThat(Flights.json(query().groupBy("tail"))).isEqualTo(expected);
        assertThat(Flights.json(query().groupBy("tail").count().usingScan())).isEqualTo(expected);
        assertThat(Flights.json(query().groupBy("tail").orderBy("count:desc").limit(1)))
                .isEqualTo("{\"tail\":\"b\",\"count\":2}\n");
    }

    @Test
    void cells_start_at_the_window_or_at_zero() {
        flights.upsert(Flights.flight(1, "place", new Point(0.5, 0.5)))
                .upsert(Flights.flight(2, "place", new Point(-0.5, 1)))
                .upsert(Flights.flight(3, "place", new Point(0, 0)))
                .upsert(Flights.flight(4));
        assertThat(Flights.json(query().groupByCell("place=1,1"))).isEqualTo("""
                        {"cell":null,"count":1}
                        {"cell":[-1.0,1.0,0.0,2.0],"count":1}
                        {"cell":[0.0,0.0,1.0,1.0],"count":2}
                        """);
        assertThat(Flights.json(query().where(Predicates.within("place", -0.75, 0, 1, 1))
                        .groupByCell("place", 1, 1)))
                .isEqualTo("""
                        {"cell":[-0.75,0.0,0.25,1.0],"count":1}
                        {"cell":[-0.75,1.0,0.25,2.0],"count":1}
                        {"cell":[0.25,0.0,1.25,1.0],"count":1}
                        """);
    }

    @Test
    void order_puts_null_first_or_last_and_breaks_ties_by_primary_key() {
        flights.upsert(Flights.flight(4, "delay", 2))
                .upsert(Flights.flight(3, "delay", 2))
                .upsert(Flights.flight(2))
                .upsert(Flights.flight(1, "delay", Double.NaN));
        assertThat(Flights.json(query().select("id").orderBy("delay")))
                .isEqualTo("{\"id\":2}\n{\"id\":3}\n{\"id\":4}\n{\"id\":1}\n");
        assertThat(Flights.json(query().select("id").orderBy("delay:desc").limit(3)))
                .isEqualTo("{\"id\":1}\n{\"id\":3}\n{\"id\":4}\n");
    }

    @Test
    void strings_longer_than_any_key_are_ordered_grouped_and_compared() {
        String lower = "x".repeat(5_000) + "a";
        String higher = "x".repeat(5_000) + "b";
        flights.upsert(Flights.flight(1, "name", higher)).upsert(Flights.flight(2, "name", lower));
        assertThat(Flights.json(query().select("id").orderBy("name")))
                .isEqualTo("{\"id\":2}\n{\"id\":1}\n");
        assertThat(query().groupBy("name").run().toList()).hasSize(2);
        assertThat(Flights.ids(query().where(Predicates.eq("name", higher)))).containsExactly(1L);
        assertThat(Flights.ids(query().where(Predicates.eq("tail", higher)).usingIndex("by_tail")))
                .isEmpty();
    }

    // ---- bad input

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
        assertThatThrownBy(() -> Predicates.parseWithin("place=0,2,1,1"))
                .hasMessageContaining("within 'place=0,2,1,1': rectangle(0.0, 2.0, 1.0, 1.0)");
        assertThatThrownBy(() -> Predicates.parseDistance("place=0,0,0"))
                .hasMessageContaining("distance 'place=0,0,0': the distance 0.0 is not");
        assertThatThrownBy(() -> query().near("place=0,NaN"))
                .hasMessageContaining("near 'place=0,NaN': ");
        var turned = Predicates.within("place", 2, 0, 1, 1);
        assertThatThrownBy(() -> query().where(turned).run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("min at most max");
        assertThatThrownBy(() -> Predicates.within("place", 0, 2, 1, 1))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> query().groupByCell("place=0,1")).hasMessageContaining("above 0");
        assertThatThrownBy(() -> query().groupByCell("place", 1, Double.NaN))
                .hasMessageContaining("above 0");
        assertThatThrownBy(() -> query().limit(-1)).hasMessageContaining("below 0");
    }

    @Test
    void cells_that_are_too_small_for_a_coordinate_are_refused() {
        flights.upsert(Flights.flight(1, "place", new Point(1e300, 0)));
        assertThatThrownBy(() -> query().groupByCell("place", 1e-3, 1).run().count())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("too small");
    }

    // ---- results

    @Test
    void a_closed_result_can_not_be_read_but_explained() {
        Flights.many(flights, 10);
        QueryResult result = query().run();
        assertThatThrownBy(result::row).hasMessageContaining("next()");
        assertThat(result.next()).isTrue();
        result.close();
        result.close();
        assertThatThrownBy(result::next).isInstanceOf(ClosedException.class);
        assertThatThrownBy(result::row).isInstanceOf(ClosedException.class);
        assertThat(result.explain().access()).isEqualTo("primary scan");
        assertThat(result.rowType()).isEqualTo(Flights.TYPE);
    }

    @Test
    void a_result_that_was_read_to_its_end_holds_nothing() {
        Flights.many(flights, 10);
        QueryResult result = query().run();
        assertThat(result).hasSize(10);
        assertThat(flights.openCount).hasValue(0);
        assertThat(result.next()).isFalse();
    }

    @Test
    void a_failing_cursor_fails_the_query_and_closes_everything() {
        Flights.many(flights, 300);
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
        Flights.many(flights, 10);
        try (ReadView view = flights.openView()) {
            assertThat(Query.on(view).count().run().count()).isEqualTo(10);
            assertThat(Query.on(view).orderBy("id").limit(2).run().toList()).hasSize(2);
            assertThat(Query.on(view).explain().dataset()).isEqualTo("Memory");
        }
    }

    @Test
    void a_failing_stream_is_reported_and_the_result_can_be_closed() {
        Flights.many(flights, 10);
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
}
