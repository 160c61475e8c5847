package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.Point;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;

/** How many entries and records neighbours take, where ties are cut, and what is refused. */
class NearestQueryTest {
    private static MemorySource source(boolean isAlwaysValid) {
        return new MemorySource(
                Flights.TYPE,
                List.of("id"),
                List.of(),
                List.of(new IndexDescription(
                        "by_place",
                        IndexDescription.Kind.RTREE,
                        List.of("place"),
                        isAlwaysValid,
                        KeyForm.CURRENT,
                        true,
                        Map.of())),
                3);
    }

    private static List<Long> ids(QueryResult rows) {
        List<Long> ids = new ArrayList<>();
        while (rows.next()) {
            ids.add(rows.row().getLong(0));
        }
        return ids;
    }

    private static long actual(Explanation explanation, String operator) {
        return explanation.operators().stream()
                .filter(step -> step.name().equals(operator))
                .findFirst()
                .orElseThrow()
                .actualRows()
                .orElseThrow();
    }

    /** Wherever it is when a move fails. */
    @Test
    void searches_are_closed_although_the_records_do_not_close() {
        for (int moves = 1; moves <= 30; moves++) {
            MemorySource flights = source(true);
            for (long id = 0; id < 100; id++) {
                flights.upsert(Flights.flight(id, "place", new Point(id, 0), "delay", 1.0));
            }
            AtomicInteger left = new AtomicInteger(moves);
            flights.failOnRecordsClose = true;
            flights.onMove = () -> {
                if (left.getAndDecrement() == 0) {
                    throw new IllegalStateException("planted");
                }
            };
            Query nearest = Query.on(flights).near("place", 50.2, 0).limit(20);
            assertThatThrownBy(() -> {
                        try (QueryResult rows = nearest.run()) {
                            ids(rows);
                        }
                    })
                    .isInstanceOf(IllegalStateException.class);
            assertThat(flights.openCount).as("after %d moves", moves).hasValue(0);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void few_entries_and_records_are_read(boolean isAlwaysValid) {
        MemorySource flights = source(isAlwaysValid);
        for (long id = 0; id < 2_000; id++) {
            flights.upsert(Flights.flight(id, "place", new Point(id, 0), "delay", id % 10.0));
        }
        try (QueryResult rows =
                Query.on(flights).near("place", 700.2, 0).limit(5).run()) {
            assertThat(ids(rows)).containsExactly(700L, 701L, 699L, 702L, 698L);
            Explanation explanation = rows.explain();
            assertThat(explanation.access()).isEqualTo("index by_place, nearest first, then fetch");
            assertThat(explanation.toString())
                    .contains("by_place (rtree) on place, nearest to 700.2,0.0")
                    .contains("5 by distance of place from 700.2,0.0");
            assertThat(actual(explanation, "fetch")).isEqualTo(5);
            assertThat(actual(explanation, "search")).isLessThan(isAlwaysValid ? 10 : 200);
        }
        // one of ten: batches of 20 and 80
        try (QueryResult rows = Query.on(flights)
                .near("place", 700.2, 0)
                .where(Predicates.eq("delay", 3.0))
                .limit(5)
                .run()) {
            assertThat(ids(rows)).containsExactly(703L, 693L, 713L, 683L, 723L);
            assertThat(actual(rows.explain(), "fetch")).isEqualTo(100);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ties_are_cut_by_primary_key_by_every_way_in(boolean isAlwaysValid) {
        MemorySource flights = source(isAlwaysValid);
        for (long id = 0; id < 3_000; id++) {
            // the points of a circle, and many at one place of it
            double x = id % 3 == 0 ? 3 : id % 2 == 0 ? -4 : 5;
            double y = id % 3 == 0 ? 4 : id % 2 == 0 ? 3 : 0;
            flights.upsert(Flights.flight(2_999 - id, "place", new Point(x, y)));
        }
        flights.upsert(Flights.flight(5_000, "place", new Point(0.5, 0)));
        List<Long> first = LongStream.range(0, 6).boxed().toList();
        for (String access : List.of("*scan*", "by_place")) {
            Query query = Query.on(flights).near("place", 0, 0).limit(7);
            try (QueryResult rows = (access.equals("by_place")
                            ? query.usingIndex(access)
                            : query.usingScan())
                    .run()) {
                assertThat(ids(rows).subList(1, 7)).as(access).isEqualTo(first);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void more_than_there_are_is_all_there_are(boolean isAlwaysValid) {
        MemorySource flights = source(isAlwaysValid);
        flights.upsert(Flights.flight(1, "place", new Point(1, 1)))
                .upsert(Flights.flight(2))
                .upsert(Flights.flight(3, "place", new Point(9, 1)))
                .upsert(Flights.flight(3, "place", new Point(0, 1)));
        Query query = Query.on(flights).near("place", 0, 1).limit(Long.MAX_VALUE - 1);
        try (QueryResult rows = query.usingIndex("by_place").run()) {
            assertThat(ids(rows)).containsExactly(3L, 1L);
        }
        try (QueryResult rows = query.usingScan().run()) {
            assertThat(ids(rows)).containsExactly(3L, 1L);
        }
    }

    @Test
    void what_has_no_neighbours_is_refused() {
        MemorySource flights = source(true);
        for (double wrong : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> Query.on(flights).near("place", wrong, 0))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("not finite");
        }
        assertRefused(Query.on(flights).near("place", 0, 0), "limit of 1 or more");
        assertRefused(Query.on(flights).near("place", 0, 0).limit(0), "limit of 1 or more");
        assertRefused(Query.on(flights).near("tail", 0, 0).limit(1), "neither point nor");
        assertRefused(Query.on(flights).near("there", 0, 0).limit(1), "not declared");
        assertRefused(Query.on(flights).near("place", 0, 0).limit(1).count(), "no count");
        assertRefused(Query.on(flights).near("place", 0, 0).limit(1).orderBy("id"), "order");
        assertRefused(Query.on(flights).near("place", 0, 0).limit(1).groupBy("tail"), "group");
    }

    private static void assertRefused(Query query, String why) {
        assertThatThrownBy(query::run)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(why);
    }
}
