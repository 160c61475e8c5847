package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.Source;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Columns that are no fields: distance, similarity, number of tokens. */
class SelectedColumnsTest {
    private final MemorySource flights = new MemorySource(
            Flights.TYPE,
            List.of("id"),
            List.of(),
            List.of(new IndexDescription(
                    "by_place",
                    IndexDescription.Kind.RTREE,
                    List.of("place"),
                    true,
                    KeyForm.CURRENT,
                    true,
                    Map.of())),
            2);

    SelectedColumnsTest() {
        flights.upsert(Flights.flight(1, "place", new Point(3, 4), "name", "late fog"))
                .upsert(Flights.flight(2, "place", new Point(0, 1), "name", "fog and snow"))
                .upsert(Flights.flight(3));
    }

    private Query query() {
        return Query.on((Source) flights);
    }

    @Test
    void neighbours_show_how_far_they_are_by_index_and_by_scan() {
        for (boolean isScan : new boolean[] {false, true}) {
            Query query = query().near("place", 0, 0).limit(5).select("distance", "id");
            assertThat(Flights.json(isScan ? query.usingScan() : query.usingIndex("by_place")))
                    .isEqualTo("{\"distance\":1.0,\"id\":2}\n{\"distance\":5.0,\"id\":1}\n");
        }
    }

    @Test
    void a_distance_that_is_asked_for_is_shown_in_gets_and_sorts_too() {
        Query within =
                query().where(Predicates.distance("place", 0, 1, 9)).select("id", "distance");
        assertThat(Flights.json(within.orderBy("id:desc")))
                .isEqualTo(
                        "{\"id\":2,\"distance\":0.0}\n{\"id\":1,\"distance\":4.242640687119285}\n");
        assertThat(Flights.json(query().where(Predicates.eq("id", 2L))
                        .where(Predicates.distance("place", 0, 0, 3))
                        .select("distance")))
                .isEqualTo("{\"distance\":1.0}\n");
    }

    @Test
    void similarity_and_tokens_are_what_was_asked() {
        assertThat(Flights.json(query().where(
                                Predicates.jaccard("name", Tokenizer.WORD, "fog late snow", 0.2))
                        .orderBy("id")
                        .select("id", "similarity")))
                .isEqualTo(
                        "{\"id\":1,\"similarity\":0.6666666666666666}\n{\"id\":2,\"similarity\":0.5}\n");
        assertThat(Flights.json(query().mostTokens("name=snow fog rain").select("tokens", "id")))
                .isEqualTo("{\"tokens\":2,\"id\":2}\n{\"tokens\":1,\"id\":1}\n");
    }

    @Test
    void what_the_query_does_not_ask_for_has_no_column() {
        for (String column : List.of("distance", "similarity", "tokens")) {
            assertThatThrownBy(() -> query().select("id", column).run())
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("select names '%s', which is".formatted(column))
                    .hasMessageContaining("the query has none");
        }
        assertThatThrownBy(() -> query().near("place", 0, 0)
                        .limit(1)
                        .select("distance", "distance")
                        .run())
                .hasMessageContaining("select names 'distance' twice");
    }

    @Test
    void a_field_of_that_name_is_the_field() {
        MemorySource source = new MemorySource(
                RecordType.builder()
                        .field("id", "int64")
                        .field("distance", "string")
                        .field("place", "point")
                        .build(),
                List.of("id"),
                List.of(),
                List.of(),
                1);
        source.upsert(Map.of("id", 1L, "distance", "far", "place", new Point(0, 0)));
        assertThat(Flights.json(
                        Query.on((Source) source).near("place", 1, 1).limit(1).select("distance")))
                .isEqualTo("{\"distance\":\"far\"}\n");
    }

    /** As a row that was made would be: the record of such a query is not copied. */
    @Test
    void all_declared_fields_in_their_order_leave_out_what_is_not_declared() {
        RecordType type = RecordType.builder()
                .field("id", "int64")
                .field("name", "string?")
                .build();
        MemorySource source = new MemorySource(type, List.of("id"), List.of(), List.of(), 1);
        source.upsert(Map.of("id", 1L, "name", "fog", "undeclared", 7L))
                .upsert(Map.of("id", 2L, "name", "snow"))
                .upsert(Map.of("id", 3L, "undeclared", 8L));
        Supplier<Query> all = () -> Query.on((Source) source).select("id", "name");
        String rows = "{\"id\":1,\"name\":\"fog\"}\n{\"id\":2,\"name\":\"snow\"}\n{\"id\":3}\n";
        assertThat(Flights.json(all.get().orderBy("id"))).isEqualTo(rows);
        assertThat(Flights.json(all.get().orderBy("id:desc").limit(1))).isEqualTo("{\"id\":3}\n");
        assertThat(Flights.json(all.get().where(Predicates.eq("id", 1L))))
                .isEqualTo("{\"id\":1,\"name\":\"fog\"}\n");
        assertThat(Flights.json(Query.on((Source) source)
                        .select("name as id", "id as name")
                        .where(Predicates.eq("id", 2L))))
                .isEqualTo("{\"id\":\"snow\",\"name\":2}\n");
    }
}
