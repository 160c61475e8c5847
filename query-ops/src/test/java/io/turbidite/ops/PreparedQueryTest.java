package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;

/**
 * Queries that are checked once and run with values; that they answer as others do is
 * {@link QueryModelTest}'s.
 */
class PreparedQueryTest {
    private final MemorySource flights = Flights.source();

    @AfterEach
    void nothing_is_left_open() {
        assertThat(flights.openCount).hasValue(0);
    }

    private Query query() {
        return Query.on((Source) flights);
    }

    private static List<Object> ids(QueryResult result) {
        try (result) {
            return result.toList().stream().<Object>map(row -> row.get("id")).toList();
        }
    }

    @Test
    void each_run_has_values_of_its_own() {
        Flights.many(flights, 100);
        PreparedQuery byId =
                query().where(Predicates.eq("id", Predicates.parameter("id"))).prepare();
        assertThat(byId.parameters()).containsExactly("id");
        assertThat(ids(byId.run(7))).containsExactly(7L);
        assertThat(ids(byId.run(8L))).containsExactly(8L);
        assertThat(ids(byId.run(1_000))).isEmpty();
        try (QueryResult one = byId.run(1);
                QueryResult other = byId.run(2)) {
            assertThat(one.next()).isTrue();
            assertThat(other.next()).isTrue();
            assertThat(one.map()).containsEntry("id", 1L);
            assertThat(other.map()).containsEntry("id", 2L);
        }
        assertThat(byId.explain(7).access()).isEqualTo("get by primary key");
    }

    @Test
    void one_name_stands_for_one_value() {
        Flights.many(flights, 100);
        PreparedQuery same = query().where(Predicates.range(
                        "id", Predicates.parameter("x"), Predicates.parameter("y")))
                .where(Predicates.range("delay", null, Predicates.parameter("x")))
                .where(Predicates.eq("tail", "N3"))
                .orderBy("id")
                .prepare();
        assertThat(same.parameters()).containsExactly("x", "y");
        assertThat(ids(same.run(50, 70)))
                .isEqualTo(ids(query().where(Predicates.range("id", 50, 70))
                        .where(Predicates.range("delay", null, 50))
                        .where(Predicates.eq("tail", "N3"))
                        .orderBy("id")
                        .run()));
        assertThat(ids(same.run(50, null))).as("an open bound").isNotEmpty();
    }

    @Test
    void what_is_wrong_whatever_the_values_is_told_when_it_is_prepared() {
        Object value = Predicates.parameter("v");
        assertThatThrownBy(() -> query().where(Predicates.eq("nowhere", value)).prepare())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'nowhere'");
        assertThatThrownBy(() ->
                        query().where(Predicates.eq("id", value)).select("no").prepare())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'no'");
        assertThatThrownBy(() -> query().where(Predicates.eq("id", value))
                        .where(Predicates.eq("delay", "late"))
                        .prepare())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("delay");
        assertThatThrownBy(() -> Predicates.parameter(""))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void values_that_do_not_fit_are_refused() {
        PreparedQuery byId =
                query().where(Predicates.eq("id", Predicates.parameter("key"))).prepare();
        assertThatThrownBy(byId::run)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("[key]: 0 values");
        assertThatThrownBy(() -> byId.run(1, 2)).hasMessageContaining("2 values");
        assertThatThrownBy(() -> byId.run("one"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("id = \"one\"");
        assertThatThrownBy(() -> query().where(Predicates.eq("id", Predicates.parameter("key")))
                        .run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("'key' has no value");
        assertThatThrownBy(() -> query().where(
                                Predicates.range("id", null, Predicates.parameter("key")))
                        .explain())
                .hasMessageContaining("'key' has no value");
    }

    /** Java passes a lone null as no array at all, not as an array of one null. */
    @Test
    void a_lone_null_is_one_value() {
        Flights.many(flights, 10);
        flights.upsert(Flights.flight(11, "delay", null));
        PreparedQuery byDelay =
                query().where(Predicates.eq("delay", Predicates.parameter("d"))).prepare();
        assertThat(ids(byDelay.run((Object[]) null))).containsExactly(11L);
        assertThat(byDelay.explain((Object[]) null)).isNotNull();
        PreparedQuery all = query().prepare();
        assertThatThrownBy(() -> all.run((Object[]) null))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("1 values were given");
    }

    @Test
    void later_changes_of_the_query_do_not_reach_what_was_prepared() {
        Flights.many(flights, 20);
        Query query = query().where(Predicates.range("id", Predicates.parameter("low"), null));
        PreparedQuery prepared = query.prepare();
        query.where(Predicates.eq("tail", "none")).limit(0);
        assertThat(ids(prepared.run(15))).containsExactlyInAnyOrder(15L, 16L, 17L, 18L, 19L);
    }

    @Test
    void it_asks_the_view_that_it_is_given() {
        Flights.many(flights, 20);
        PreparedQuery byId =
                query().where(Predicates.eq("id", Predicates.parameter("id"))).prepare();
        try (ReadView view = flights.openView()) {
            assertThat(ids(byId.runOn(view, 3))).containsExactly(3L);
            PreparedQuery ofView = Query.on(view)
                    .where(Predicates.eq("id", Predicates.parameter("id")))
                    .prepare();
            assertThat(ids(ofView.run(4))).containsExactly(4L);
        }
        MemorySource others = Flights.source();
        try (ReadView view = others.openView()) {
            assertThatThrownBy(() -> byId.runOn(view, 3))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("was prepared for");
        }
    }
}
