package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.BoundExpression;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Conditions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Conditions written as text. */
class WhereTest {
    private final MemorySource flights = Flights.source();

    @AfterEach
    void nothing_is_left_open() {
        assertThat(flights.openCount).hasValue(0);
    }

    private Query where(String condition) {
        return Query.on((Source) flights).where(condition);
    }

    private List<Object> ids(String condition) {
        return Flights.ids(where(condition));
    }

    @Test
    void a_condition_finds_what_it_says() {
        flights.upsert(Flights.flight(1, "tail", "N1", "delay", 31.0, "name", "Kennedy intl"));
        flights.upsert(Flights.flight(2, "tail", "N2", "delay", 30.0, "name", "Intl, Laguardia"));
        flights.upsert(Flights.flight(3, "tail", "JFK", "place", new Point(1, 2)));
        flights.upsert(Flights.flight(4, "delay", -0.1));
        assertThat(ids("delay > 30")).containsExactly(1L);
        assertThat(ids("delay >= 30")).containsExactly(1L, 2L);
        assertThat(ids("30 > delay")).containsExactly(4L);
        assertThat(ids("delay = -0.1")).containsExactly(4L);
        assertThat(ids("not (delay > 30)")).containsExactly(2L, 4L);
        assertThat(ids("delay is null")).containsExactly(3L);
        assertThat(ids("delay is not null and tail is null")).containsExactly(4L);
        assertThat(ids("delay > 30 or tail = 'JFK'")).containsExactly(1L, 3L);
        assertThat(ids("tail in ('N1', 'N2') and contains(name, 'intl')")).containsExactly(1L, 2L);
        assertThat(ids("not contains(name, 'kennedy')")).containsExactly(2L);
        assertThat(ids("contains_any(name, 'kennedy laguardia')")).containsExactly(1L, 2L);
        assertThat(ids("contains_any(name, tail) or contains_prefix(name, 'lag')"))
                .containsExactly(2L);
        assertThat(ids("not contains_prefix(name, 'Ken')")).containsExactly(2L);
        assertThat(ids("within(place, 0, 0, 1, 2)")).containsExactly(3L);
        assertThat(ids("tail ^= 'N'")).containsExactly(1L, 2L);
        assertThat(ids("tail !^= 'N'")).containsExactly(3L);
        assertThat(ids("lower(tail) = 'jfk'")).containsExactly(3L);
        assertThat(ids("tail > carrier")).isEmpty();
        assertThat(ids("tail < carrier")).containsExactly(1L, 2L, 3L);
        assertThat(ids("departure >= '1970-01-01T03:00:00Z' and departure < '1970-01-01T04:00Z'"))
                .containsExactly(3L);
        assertThat(ids("id = 2.5")).isEmpty();
        assertThat(ids("id > 2.5")).containsExactly(3L, 4L);
        assertThat(ids("id != 2.5 and id < 1e30")).containsExactly(1L, 2L, 3L, 4L);
        assertThat(ids("delay > 0.1 and delay < 1e300")).containsExactly(1L, 2L);
    }

    @Test
    void what_compares_a_field_with_a_constant_uses_indexes() {
        Flights.many(flights, 400);
        assertThat(where("tail = 'N3'").explain().access()).isEqualTo("index by_tail, then fetch");
        assertThat(where("tail = 'N3' and (delay > 1 or delay < 0)").explain().access())
                .isEqualTo("index by_tail, then fetch");
        assertThat(where("tail in ('N3', 'N4')").usingIndex("by_tail").explain().access())
                .isEqualTo("index by_tail, then fetch");
        assertThat(where("id = 7").explain().access()).isEqualTo("get by primary key");
        assertThat(where("id > 7 and id < 9").explain().access()).startsWith("primary range scan");
        assertThat(where("id = 7.5").explain().access())
                .isEqualTo("nothing: the predicates leave no value");
        assertThat(where("carrier = 'UA' and delay > 1").count().explain().access())
                .startsWith("index by_carrier only");
        assertThat(where("tail = 'N3' and delay > 1").explain().operators().toString())
                .contains("tail = \"N3\" and delay > 1.0");
        assertThat(where("tail = 'N3' and (delay > 1 or delay < 0)").explain().toString())
                .contains("tail = \"N3\" and (delay > 1 || delay < 0)");
        assertThat(ids("id > 7 and id < 9")).containsExactly(8L);
        assertThat(where("carrier = 'UA' and delay > 1").count().run().count()).isEqualTo(114);
    }

    /** Entries hold nothing that these could be tested on. */
    @Test
    void entries_alone_answer_nothing_that_is_more_than_predicates() {
        Conditions conditions = Conditions.of(
                Flights.TYPE,
                List.of(),
                List.of(
                        Expression.condition(
                                "within(place, 0, 0, 1, 1)", Expression.Grammar.FIELDS),
                        Expression.condition("delay > 1 or tail = 'x'", Expression.Grammar.FIELDS)),
                Map.of());
        assertThat(conditions.onlyWindows("place")).isFalse();
        assertThat(conditions.onlyRanges()).isFalse();
        assertThat(conditions.isDecidedBy(List.of("place"))).isFalse();
    }

    @Test
    void a_point_is_explained_with_what_was_found() {
        Flights.many(flights, 20);
        for (String select : List.of("", "tail")) {
            Query query = where("id = 3 and (delay > 100 or tail = 'N3')").limit(5);
            if (!select.isEmpty()) {
                query.select(select);
            }
            query.orderBy("tail", Order.DESC);
            try (QueryResult rows = query.run()) {
                assertThat(rows.explain().operators().getLast().actualRows()).hasValue(0);
                assertThat(rows.toList()).hasSize(1);
                assertThat(rows.explain().operators())
                        .allSatisfy(
                                operator -> assertThat(operator.actualRows()).hasValue(1));
                assertThat(rows.explain().access()).isEqualTo("get by primary key");
            }
        }
        try (QueryResult rows = where("id = 3 and (delay > 100 or tail = 'N4')").run()) {
            assertThat(rows.toList()).isEmpty();
            assertThat(rows.explain().operators().getFirst().actualRows()).hasValue(0);
            assertThat(rows.explain().operators().getLast().actualRows()).hasValue(1);
        }
        assertThat(where("id = 3").count().run().count()).isEqualTo(1);
        assertThat(where("id = 3").limit(0).run().toList()).isEmpty();
    }

    @Test
    void parameters_stand_for_constants() {
        Flights.many(flights, 40);
        flights.upsert(Flights.flight(100));
        PreparedQuery prepared = where(
                        "delay > :least and (tail = :tail or tail = 'N1') and id != :not")
                .prepare();
        assertThat(prepared.parameters()).containsExactly("least", "tail", "not");
        try (QueryResult rows = prepared.run(0.5, "N5", 5L)) {
            assertThat(rows.toList())
                    .allSatisfy(row -> assertThat((Double) row.get("delay")).isGreaterThan(0.5))
                    .extracting(row -> row.get("tail"))
                    .containsOnly("N5", "N1");
        }
        PreparedQuery absent = where("tail = :tail").prepare();
        try (QueryResult rows = absent.run((Object) null)) {
            assertThat(rows.count()).isEqualTo(1);
        }
        PreparedQuery lowered = where("lower(tail) = :tail").prepare();
        try (QueryResult rows = lowered.run((Object) null)) {
            assertThat(rows.toList()).extracting(row -> row.get("id")).containsExactly(100L);
        }
        try (QueryResult rows = lowered.run("n5")) {
            assertThat(rows.toList()).isNotEmpty();
        }
        assertThatThrownBy(() -> where("lower(tail) < :tail").prepare().run((Object) null))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("lower(tail) < :tail: the parameter is null");
        assertThatThrownBy(() -> prepared.run(null, "N5", 5L))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("delay > :least: the parameter is null");
        assertThatThrownBy(() -> prepared.run("1", "N5", 5L))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("condition delay > :least: type double takes Double");
        assertThatThrownBy(() -> where("tail = :tail").run())
                .hasMessageContaining("parameter 'tail' has no value");
        assertThatThrownBy(() -> where("nothing = :tail").prepare())
                .hasMessageContaining("names field 'nothing', which is not declared");
    }

    /** A cast refuses a text; what an index left out before is left out by every way in. */
    @Test
    void a_function_sees_what_the_other_conditions_let_through() {
        for (int i = 0; i < 40; i++) {
            flights.upsert(Flights.flight(
                    i, "carrier", i < 20 ? "UA" : "AA", "tail", i < 20 ? "7" : "none"));
        }
        String condition = "int32(tail) > 5 and (carrier = 'UA' or carrier = 'UB')";
        assertThat(ids(condition)).hasSize(20);
        assertThat(Flights.ids(where(condition).usingScan())).hasSize(20);
        assertThat(Flights.ids(where(condition).usingIndex("by_carrier"))).hasSize(20);
        String negated = "not (int32(tail) <= 5 or not (carrier = 'UA' or delay > 1e9))";
        assertThat(Flights.ids(where(negated).usingScan())).hasSize(20);
    }

    @Test
    void what_can_be_true_of_no_record_is_refused() {
        Map<String, String> wrong = new LinkedHashMap<>();
        wrong.put("nothing = 1", "condition nothing == 1 names field 'nothing'");
        wrong.put("delay = '5'", "field 'delay' is of type double");
        wrong.put("tail > 5", "field 'tail' is of type string");
        wrong.put("departure = 'soon'", "is not of type datetime");
        wrong.put("place > '[1,2]'", "field 'place' is of type point");
        wrong.put("lower(tail) = 5", "compares string with decimal");
        wrong.put("tail = delay", "compares string with double");
        wrong.put("lower(tail)", "compares string with bool");
        wrong.put("contains(delay, 'x')", "type double is not string");
        wrong.put("contains(tail, '!')", "there is no word to look for");
        wrong.put("contains_any(tail, '!')", "there is no token (word) to look for");
        wrong.put("contains_prefix(tail, 'a b')", "of one token (word)");
        wrong.put("within(place, 2, 0, 1, 1)", "min at most max");
        wrong.put("delay >", "at position 7: expected a field");
        wrong.forEach((condition, message) -> assertThatThrownBy(
                        () -> where(condition).run().close())
                .as(condition)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message));
    }

    /** Every way in gives what the expression means for the records' values. */
    @Test
    void random_conditions_mean_over_encoded_records_what_they_mean_over_values() {
        long seed = Seeds.of("WhereTest");
        SplittableRandom random = new SplittableRandom(seed);
        List<Map<String, @Nullable Object>> records = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            Map<String, @Nullable Object> flight =
                    Flights.flight(i, "carrier", pick(random, TEXTS));
            put(random, flight, "tail", TEXTS);
            put(random, flight, "name", TEXTS);
            put(random, flight, "delay", DELAYS);
            records.add(flight);
            flights.upsert(flight);
        }
        RecordType type = Flights.TYPE;
        for (int round = 0; round < 400; round++) {
            String text = condition(random, 3);
            BoundExpression meaning = BoundExpression.of(
                    Expression.condition(text, Expression.Grammar.FIELDS), type::indexOf);
            List<Object> expected = new ArrayList<>();
            for (Map<String, @Nullable Object> flight : records) {
                Object value =
                        meaning.evaluate(index -> flight.get(type.field(index).name()));
                if (Boolean.TRUE.equals(value)) {
                    expected.add(flight.get("id"));
                }
            }
            String shown = text + "; " + Seeds.replay("WhereTest", seed);
            assertThat(ids(text)).as(shown).isEqualTo(expected);
            assertThat(Flights.ids(where(text).usingScan())).as(shown).isEqualTo(expected);
            for (String index : List.of("by_tail", "by_carrier")) {
                try {
                    assertThat(Flights.ids(where(text).usingIndex(index)))
                            .as("%s by %s", shown, index)
                            .isEqualTo(expected);
                } catch (InvalidRequestException e) {
                    assertThat(e).hasMessageContaining("no equality or range on its first field");
                }
            }
        }
    }

    private static final List<Object> TEXTS =
            List.of("", "A", "AA", "AB", "B", "a b", "\uFFFF", "\uD83D\uDE00", "A\u0000");
    private static final List<Object> DELAYS =
            List.of(-3.0, -0.0, 0.1, 1.0, 1.5, 1e300, Double.NaN, Double.NEGATIVE_INFINITY, 4e15);
    private static final List<String> NUMBERS = List.of(
            "-3", "0", "0.1", "0.10000000000000001", "1", "1e300", "1e999", "-1e999", "5.5");

    private static <T> T pick(SplittableRandom random, List<T> from) {
        return from.get(random.nextInt(from.size()));
    }

    private static void put(
            SplittableRandom random,
            Map<String, @Nullable Object> flight,
            String field,
            List<Object> values) {
        int state = random.nextInt(6);
        if (state > 0) {
            flight.put(field, state == 1 ? null : pick(random, values));
        }
    }

    private static String condition(SplittableRandom random, int depth) {
        return switch (random.nextInt(depth > 0 ? 8 : 4)) {
            case 0 -> number(random);
            case 1, 2 -> text(random);
            case 3 ->
                pick(
                        random,
                        List.of(
                                "tail is null",
                                "delay is not null",
                                "tail < name",
                                "delay >= id",
                                "upper(name) = 'A B'",
                                "not contains(name, 'a')",
                                "carrier = tail"));
            case 4 -> "not (" + condition(random, depth - 1) + ")";
            case 5 ->
                "(" + condition(random, depth - 1) + " or " + condition(random, depth - 1) + ")";
            default -> condition(random, depth - 1) + " and " + condition(random, depth - 1);
        };
    }

    private static String number(SplittableRandom random) {
        String field = pick(random, List.of("delay", "delay", "id"));
        String operator = pick(random, List.of("=", "!=", "<", "<=", ">", ">="));
        return field + " " + operator + " " + pick(random, NUMBERS);
    }

    private static String text(SplittableRandom random) {
        String field = pick(random, List.of("tail", "tail", "carrier", "name"));
        String value = "'" + pick(random, TEXTS) + "'";
        if (random.nextInt(4) == 0) {
            return "%s in (%s, '%s')".formatted(field, value, pick(random, TEXTS));
        }
        String operator = pick(random, List.of("=", "!=", "<", "<=", ">", ">=", "^=", "!^="));
        return "%s %s %s".formatted(field, operator, value);
    }
}
