package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What aggregates mean, and what of them is refused. */
class AggregateQueryTest {
    private final MemorySource flights = Flights.source();

    @AfterEach
    void nothing_is_left_open() {
        assertThat(flights.openCount).hasValue(0);
    }

    private Query query() {
        return Query.on((Source) flights);
    }

    @Test
    void groups_have_what_is_asked_for_in_its_order() {
        flights.upsert(Flights.flight(1, "tail", "a", "delay", 4.0))
                .upsert(Flights.flight(2, "tail", "a", "delay", 1.0))
                .upsert(Flights.flight(3, "tail", "a"))
                .upsert(Flights.flight(4, "delay", 7.0))
                .upsert(Flights.flight(5, "tail", "b"));
        assertThat(Flights.json(query().groupBy("tail")
                        .aggregate(
                                Aggregate.sum("delay"),
                                Aggregate.count(),
                                Aggregate.count("delay"),
                                Aggregate.avg("delay"),
                                Aggregate.min("delay"),
                                Aggregate.max("delay").as("worst"))))
                .isEqualTo("""
                        {"tail":null,"sum_delay":7.0,"count":1,"count_delay":1,"avg_delay":7.0,"min_delay":7.0,"worst":7.0}
                        {"tail":"a","sum_delay":5.0,"count":3,"count_delay":2,"avg_delay":2.5,"min_delay":1.0,"worst":4.0}
                        {"tail":"b","sum_delay":null,"count":1,"count_delay":0,"avg_delay":null,"min_delay":null,"worst":null}
                        """);
    }

    @Test
    void without_groups_there_is_one_row_even_of_no_records() {
        Query asked = query().aggregate(
                        Aggregate.count(),
                        Aggregate.countDistinct("tail"),
                        Aggregate.max("tail"),
                        Aggregate.standardDeviation("delay"));
        assertThat(Flights.json(asked))
                .isEqualTo(
                        "{\"count\":0,\"count_distinct_tail\":0,\"max_tail\":null,\"stddev_delay\":null}\n");
        Flights.many(flights, 30);
        assertThat(Flights.json(asked))
                .startsWith(
                        "{\"count\":30,\"count_distinct_tail\":10,\"max_tail\":\"N9\",\"stddev_delay\":2.0692");
        try (QueryResult result = asked.run()) {
            assertThat(result.count()).as("rows, no count").isEqualTo(1);
        }
    }

    @Test
    void a_count_that_is_asked_for_too_comes_first() {
        Flights.many(flights, 20);
        assertThat(Flights.json(query().groupBy("carrier").count().aggregate(Aggregate.min("id"))))
                .isEqualTo("{\"carrier\":\"UA\",\"count\":20,\"min_id\":0}\n");
    }

    @Test
    void rows_are_ordered_and_limited_by_what_they_have() {
        Flights.many(flights, 70);
        assertThat(Flights.json(query().groupBy("tail")
                        .aggregate(Aggregate.sum("delay"), Aggregate.max("id"))
                        .orderBy("sum_delay:desc")
                        .orderBy("max_id", Order.DESC)
                        .limit(2)))
                .isEqualTo("""
                        {"tail":"N9","sum_delay":0.0,"max_id":69}
                        {"tail":"N8","sum_delay":0.0,"max_id":68}
                        """);
        assertThat(Flights.json(query().groupBy("delay")
                        .aggregate(Aggregate.countDistinct("tail"), Aggregate.min("tail"))
                        .orderBy("min_tail:desc")
                        .limit(1)))
                .contains("\"count_distinct_tail\":10");
    }

    @Test
    void cells_have_aggregates_those_without_a_point_too() {
        flights.upsert(Flights.flight(1, "place", new Point(0.5, 0.5), "tail", "a"))
                .upsert(Flights.flight(2, "place", new Point(0.5, 0.5), "tail", "a"))
                .upsert(Flights.flight(3, "tail", "b"))
                .upsert(Flights.flight(4, "tail", "c"));
        assertThat(Flights.json(query().groupByCell("place=1,1")
                        .aggregate(Aggregate.countDistinct("tail"), Aggregate.max("tail"))))
                .isEqualTo("""
                        {"cell":null,"count_distinct_tail":2,"max_tail":"c"}
                        {"cell":[0.0,0.0,1.0,1.0],"count_distinct_tail":1,"max_tail":"a"}
                        """);
    }

    @Test
    void an_index_that_has_the_group_alone_is_no_way_in() {
        Flights.many(flights, 40);
        Query asked = query().where(Predicates.eq("tail", "N3"))
                .groupBy("tail")
                .aggregate(Aggregate.sum("delay"));
        assertThat(Flights.json(asked.usingIndex("by_tail")))
                .isEqualTo(Flights.json(asked.usingScan()));
        assertThat(asked.explain().operators().getFirst().detail()).isEqualTo("sum(delay) by tail");
    }

    @Test
    void it_is_prepared_like_any_query() {
        Flights.many(flights, 40);
        PreparedQuery prepared = query().where("id < :least")
                .groupBy("carrier")
                .aggregate(Aggregate.sum("id"))
                .prepare();
        for (long least : List.of(4L, 10L)) {
            try (QueryResult result = prepared.run(least)) {
                assertThat(result.toList())
                        .containsExactly(
                                Map.of("carrier", "UA", "sum_id", least * (least - 1) / 2));
            }
        }
    }

    @Test
    void rows_are_ordered_by_doubles_of_both_signs() {
        flights.upsert(Flights.flight(1, "tail", "a", "delay", -2.0))
                .upsert(Flights.flight(2, "tail", "b", "delay", 1.0))
                .upsert(Flights.flight(3, "tail", "c"));
        assertThat(Flights.json(query().groupBy("tail")
                        .aggregate(Aggregate.avg("delay").as("m"))
                        .orderBy("m")))
                .isEqualTo("""
                        {"tail":"c","m":null}
                        {"tail":"a","m":-2.0}
                        {"tail":"b","m":1.0}
                        """);
    }

    @Test
    void expressions_are_selected_and_aggregated() {
        flights.upsert(Flights.flight(1, "tail", "a", "delay", -2.0))
                .upsert(Flights.flight(2, "tail", "b", "delay", 40.5))
                .upsert(Flights.flight(3, "tail", "b"));
        assertThat(Flights.json(query().select(
                                "id",
                                "delay * 2 - id as twice",
                                "case when delay > 30 then 'late' else tail end as what",
                                "hour(departure) as hour")
                        .orderBy("id")))
                .isEqualTo("""
                        {"id":1,"twice":-5.0,"what":"a","hour":1}
                        {"id":2,"twice":79.0,"what":"late","hour":2}
                        {"id":3,"twice":null,"what":"b","hour":3}
                        """);
        assertThat(Flights.json(query().select("id + 1 as next").where(Predicates.eq("id", 2L))))
                .isEqualTo("{\"next\":3}\n");
        assertThat(Flights.json(query().groupBy("tail")
                        .aggregate(
                                Aggregate.sum("id * 10 + hour(departure)").as("s"),
                                Aggregate.countDistinct("case when delay > 0 then 1 else 2 end")
                                        .as("d"),
                                Aggregate.max("concat(tail, carrier)").as("m"))))
                .isEqualTo("""
                        {"tail":"a","s":11,"d":1,"m":"aUA"}
                        {"tail":"b","s":55,"d":2,"m":"bUA"}
                        """);
        Map<Query, String> wrong = Map.of(
                query().select("delay + 1"), "needs a name: write 'delay + 1 as name'",
                query().select("delay + 1 as x", "id as x"), "select names 'x' twice",
                query().select("delay + tail as x"), "'+' does not go between double and string",
                query().select("delay + as x"), "at position",
                query().aggregate(Aggregate.sum("tail = 'a'").as("x")), "of type bool",
                query().select("id % 0 as x"), "1 % 0: division by zero, in: id % 0");
        wrong.forEach((query, message) -> assertThatThrownBy(() -> Flights.json(query))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message));
    }

    // ---- kinds ----------------------------------------------------------------------------------

    private static final RecordType KINDS = RecordType.builder()
            .field("id", "int64")
            .field("big", "int64?")
            .field("small", "int8?")
            .field("price", "decimal?")
            .field("took", "duration?")
            .field("ok", "bool?")
            .field("tags", "[string]?")
            .field("box", "rectangle?")
            .build();

    private static MemorySource kinds(List<Map<String, @Nullable Object>> rows) {
        MemorySource source = new MemorySource(KINDS, List.of("id"), List.of(), List.of(), 2);
        for (int i = 0; i < rows.size(); i++) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>(rows.get(i));
            row.put("id", (long) i);
            source.upsert(row);
        }
        return source;
    }

    @Test
    void sums_of_whole_numbers_are_exact_whatever_their_order() {
        MemorySource source = kinds(List.of(
                Map.of("big", Long.MAX_VALUE, "small", (byte) 127),
                Map.of("big", Long.MAX_VALUE, "small", (byte) 127),
                Map.of("big", -Long.MAX_VALUE, "small", (byte) -1)));
        assertThat(Flights.json(Query.on((Source) source)
                        .aggregate(
                                Aggregate.sum("big"),
                                Aggregate.avg("big"),
                                Aggregate.sum("small"))))
                .isEqualTo(
                        "{\"sum_big\":9223372036854775807,\"avg_big\":3.0744573456182584E18,\"sum_small\":253}\n");
    }

    @Test
    void a_sum_that_does_not_fit_is_an_error_that_names_the_field() {
        MemorySource source = kinds(List.of(
                Map.of("big", Long.MAX_VALUE, "took", Duration.ofDays(100_000_000)),
                Map.of("big", 1L, "took", Duration.ofDays(100_000_000))));
        assertThatThrownBy(() ->
                        Flights.json(Query.on((Source) source).aggregate(Aggregate.sum("big"))))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "the sum of 'big' is 9223372036854775808, which is out of range for type int64");
        assertThatThrownBy(() ->
                        Flights.json(Query.on((Source) source).aggregate(Aggregate.sum("took"))))
                .hasMessageContainingAll("the sum of 'took'", "type duration");
        assertThat(Flights.json(Query.on((Source) source)
                        .aggregate(Aggregate.avg("big"), Aggregate.avg("took"))))
                .isEqualTo("{\"avg_big\":4.611686018427388E18,\"avg_took\":\"PT2400000000H\"}\n");
        assertThat(source.openCount).hasValue(0);
    }

    @Test
    void decimals_are_summed_exactly_and_durations_and_truths_compared() {
        MemorySource source = kinds(List.of(
                Map.of("price", new BigDecimal("0.10"), "took", Duration.ofSeconds(3), "ok", true),
                Map.of(
                        "price",
                        new BigDecimal("1E+30"),
                        "took",
                        Duration.ofSeconds(-2),
                        "ok",
                        false),
                Map.of("price", new BigDecimal("0.20"), "tags", List.of("a"))));
        assertThat(Flights.json(Query.on((Source) source)
                        .aggregate(
                                Aggregate.sum("price"),
                                Aggregate.max("price"),
                                Aggregate.avg("took"),
                                Aggregate.min("took"),
                                Aggregate.max("ok"),
                                Aggregate.count("tags"),
                                Aggregate.countDistinct("box"))))
                .isEqualTo("""
                        {"sum_price":1000000000000000000000000000000.3,"max_price":1000000000000000000000000000000,\
                        "avg_took":"PT0.5S","min_took":"PT-2S","max_ok":true,"count_tags":1,"count_distinct_box":0}
                        """);
    }

    /** A double tells two numbers of 17 digits apart, so a mean must not be cut to 16 before. */
    @Test
    void means_of_decimals_have_all_digits_of_a_double() {
        MemorySource source = kinds(List.of(
                Map.of("price", new BigDecimal("0.30000000000000004")),
                Map.of("price", new BigDecimal("0.30000000000000004"))));
        assertThat(Flights.json(Query.on((Source) source).aggregate(Aggregate.avg("price"))))
                .isEqualTo("{\"avg_price\":0.30000000000000004}\n");
    }

    @Test
    void what_a_type_does_not_have_is_refused_before_anything_is_read() {
        Map<Aggregate, String> wrong = Map.of(
                Aggregate.sum("tail"),
                        "sum takes numbers and durations; field 'tail' is of type string",
                Aggregate.avg("departure"),
                        "avg takes numbers and durations; field 'departure' is of type datetime",
                Aggregate.max("place"),
                        "max takes values that have an order; field 'place' is of type point",
                Aggregate.variance("carrier"),
                        "var takes numbers; field 'carrier' is of type string",
                Aggregate.sum("nothing"), "aggregate names field 'nothing', which is not declared");
        wrong.forEach((aggregate, message) -> assertThatThrownBy(
                        () -> query().aggregate(aggregate).run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message));
        assertThatThrownBy(() -> query().groupBy("tail")
                        .aggregate(Aggregate.sum("delay").as("tail"))
                        .run())
                .hasMessageContainingAll("two fields named 'tail'");
        assertThatThrownBy(() ->
                        query().select("tail").aggregate(Aggregate.count()).run())
                .hasMessageContaining("select names fields of records");
        assertThatThrownBy(() ->
                        query().aggregate(Aggregate.count()).orderBy("count").run())
                .hasMessageContaining("a summary is one row");
        assertThatThrownBy(() -> query().groupBy("tail")
                        .aggregate(Aggregate.sum("delay"))
                        .orderBy("count")
                        .run())
                .hasMessage("order names 'count'; groups are ordered by tail, sum_delay");
        assertThatThrownBy(() -> query().near("place", 0, 0)
                        .limit(1)
                        .aggregate(Aggregate.count())
                        .run())
                .hasMessageContaining("near gives records");
        assertThatThrownBy(() -> new Aggregate(Aggregate.Function.SUM, null, "x"))
                .hasMessage("sum needs a field that it is made of");
        assertThatThrownBy(() -> Aggregate.count().as("")).hasMessage("a result needs a name");
        Aggregate[] many = new Aggregate[65];
        for (int i = 0; i < many.length; i++) {
            many[i] = Aggregate.sum("delay").as("s" + i);
        }
        assertThatThrownBy(() -> query().aggregate(many).run())
                .hasMessage("65 aggregates are more than the limit of 64");
    }

    @Test
    void values_that_outgrow_their_room_and_memory_come_out_right() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        RunOptions small = RunOptions.defaults()
                .withMemoryBytesMax(RunOptions.MEMORY_BYTES_MIN)
                .withSpill(disk, "spill");
        String last = "";
        for (int i = 0; i < 600; i++) {
            last = "x".repeat(i % 300) + i;
            flights.upsert(Flights.flight(i, "tail", "N" + i % 3, "name", last));
        }
        Query asked = query().groupBy("tail")
                .aggregate(
                        Aggregate.max("name"),
                        Aggregate.min("name"),
                        Aggregate.countDistinct("name"));
        String expected = Flights.json(asked);
        assertThat(expected).contains("x".repeat(299), "\"count_distinct_name\":200");
        assertThat(Flights.json(asked.with(small))).isEqualTo(expected);
        assertThat(disk.stepCount()).isPositive();
        assertThat(disk.files()).isEmpty();
        assertThat(disk.openHandles()).isEmpty();
    }
}
