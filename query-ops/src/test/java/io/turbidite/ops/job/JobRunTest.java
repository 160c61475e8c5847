package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.Join;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.Order;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Relation;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;

/** Jobs give the rows that the same query gives, with and without workers. */
class JobRunTest {
    private final MemorySource flights = JobFixture.flights(3_000);
    private final MemorySource airports = JobFixture.airports();
    private final JobParts parts = JobParts.of(List.of(flights, airports));

    static List<String> lines(Relation relation) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (QueryResult rows = relation.run()) {
            rows.forEachJson(out);
        }
        String text = out.toString(StandardCharsets.UTF_8);
        return text.isEmpty() ? List.of() : Arrays.asList(text.split("\n"));
    }

    static List<String> sorted(List<String> lines) {
        List<String> copy = new ArrayList<>(lines);
        Collections.sort(copy);
        return copy;
    }

    /** By the reader alone, by simulated workers, by threads. */
    void check(JobGraph graph, List<String> expected, boolean isOrdered) {
        List<String> wanted = isOrdered ? expected : sorted(expected);
        List<String> alone = lines(JobQuery.of(graph));
        assertThat(isOrdered ? alone : sorted(alone)).isEqualTo(wanted);
        try (SimTasks tasks = new SimTasks(7, new SimClock())) {
            checkBy(tasks, graph, wanted, isOrdered);
            assertThat(tasks.workerCount()).isZero();
        }
        try (Tasks tasks = ThreadTasks.create("jobs")) {
            checkBy(tasks, graph, wanted, isOrdered);
        }
        assertThat(flights.openCount.get()).isZero();
        assertThat(airports.openCount.get()).isZero();
    }

    private static void checkBy(
            Tasks tasks, JobGraph graph, List<String> wanted, boolean isOrdered) {
        List<String> lines = lines(JobQuery.of(graph).with(RunOptions.defaults().withTasks(tasks)));
        assertThat(isOrdered ? lines : sorted(lines)).isEqualTo(wanted);
    }

    @Test
    void groupsOfPartitionsAreThoseOfAQuery() {
        List<String> expected = lines(Query.on(flights)
                .where("delay > 0")
                .groupBy("dest")
                .aggregate(
                        Aggregate.count(), Aggregate.sum("delay").as("late"), Aggregate.max("id")));
        assertThat(expected).hasSize(13);
        for (int scans : new int[] {1, 2, 5}) {
            for (int groups : new int[] {1, 2, 3}) {
                check(JobFixture.groups(parts, scans, groups), expected, true);
            }
        }
    }

    private static JobOperator airportScan(int partitions) {
        return JobOperator.of("a", "scan").with("dataset", "Airports").on(partitions);
    }

    private JobGraph join(String type, JobConnector left, JobConnector right) {
        return JobGraph.builder(parts)
                .add(JobFixture.scan("f", 2).with("select", List.of("id", "dest")))
                .add(airportScan(2))
                .add(JobOperator.of("j", "join")
                        .with("type", type)
                        .with("on", List.of("dest = code"))
                        .on(2))
                .add(JobFixture.result())
                .connect(left)
                .connect(right.into(1))
                .connect(JobConnector.roundRobin("j", "out"))
                .build();
    }

    @Test
    void joinsOfPartitionsAreThoseOfAQuery() {
        Query left = Query.on(flights).select("id", "dest");
        Query right = Query.on(airports);
        JobConnector hashed = JobConnector.hash("f", "j", "dest");
        JobConnector codes = JobConnector.hash("a", "j", "code");
        JobConnector all = JobConnector.broadcast("a", "j");
        check(
                join("inner", hashed, codes),
                lines(Join.inner(left, right).on("dest", "code")),
                false);
        check(join("full", hashed, codes), lines(Join.full(left, right).on("dest", "code")), false);
        check(
                join("left", JobConnector.roundRobin("f", "j"), all),
                lines(Join.left(left, right).on("dest", "code")),
                false);
        check(
                join("anti", JobConnector.oneToOne("f", "j"), all),
                lines(Join.anti(left, right).on("dest", "code")),
                false);
    }

    @Test
    void everyOperatorGivesWhatItsQueryGives() {
        JobGraph graph = JobGraph.builder(parts)
                .add(JobOperator.of("s", "search")
                        .with("dataset", "Flights")
                        .with("index", "by_dest")
                        .with("where", "dest = 'D3'")
                        .on(3))
                .add(JobOperator.of("late", "select")
                        .with("where", "delay > 10")
                        .on(3))
                .add(JobOperator.of("more", "assign")
                        .with("fields", List.of("delay * 60 as seconds"))
                        .on(2))
                .add(JobOperator.of("less", "project")
                        .with("fields", List.of("id", "seconds"))
                        .on(2))
                .add(JobOperator.of("order", "sort")
                        .with("by", List.of("seconds:desc", "id"))
                        .on(2))
                .add(JobOperator.of("some", "limit").with("rows", 7).with("offset", 2))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("s", "late"))
                .connect(JobConnector.roundRobin("late", "more"))
                .connect(JobConnector.oneToOne("more", "less"))
                .connect(JobConnector.oneToOne("less", "order"))
                .connect(JobConnector.merging("order", "some", "seconds:desc", "id"))
                .connect(JobConnector.oneToOne("some", "out"))
                .build();
        List<String> expected = lines(Query.on(flights)
                .where("dest = 'D3' and delay > 10")
                .select("id", "delay * 60 as seconds")
                .orderBy("delay", Order.DESC)
                .orderBy("id", Order.ASC)
                .limit(7)
                .offset(2));
        assertThat(expected).hasSize(7);
        check(graph, expected, true);
    }

    @Test
    void valuesAndUnionsAndOwnOperators() {
        JobParts own = parts.withOperator("pass", JobRunTestOperators.Passing::new);
        JobOperator values = JobOperator.of("v", "values")
                .with("fields", Map.of("code", "string?"))
                .with("rows", List.of(Map.of("code", "X"), Map.of("code", "Y")));
        JobGraph graph = JobGraph.builder(own)
                .add(values)
                .add(airportScan(3).with("select", List.of("code")))
                .add(JobOperator.of("p", "pass").on(3))
                .add(JobOperator.of("u", "union"))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("a", "p"))
                .connect(JobConnector.roundRobin("p", "u"))
                .connect(JobConnector.oneToOne("v", "u").into(1))
                .connect(JobConnector.oneToOne("u", "out"))
                .build();
        List<String> expected = new ArrayList<>(lines(Query.on(airports).select("code")));
        expected.add("{\"code\":\"X\"}");
        expected.add("{\"code\":\"Y\"}");
        check(graph, expected, false);
    }

    @Test
    void aSideThatIsNeverReadIsNeverOpened() {
        AtomicInteger made = new AtomicInteger();
        JobParts own = parts.withOperator("pass", () -> new JobRunTestOperators.Passing() {
            @Override
            public void open(int partition, int partitionCount) {
                made.incrementAndGet();
            }
        });
        JobGraph.Builder graph = JobGraph.builder(own)
                .add(JobFixture.scan("f", 2))
                .add(JobOperator.of("p", "pass").on(2))
                .add(airportScan(2).with("where", "code = 'nowhere'"))
                .add(JobOperator.of("j", "join")
                        .with("on", List.of("dest = code"))
                        .on(2))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("f", "p"))
                .connect(JobConnector.hash("p", "j", "dest"))
                .connect(JobConnector.hash("a", "j", "code").into(1))
                .connect(JobConnector.roundRobin("j", "out"));
        check(graph.build(), List.of(), false);
        assertThat(made).hasValue(0);
        int before = flights.moveCount.get();
        try (QueryResult rows = JobQuery.of(JobFixture.groups(parts, 2, 2)).run()) {
            assertThat(rows.rowType().names()).isEqualTo("dest, count, late, max_id");
        }
        assertThat(flights.moveCount).hasValue(before);
    }

    @Test
    void constraintsSayWhatIsReadByWhom() {
        JobGraph graph = constrained(List.of(3, 1), List.of(0, 2));
        check(graph, lines(Query.on(flights)), false);
        assertThatThrownBy(() ->
                        JobQuery.of(constrained(List.of(0), List.of(1, 2))).run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("operator 'f': no constraint lets it read partition 3 of the dataset");
        assertThatThrownBy(() -> JobQuery.of(constrained(List.of(0, 4), List.of(1, 2, 3)))
                        .run())
                .hasMessage(
                        "operator 'f': a constraint names partition 4 of the dataset: it has 4, from 0");
    }

    private JobGraph constrained(List<Integer> first, List<Integer> second) {
        return JobGraph.builder(parts)
                .add(JobFixture.scan("f", 2))
                .add(JobFixture.result())
                .connect(JobConnector.roundRobin("f", "out"))
                .constrain(new JobConstraint("f", 0, first))
                .constrain(new JobConstraint("f", 1, second))
                .build();
    }

    @Test
    void aLimitStopsAllProducers() {
        JobGraph graph = JobGraph.builder(parts)
                .add(JobFixture.scan("f", 4))
                .add(JobOperator.of("some", "limit").with("rows", 3))
                .add(JobFixture.result())
                .connect(JobConnector.roundRobin("f", "some"))
                .connect(JobConnector.oneToOne("some", "out"))
                .build();
        flights.moveCount.set(0);
        assertThat(lines(JobQuery.of(graph))).hasSize(3);
        assertThat(flights.moveCount.get()).isLessThan(3_000);
        assertThat(flights.openCount.get()).isZero();
    }

    @Test
    void aJobThatIsClosedOrStoppedLeavesNothing() {
        JobGraph graph = JobFixture.groups(parts, 3, 2);
        try (Tasks tasks = ThreadTasks.create("jobs")) {
            RunOptions options = RunOptions.defaults().withTasks(tasks);
            try (QueryResult rows = JobQuery.of(graph).with(options).run()) {
                assertThat(rows.next()).isTrue();
            }
            assertThatThrownBy(() -> lines(JobQuery.of(graph).with(options.withStop(() -> true))))
                    .isInstanceOf(CancellationException.class);
        }
        assertThat(flights.openCount.get()).isZero();
    }

    @Test
    void memoryThatDoesNotDoIsToldBefore() {
        JobGraph graph = JobFixture.groups(parts, 16, 16);
        assertThatThrownBy(() -> JobQuery.of(graph)
                        .with(RunOptions.defaults().withMemoryBytesMax(100_000))
                        .run())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("frames between its workers needs");
        assertThat(flights.openCount.get()).isZero();
    }

    @Test
    void theExplanationCountsRows() {
        try (QueryResult rows = JobQuery.of(JobFixture.groups(parts, 2, 2)).run()) {
            assertThat(rows.count()).isEqualTo(13);
            assertThat(rows.explain().toString()).contains("scan").contains("group");
        }
    }
}
