package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Which way in the planner takes, what it reads there, and what explain says of it. */
class QueryAccessTest {
    private final MemorySource flights = Flights.source();

    @AfterEach
    void nothing_is_left_open() {
        assertThat(flights.openCount).hasValue(0);
    }

    private Query query() {
        return Query.on((Source) flights);
    }

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
        Flights.many(flights, 100);
        flights.moveCount.set(0);
        Explanation explanation = explanationOf(query().where(Predicates.eq("id", 17)));
        assertThat(explanation.access()).isEqualTo("get by primary key");
        assertThat(flights.moveCount).hasValue(1);
    }

    @Test
    void a_range_of_the_filter_field_skips_components() {
        Flights.many(flights, 480);
        Explanation explanation = explanationOf(query().where(Predicates.range(
                "departure", Instant.ofEpochSecond(0), Instant.ofEpochSecond(9 * 3_600))));
        assertThat(explanation.access()).isEqualTo("primary scan with filter");
        assertThat(actual(explanation, "scan").orElseThrow())
                .isLessThan(2 * MemorySource.COMPONENT_RECORDS);
        assertThat(actual(explanation, "select")).hasValue(10);
    }

    @Test
    void few_entries_of_an_index_are_fetched_and_many_are_not() {
        Flights.many(flights, 480);
        assertThat(explanationOf(query().where(Predicates.eq("tail", "N3"))).access())
                .isEqualTo("index by_tail, then fetch");
        assertThat(explanationOf(query().where(Predicates.range("tail", "N0", "N8")))
                        .access())
                .isEqualTo("primary scan");
    }

    @Test
    void what_an_index_counts_takes_the_place_of_a_guess() {
        Flights.many(flights, 480);
        Explanation explanation = explanationOf(query().where(Predicates.eq("tail", "N3")));
        assertThat(explanation.operators()).anySatisfy(step -> {
            assertThat(step.name()).isEqualTo("re-check");
            assertThat(step.estimatedRows()).isEqualTo(step.actualRows());
        });
    }

    @Test
    void a_query_can_be_stopped_between_rows_that_are_far_apart() {
        flights.upsert(Flights.flight(-1, "tail", "only"));
        Flights.many(flights, 5_000);
        AtomicBoolean stop = new AtomicBoolean();
        Query first = query().where(Predicates.eq("tail", "only"))
                .usingScan()
                .with(RunOptions.defaults().withStop(stop::get));
        try (QueryResult result = first.run()) {
            assertThat(result.next()).isTrue();
            stop.set(true);
            assertThatThrownBy(result::next).isInstanceOf(CancellationException.class);
        }
    }

    @Test
    void a_count_that_an_index_covers_reads_no_record() {
        Flights.many(flights, 100);
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
            flights.upsert(Flights.flight(i % 1_000, "carrier", "C" + (i + i / 1_000) % 10));
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
        Flights.many(flights, 2_000);
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
    void an_index_gives_no_more_entries_than_rows_are_wanted() {
        Flights.many(flights, 2_000);
        Explanation explanation = explanationOf(
                query().where(Predicates.eq("tail", "N1")).usingIndex("by_tail").limit(3));
        assertThat(actual(explanation, "re-check")).hasValue(3);
        // each partition is told how many are wanted
        assertThat(actual(explanation, "search").orElseThrow()).isLessThanOrEqualTo(3);
    }

    @Test
    void nothing_is_estimated_where_there_is_one_way_in_until_it_is_asked_for() {
        Flights.many(flights, 200);
        Query scan =
                query().orderBy("id").where(Predicates.range("id", 50, null)).limit(3);
        for (Query one : List.of(scan, query().where(Predicates.eq("id", 7)), query().limit(0))) {
            flights.estimateCount.set(0);
            try (QueryResult result = one.run()) {
                result.count();
            }
            assertThat(flights.estimateCount).hasValue(0);
        }
        Explanation explanation = explanationOf(scan);
        assertThat(flights.estimateCount).hasValue(1);
        assertThat(explanation.operators())
                .isNotEmpty()
                .allSatisfy(step -> assertThat(step.estimatedRows()).isPresent());
        assertThat(explanation.considered()).hasSize(1);
        flights.estimateCount.set(0);
        explanationOf(query().where(Predicates.eq("tail", "N3")));
        assertThat(flights.estimateCount).as("a scan and an index").hasValue(2);
    }

    @Test
    void the_primary_keys_order_needs_no_sort_and_stops_early() {
        Flights.many(flights, 2_000);
        flights.moveCount.set(0);
        Explanation explanation = explanationOf(
                query().orderBy("id").where(Predicates.range("id", 50, null)).limit(3));
        assertThat(explanation.access()).isEqualTo("primary range scan in key order");
        assertThat(explanation.operators()).extracting("name").doesNotContain("top");
        assertThat(flights.moveCount.get()).isLessThan(20);
    }

    @Test
    void the_last_records_by_primary_key_are_read_from_the_end() {
        Flights.many(flights, 2_000);
        flights.moveCount.set(0);
        Query last = query().select("id")
                .orderBy("id:desc")
                .where(Predicates.range("id", null, 1_500))
                .limit(3);
        assertThat(explanationOf(last).access())
                .isEqualTo("primary range scan in descending key order");
        assertThat(flights.moveCount.get()).isLessThan(20);
        assertThat(Flights.json(last)).isEqualTo("{\"id\":1500}\n{\"id\":1499}\n{\"id\":1498}\n");
    }

    @Test
    void predicates_that_contradict_each_other_read_nothing() {
        Flights.many(flights, 100);
        flights.moveCount.set(0);
        Query query = query().where(Predicates.eq("tail", "N1"))
                .where(Predicates.range("tail", "N2", null));
        assertThat(explanationOf(query).access())
                .isEqualTo("nothing: the predicates leave no value");
        assertThat(flights.moveCount).hasValue(0);
    }

    @Test
    void partitions_are_read_by_workers_where_there_are_some() {
        Flights.many(flights, 900);
        try (ThreadTasks tasks = ThreadTasks.create("query-test")) {
            RunOptions options = RunOptions.defaults().withTasks(tasks).withSideBySideRows(0);
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

    @Test
    void the_source_has_workers_for_whoever_reads_enough() {
        Flights.many(flights, 900);
        SimTasks tasks = new SimTasks(3, new SimClock());
        flights.means = new QueryMeans(
                QueryMemory.of(MemoryBudget.of(8 << 20).account("queries"), tasks, Clock.system()),
                new SimDisk(1, Profile.STRICT),
                "spill",
                tasks);
        assertThat(query().count().run().toList()).hasSize(1);
        RunOptions few = RunOptions.defaults().withSideBySideRows(901);
        assertThat(query().with(few).usingScan().groupBy("tail").run().count()).isEqualTo(10);
        assertThat(tasks.stepCount()).isZero();
        RunOptions many = RunOptions.defaults().withSideBySideRows(900);
        assertThat(query().with(many).usingScan().groupBy("tail").run().count()).isEqualTo(10);
        assertThat(tasks.stepCount()).isPositive();
    }

    @Test
    void what_one_reader_has_room_for_has_room_side_by_side() {
        Flights.many(flights, 50);
        String large = "x".repeat(6 << 20);
        flights.upsert(Flights.flight(1_000, "name", large, "delay", -9.0));
        RunOptions options = RunOptions.defaults()
                .withTasks(new SimTasks(3, new SimClock()))
                .withSideBySideRows(0)
                .withMemoryBytesMax(20 << 20);
        Query first = query().with(options).usingScan().orderBy("delay").limit(1);
        assertThat(first.run().toList())
                .containsExactlyElementsOf(
                        List.of(Flights.flight(1_000, "name", large, "delay", -9.0)));
        assertThat(query().with(options).usingScan().orderBy("delay").run().count())
                .isEqualTo(51);
    }

    @Test
    void explain_tells_access_operators_rows_and_what_else_was_considered() {
        Flights.many(flights, 480);
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
}
