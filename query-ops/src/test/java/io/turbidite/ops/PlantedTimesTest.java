package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.scan.Source;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** Times of operators, exactly, where a clock tells what each was made to take. */
class PlantedTimesTest {
    private static final int COUNT = 9_000;
    private static final long MOVE_NANOS = 300;
    private static final long STEP_NANOS = 7_000;
    private static final long LOOKUP_NANOS = 500;

    private final AtomicLong stepCount = new AtomicLong();

    private final PlantedClock clock = new PlantedClock();

    /** A move of a cursor takes its time, and so does a step of a stage, which asks for a stop. */
    private RunOptions options(MemorySource flights) {
        Flights.many(flights, COUNT);
        flights.onMove = () -> clock.take(MOVE_NANOS);
        return RunOptions.defaults().withClock(clock).withSideBySideRows(0).withStop(() -> {
            clock.take(STEP_NANOS);
            stepCount.incrementAndGet();
            return false;
        });
    }

    private static MemorySource flightsOfTwo() {
        return new MemorySource(Flights.TYPE, List.of("id"), List.of(), List.of(), 2);
    }

    /** Groups that two workers make, whose steps alone are counted. */
    private Query groupsOfTwo(MemorySource flights, Tasks tasks, String key, AtomicLong steps) {
        RunOptions options = options(flights).withTasks(tasks).withStop(() -> {
            clock.take(STEP_NANOS);
            steps.incrementAndGet();
            return false;
        });
        return Query.on((Source) flights)
                .usingScan()
                .groupBy(key)
                .aggregate(Aggregate.count().as("number"))
                .with(options);
    }

    /**
     * Each scan and each group has what its own workers took, what reads them the rest.
     *
     * @param top reads the groups of both sources
     * @param steps those of each source's groups
     */
    private void workersHaveTheirShares(
            Relation top, String reader, List<MemorySource> sources, List<AtomicLong> steps) {
        sources.forEach(source -> source.moveCount.set(0));
        long allBefore = clock.takenByAll();
        long before = clock.monotonicNanos();
        try (QueryResult result = top.run()) {
            result.toList();
            Explanation explanation = result.explain();
            List<Long> scans = nanosOfEach(explanation, "scan");
            List<Long> groups = new ArrayList<>(nanosOfEach(explanation, "group"));
            long ofReader =
                    reader.equals("group") ? groups.removeFirst() : nanos(explanation, reader);
            assertThat(scans)
                    .containsExactlyElementsOf(sources.stream()
                            .map(source -> source.moveCount.get() * MOVE_NANOS)
                            .toList());
            assertThat(groups)
                    .containsExactlyElementsOf(steps.stream()
                            .map(count -> count.get() * STEP_NANOS)
                            .toList());
            assertThat(explanation.operators().stream()
                            .mapToLong(step -> step.work().cpuNanos().orElse(0))
                            .sum())
                    .as("of all steps")
                    .isEqualTo(clock.takenByAll() - allBefore);
            assertThat(ofReader).isLessThanOrEqualTo(clock.monotonicNanos() - before);
        }
        assertThat(clock.monotonicNanos() - before)
                .as("of the reader, beside the workers")
                .isLessThan(COUNT * MOVE_NANOS);
    }

    private static List<Long> nanosOfEach(Explanation explanation, String operator) {
        return explanation.operators().stream()
                .filter(step -> step.name().equals(operator))
                .map(step -> step.work().cpuNanos().orElse(0))
                .toList();
    }

    private void groupsHaveTheirSteps(MemorySource flights, RunOptions options) {
        Query query = Query.on((Source) flights).usingScan().groupBy("tail").with(options);
        flights.moveCount.set(0);
        try (QueryResult result = query.run()) {
            assertThat(result.count()).isEqualTo(10);
            Explanation explanation = result.explain();
            assertThat(nanos(explanation, "scan")).isEqualTo(flights.moveCount.get() * MOVE_NANOS);
            assertThat(nanos(explanation, "group")).isEqualTo(stepCount.get() * STEP_NANOS);
        }
        assertThat(flights.openCount).hasValue(0);
    }

    private static long nanos(Explanation explanation, String operator) {
        return explanation.operators().stream()
                .filter(step -> step.name().equals(operator))
                .mapToLong(step -> step.work().cpuNanos().orElse(0))
                .sum();
    }

    @Test
    void of_one_thread() {
        // of one partition: who goes on to the next moves twice for one record
        MemorySource flights =
                new MemorySource(Flights.TYPE, List.of("id"), List.of(), List.of(), 1);
        groupsHaveTheirSteps(flights, options(flights));
    }

    @Test
    void of_workers_side_by_side() {
        try (ThreadTasks tasks = ThreadTasks.create("planted-times-test")) {
            MemorySource flights = Flights.source();
            groupsHaveTheirSteps(flights, options(flights).withTasks(tasks));
            assertThat(clock.monotonicNanos())
                    .as("of the reader, beside its workers")
                    .isLessThan(COUNT * MOVE_NANOS);
        }
    }

    @Test
    void of_workers_below_another_relation() {
        MemorySource left = flightsOfTwo();
        MemorySource right = flightsOfTwo();
        AtomicLong ofLeft = new AtomicLong();
        AtomicLong ofRight = new AtomicLong();
        List<MemorySource> both = List.of(left, right);
        List<AtomicLong> steps = List.of(ofLeft, ofRight);
        RunOptions timed = RunOptions.defaults().withClock(clock).withStop(() -> {
            clock.take(STEP_NANOS);
            return false;
        });
        try (ThreadTasks tasks = ThreadTasks.create("planted-times-test")) {
            Query lefts = groupsOfTwo(left, tasks, "tail", ofLeft);
            Query rights = groupsOfTwo(right, tasks, "tail", ofRight);
            workersHaveTheirShares(
                    Join.inner(lefts, Query.on(rights).select("tail", "number as other"))
                            .on("tail")
                            .with(timed),
                    "join",
                    both,
                    steps);
            steps.forEach(count -> count.set(0));
            workersHaveTheirShares(
                    SetOperation.unionAll(lefts, rights).with(timed), "union all", both, steps);
            steps.forEach(count -> count.set(0));
            workersHaveTheirShares(
                    Query.on(lefts).groupBy("number").with(timed),
                    "group",
                    List.of(left),
                    List.of(ofLeft));
        }
    }

    @Test
    void of_a_join_by_lookup() {
        MemorySource flights = flightsOfTwo();
        RunOptions options = options(flights);
        MemorySource tails = new MemorySource(
                RecordType.builder().field("tail", "string").build(),
                List.of("tail"),
                List.of(),
                List.of(),
                1);
        for (int i = 0; i < 7; i++) {
            tails.upsert(Map.of("tail", "N" + i));
        }
        tails.onMove = () -> clock.take(LOOKUP_NANOS);
        Join join = Join.left(
                        Query.on((Source) flights).usingScan().select("id", "tail"),
                        Query.on((Source) tails).select("tail as found"))
                .on("tail", "found")
                .byLookup()
                .with(options);
        flights.moveCount.set(0);
        try (QueryResult result = join.run()) {
            assertThat(result.count()).isEqualTo(COUNT);
            Explanation explanation = result.explain();
            assertThat(nanos(explanation, "lookup"))
                    .isEqualTo(tails.moveCount.get() * LOOKUP_NANOS);
            assertThat(tails.moveCount).hasValueGreaterThanOrEqualTo(COUNT);
            assertThat(rows(explanation, "join")).isEqualTo(COUNT);
            assertThat(rows(explanation, "lookup")).isEqualTo(COUNT / 10 * 7);
        }
    }

    /** Rows of the side that passes by are read beside the reader, those that are held by it. */
    @Test
    void of_workers_that_share_a_join() {
        MemorySource flights = flightsOfTwo();
        RunOptions options = options(flights);
        MemorySource tails = new MemorySource(
                RecordType.builder()
                        .field("tail", "string")
                        .field("kind", "int32")
                        .build(),
                List.of("tail"),
                List.of(),
                List.of(),
                1);
        for (int i = 0; i < 7; i++) {
            tails.upsert(Map.of("tail", "N" + i, "kind", i % 3));
        }
        // met by none, so that what holds them takes as long as what passes by
        for (int i = 0; i < COUNT / 2; i++) {
            tails.upsert(Map.of("tail", "X" + i, "kind", 1));
        }
        tails.onMove = () -> clock.take(LOOKUP_NANOS);
        Join join = Join.inner(Query.on((Source) flights).usingScan(), Query.on((Source) tails))
                .on("tail");
        try (ThreadTasks tasks = ThreadTasks.create("planted-times-test")) {
            for (Query query : List.of(
                    Query.on(join).groupBy("kind"), // of pairs
                    Query.on(join).where("id >= 0").groupBy("kind"))) {
                flights.moveCount.set(0);
                tails.moveCount.set(0);
                long allBefore = clock.takenByAll();
                long before = clock.monotonicNanos();
                try (QueryResult result = query.with(options.withTasks(tasks)).run()) {
                    assertThat(result.count()).isEqualTo(3);
                    Explanation explanation = result.explain();
                    List<Long> scans = nanosOfEach(explanation, "scan");
                    // rows within a stage are timed by a few samples, and cut down to the stage's
                    // time together: only their sum is exact
                    assertThat(scans.getFirst())
                            .isPositive()
                            .isLessThanOrEqualTo(flights.moveCount.get() * MOVE_NANOS * 51 / 50);
                    assertThat(scans.getLast() + nanos(explanation, "build")).isPositive();
                    assertThat(rows(explanation, "join")).isEqualTo(COUNT / 10 * 7);
                    assertThat(explanation.operators().stream()
                                    .mapToLong(step -> step.work().cpuNanos().orElse(0))
                                    .sum())
                            .as("of all steps")
                            .isEqualTo(clock.takenByAll() - allBefore);
                }
                long allNanos = clock.takenByAll() - allBefore;
                assertThat(clock.monotonicNanos() - before)
                        .as("of the reader, beside the workers")
                        .isLessThan(allNanos - COUNT * MOVE_NANOS);
            }
        }
        assertThat(flights.openCount).hasValue(0);
    }

    private static long rows(Explanation explanation, String operator) {
        return explanation.operators().stream()
                .filter(step -> step.name().equals(operator))
                .mapToLong(step -> step.actualRows().orElseThrow())
                .sum();
    }
}
