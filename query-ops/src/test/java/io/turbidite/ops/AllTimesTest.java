package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.scan.Source;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.window.WindowFunction;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Each step of each kind of plan has its time, and all together have what was taken. The sources
 * are so small that each call is timed: nothing is left to samples.
 */
class AllTimesTest {
    private static final int COUNT = 6;
    private static final long MOVE_NANOS = 300;

    /** Done in one go with the records that they look at, or give on: these have the time. */
    private static final Set<String> IN_ONE_GO = Set.of("select", "project", "re-check", "limit");

    /** Several indexes are searched in one go with the intersection of what they have. */
    private static final Set<String> IN_ONE_GO_TOO =
            Set.of("select", "project", "re-check", "limit", "search");

    /** Steps that all plans together have. */
    private static final Set<String> KINDS = Set.of(
            "build",
            "count",
            "distinct",
            "either",
            "except",
            "fetch",
            "get",
            "group",
            "intersect",
            "join",
            "limit",
            "lookup",
            "nothing",
            "offset",
            "order",
            "project",
            "re-check",
            "scan",
            "search",
            "select",
            "sort-distinct",
            "top",
            "union",
            "union all",
            "unnest",
            "values",
            "window");

    private static final RecordType TAGGED = RecordType.builder()
            .field("id", "int64")
            .field("tail", "string")
            .field("tags", "[string]?")
            .build();

    private final PlantedClock clock = new PlantedClock();
    private final Map<String, Relation> plans = new LinkedHashMap<>();

    private MemorySource flights(int partitionCount, int count) {
        MemorySource flights = new MemorySource(
                Flights.TYPE,
                List.of("id"),
                List.of("departure"),
                Flights.source().indexes(),
                partitionCount);
        Flights.many(flights, count);
        flights.onMove = () -> clock.take(MOVE_NANOS);
        return flights;
    }

    private MemorySource tagged() {
        MemorySource tagged = new MemorySource(TAGGED, List.of("id"), List.of(), List.of(), 1);
        for (long id = 0; id < COUNT / 2; id++) {
            tagged.upsert(Map.of("id", id, "tail", "N" + id, "tags", List.of("a", "b")));
        }
        tagged.onMove = () -> clock.take(MOVE_NANOS);
        return tagged;
    }

    private Query on(MemorySource source) {
        return Query.on((Source) source);
    }

    private void plans(MemorySource flights, MemorySource tagged) {
        plans.put("scan", on(flights).usingScan().where("delay > 0").select("id", "tail"));
        plans.put("get", on(flights).where("id = 3").select("tail"));
        plans.put("nothing", on(flights).where("id = 3 and id = 4"));
        plans.put("fetch", on(flights).usingIndex("by_tail").where("tail >= 'N2'"));
        plans.put(
                "doubtful fetch",
                on(flights).usingIndex("by_carrier").where("carrier = 'UA' and delay > 0"));
        plans.put(
                "intersect",
                on(flights)
                        .usingIndexes("by_tail", "by_carrier")
                        .where("tail >= 'N2' and carrier = 'UA'"));
        MemorySource many = flights(1, 3_000);
        plans.put("either", on(many).where("id = 1 or id = 2800"));
        plans.put("either of a list", on(many).where("id in (1, 2800)"));
        plans.put(
                "entries",
                on(flights).usingIndex("by_tail").where("tail > 'N1'").count());
        plans.put(
                "common entries",
                on(flights)
                        .usingIndexes("by_tail", "by_carrier")
                        .where("tail >= 'N2' and carrier = 'UA'")
                        .count());
        plans.put("count", on(flights).usingScan().count());
        plans.put("groups", on(flights).usingScan().groupBy("tail").orderBy("tail"));
        plans.put("top", on(flights).usingScan().orderBy("delay").limit(3));
        plans.put("limit", on(flights).usingScan().limit(3).offset(1));
        plans.put("distinct", on(flights).usingScan().select("delay").distinct());
        Query all = on(flights).usingScan().select("id", "tail", "delay");
        plans.put("rows of rows", Query.on(all).where("delay > 0").select("id").limit(2));
        plans.put("limit of rows", Query.on(all).limit(2));
        Query counted = on(flights).usingScan().aggregate(Aggregate.count().as("number"));
        plans.put("union of aggregates", SetOperation.unionAll(counted, counted));
        plans.put("union", SetOperation.union(all, all));
        plans.put("except", SetOperation.except(all, Query.on(all).where("delay > 0")));
        plans.put("intersection", SetOperation.intersect(all, all));
        plans.put("values", Values.of(TAGGED, List.of(Map.of("id", 1L, "tail", "x"))));
        plans.put("unnest", Unnest.of(on(tagged), "tags", "tag"));
        plans.put("window", Window.of(all).partitionBy("tail").add(WindowFunction.rowNumber()));
        Query tails = on(tagged).select("id as number", "tail");
        plans.put("join", Join.inner(all, tails).on("tail"));
        plans.put("left join", Join.left(all, tails).on("tail"));
        plans.put("group of join", Query.on(Join.inner(all, tails).on("tail")).groupBy("tail"));
        plans.put("semi join", Join.semi(all, tails).on("tail"));
        plans.put(
                "lookup",
                Join.left(all, on(tagged).select("id as number"))
                        .on("id", "number")
                        .byLookup());
        plans.put(
                "three",
                Join.inner(
                                Join.inner(all, tails).on("tail"),
                                on(tagged).select("id as third", "tail"))
                        .on("tail"));
    }

    private void haveTheirTimes(RunOptions options) {
        Set<String> all = new TreeSet<>();
        plans.forEach((name, plan) -> {
            Set<String> kinds = new TreeSet<>();
            long before = clock.takenByAll();
            try (QueryResult result = plan.with(options).run()) {
                result.toList();
                Explanation explanation = result.explain();
                long taken = clock.takenByAll() - before;
                List<String> lacking = new ArrayList<>();
                long sum = 0;
                for (Explanation.Operator step : explanation.operators()) {
                    kinds.add(step.name());
                    sum += step.work().cpuNanos().orElse(0);
                    if (step.work().cpuNanos().isEmpty()) {
                        lacking.add(step.name());
                    }
                }
                if (name.equals("rows of rows")) {
                    // the rows below have a time of their own
                    assertThat(lacking).containsExactly("limit", "project");
                }
                assertThat(kinds.contains("intersect") ? IN_ONE_GO_TOO : IN_ONE_GO)
                        .as("%s: %s", name, explanation)
                        .containsAll(lacking);
                assertThat(sum).as("%s: %s", name, explanation).isEqualTo(taken);
            }
            all.addAll(kinds);
        });
        assertThat(all).containsAll(KINDS);
    }

    @Test
    void of_one_thread() {
        plans(flights(1, COUNT), tagged());
        haveTheirTimes(RunOptions.defaults().withClock(clock));
    }

    @Test
    void of_workers_side_by_side() {
        plans(flights(2, COUNT), tagged());
        try (ThreadTasks tasks = ThreadTasks.create("all-times-test")) {
            haveTheirTimes(
                    RunOptions.defaults().withClock(clock).withSideBySideRows(0).withTasks(tasks));
        }
    }
}
