package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

/** What predicates match, and how they are written. */
class QueryPredicatesTest {
    private final MemorySource flights = Flights.source();

    @AfterEach
    void nothing_is_left_open() {
        assertThat(flights.openCount).hasValue(0);
    }

    private Query query() {
        return Query.on((Source) flights);
    }

    @Test
    void null_alone_matches_null_and_missing_and_no_range_does() {
        Map<String, @Nullable Object> withNull = Flights.flight(1);
        withNull.put("tail", null);
        flights.upsert(withNull).upsert(Flights.flight(2)).upsert(Flights.flight(3, "tail", ""));
        for (String access : List.of("*scan*", "by_tail")) {
            assertThat(Flights.ids(query().where(Predicates.eq("tail", null)).usingIndex(access)))
                    .containsExactly(1L, 2L);
            assertThat(Flights.ids(
                            query().where(Predicates.parseEq("tail=null")).usingIndex(access)))
                    .containsExactly(1L, 2L);
            assertThat(Flights.ids(
                            query().where(Predicates.parseRange("tail=..")).usingIndex(access)))
                    .containsExactly(3L);
        }
    }

    @Test
    void both_ends_of_a_range_are_in_it_and_either_may_be_empty() {
        Flights.many(flights, 9);
        assertThat(Flights.ids(query().where(Predicates.parseRange("id=3..5"))))
                .containsExactly(3L, 4L, 5L);
        assertThat(Flights.ids(query().where(Predicates.parseRange("id=..1"))))
                .containsExactly(0L, 1L);
        assertThat(Flights.ids(query().where(Predicates.parseRange("id=7.."))))
                .containsExactly(7L, 8L);
        assertThat(Flights.ids(query().where(Predicates.range("id", 5, 3)))).isEmpty();
        assertThat(Flights.ids(query().where(Predicates.parseRange(
                        "departure=1970-01-01T02:00:00Z..1970-01-01T05:00:00+02:00"))))
                .containsExactly(2L, 3L);
    }

    @Test
    void strict_bounds_leave_out_their_ends() {
        Flights.many(flights, 9);
        List<Object> above = Flights.ids(query().where(Predicates.above("id", 5)));
        assertThat(above)
                .isEqualTo(Flights.ids(query().where(Predicates.range("id", 6, null))))
                .isEqualTo(Flights.ids(query().where(Predicates.parseAbove("id=5"))))
                .isNotEmpty();
        assertThat(Flights.ids(query().where(Predicates.below("id", 5))))
                .isEqualTo(Flights.ids(query().where(Predicates.range("id", null, 4))))
                .isEqualTo(Flights.ids(query().where(Predicates.parseBelow("id=5"))));
        assertThat(Flights.ids(
                        query().where(Predicates.above("id", 4)).where(Predicates.below("id", 5))))
                .isEmpty();
        assertThat(Flights.ids(query().where(Predicates.above("id", Long.MAX_VALUE))))
                .isEmpty();
        assertThat(Flights.ids(query().where(Predicates.above("tail", null))))
                .isEqualTo(Flights.ids(query().where(Predicates.range("tail", null, null))));
        assertThatThrownBy(() -> query().where(Predicates.parseAbove("id")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("above 'id' is not of the form f=value");
        assertThatThrownBy(() -> Flights.ids(query().where(Predicates.parseBelow("id=many"))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("predicate id < many");
    }

    @Test
    void strict_bounds_of_prepared_queries_get_their_values_when_they_run() {
        Flights.many(flights, 9);
        PreparedQuery between = query().where(Predicates.above("id", Predicates.parameter("low")))
                .where(Predicates.below("id", Predicates.parameter("high")))
                .count()
                .prepare();
        assertThat(between.parameters()).containsExactly("low", "high");
        try (QueryResult some = between.run(4, 7);
                QueryResult open = between.run(null, 7)) {
            assertThat(some.count()).isEqualTo(2);
            assertThat(open.count())
                    .isEqualTo(Flights.ids(query().where(Predicates.below("id", 7)))
                            .size());
        }
        assertThatThrownBy(() -> query().where(Predicates.above("id", Predicates.parameter("p")))
                        .run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("parameter 'p' has no value");
    }

    @Test
    void a_range_splits_at_the_first_two_dots() {
        flights.upsert(Flights.flight(1, "tail", "a..b"));
        assertThat(Flights.ids(query().where(Predicates.parseRange("tail=a..a..b"))))
                .containsExactly(1L);
        assertThat(Flights.ids(query().where(Predicates.parseEq("tail=a..b")))).containsExactly(1L);
    }

    @Test
    void a_value_may_have_an_equals_sign_or_look_like_an_option() {
        flights.upsert(Flights.flight(1, "tail", "--x=y")).upsert(Flights.flight(2, "delay", -5.5));
        assertThat(Flights.ids(query().where(Predicates.parseEq("tail=--x=y"))))
                .containsExactly(1L);
        assertThat(Flights.ids(query().where(Predicates.parseEq("delay=-5.5"))))
                .containsExactly(2L);
    }

    @Test
    void the_two_zeros_are_one_number() {
        flights.upsert(Flights.flight(1, "delay", 0.0)).upsert(Flights.flight(2, "delay", -0.0));
        assertThat(Flights.ids(query().where(Predicates.eq("delay", 0.0)))).containsExactly(1L, 2L);
        assertThat(Flights.ids(query().where(Predicates.range("delay", 0.0, null))))
                .containsExactly(1L, 2L);
        assertThat(Flights.ids(query().where(Predicates.eq("carrier", "UA"))
                        .where(Predicates.range("delay", null, -0.0))
                        .usingIndex("by_carrier")))
                .containsExactly(1L, 2L);
    }

    @Test
    void strings_compare_by_their_utf8_bytes() {
        String inBasicPlane = "\uFFFD";
        String beyond = "\uD83D\uDE00";
        flights.upsert(Flights.flight(1, "tail", inBasicPlane))
                .upsert(Flights.flight(2, "tail", beyond));
        assertThat(inBasicPlane).isGreaterThan(beyond);
        assertThat(Flights.ids(query().where(Predicates.range("tail", inBasicPlane, null))))
                .containsExactly(1L, 2L);
    }

    @Test
    void a_window_takes_points_inside_and_rectangles_that_meet_it_borders_included() {
        flights.upsert(Flights.flight(1, "place", new Point(1, 1)))
                .upsert(Flights.flight(2, "place", new Point(1, 2.5)))
                .upsert(Flights.flight(3, "area", new Rectangle(2, 2, 5, 5)))
                .upsert(Flights.flight(4, "area", new Rectangle(2.1, 0, 3, 1)));
        assertThat(Flights.ids(query().where(Predicates.parseWithin("place=1,0,2,2"))))
                .containsExactly(1L);
        assertThat(Flights.ids(query().where(Predicates.within("area", 0, 0, 2, 2))))
                .containsExactly(3L);
    }

    @Test
    void contains_takes_all_words_in_any_order_and_case() {
        flights.upsert(Flights.flight(1, "name", "Chicago-O'Hare International"))
                .upsert(Flights.flight(2, "name", "ZÜRICH International"))
                .upsert(Flights.flight(3, "name", "Internationale"));
        assertThat(Flights.ids(
                        query().where(Predicates.parseContains("name=international chicago"))))
                .containsExactly(1L);
        assertThat(Flights.ids(query().where(Predicates.contains("name", "O'Hare"))))
                .containsExactly(1L);
        assertThat(Flights.ids(query().where(Predicates.contains("name", "zürich"))))
                .containsExactly(2L);
        assertThat(Flights.ids(query().where(Predicates.contains("name", "intern"))))
                .isEmpty();
    }

    @Test
    void an_unknown_tokenizer_is_not_taken_for_a_part_of_a_field() {
        for (String label : List.of("ngram(17)", "ngram(0)", "words", "Word", "")) {
            assertThatThrownBy(
                            () -> query().where(Predicates.parseContainsAny("name:" + label + "=x"))
                                    .run())
                    .as(label)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining(
                            "there is no tokenizer '%s'; there are word".formatted(label));
        }
        assertThatThrownBy(() -> query().mostTokens("name:grams=x").run())
                .hasMessageContaining("there is no tokenizer 'grams'");
        assertThatThrownBy(
                        () -> query().where(Predicates.parseSimilar("nam:ngram(99)=x,jaccard>=0.5"))
                                .run())
                .hasMessageContaining("names field 'nam:ngram(99)', which is not declared");
    }

    @Test
    void what_differs_by_capitals_is_told() {
        assertThatThrownBy(() -> query().where("DELAY > 3").run())
                .hasMessageContaining("names field 'DELAY', which is not declared; 'delay' is.");
        assertThatThrownBy(() -> query().where("tail = NULL").run())
                .hasMessageContaining("'null' is written in small letters");
    }

    @Test
    void neighbours_without_end_are_all() {
        flights.upsert(Flights.flight(1, "place", new Point(1, 1)))
                .upsert(Flights.flight(2, "place", new Point(0, 0)));
        try (QueryResult result =
                query().near("place", 0, 0).limit(Long.MAX_VALUE).select("id").run()) {
            assertThat(result.toList()).containsExactly(Map.of("id", 2L), Map.of("id", 1L));
        }
    }

    @Test
    void an_order_breaks_ties_of_most_tokens_or_comes_before_them() {
        flights.upsert(Flights.flight(1, "name", "fog", "delay", 2.0))
                .upsert(Flights.flight(2, "name", "fog snow", "delay", 3.0))
                .upsert(Flights.flight(3, "name", "snow", "delay", 1.0))
                .upsert(Flights.flight(4, "name", "ice", "delay", 0.0));
        assertThat(Flights.json(
                        query().mostTokens("name=fog snow").orderBy("delay").select("id")))
                .isEqualTo("{\"id\":2}\n{\"id\":3}\n{\"id\":1}\n");
        assertThat(Flights.json(
                        query().orderBy("delay").mostTokens("name=fog snow").select("id")))
                .isEqualTo("{\"id\":3}\n{\"id\":1}\n{\"id\":2}\n");
    }

    @Test
    void predicates_print_as_they_are_meant() {
        assertThat(Predicates.eq("a", "x")).hasToString("a = \"x\"");
        assertThat(Predicates.eq("a", null)).hasToString("a = null");
        assertThat(Predicates.parseRange("a=1..")).hasToString("a in 1..");
        assertThat(Predicates.within("a", 0, 0, 1, 2)).hasToString("a within 0.0,0.0,1.0,2.0");
    }
}
