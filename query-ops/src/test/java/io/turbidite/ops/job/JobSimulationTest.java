package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Jobs under random schedules, where each queue holds one frame. */
class JobSimulationTest {
    private static final int ROWS = 1_500;

    private final MemorySource flights = JobFixture.flights(ROWS);
    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final MemorySource airports = JobFixture.airports();
    private final JobParts parts = JobParts.of(List.of(flights, airports))
            .withOperator("pass", JobRunTestOperators.Passing::new)
            .withOperator("thrice", Thrice::new);

    /** Gives each row three times. */
    private static final class Thrice extends JobRunTestOperators.Passing {
        private int left;

        @Override
        public void row(int input, RecordView given) {
            super.row(input, given);
            left = 3;
        }

        @Override
        public @Nullable Slice next() {
            return left-- > 0 ? shown() : null;
        }
    }

    /** A job on its way, and the views that it reads. */
    private static final class Run implements AutoCloseable {
        private final Map<Source, ReadView> views = new HashMap<>();
        private final JobRun rows;

        Run(JobGraph graph, RunOptions options, int capacity) {
            rows = (JobRun) graph.plan(
                            source -> views.computeIfAbsent(source, Source::openView),
                            options,
                            capacity)
                    .rows();
        }

        @Override
        public void close() {
            rows.close();
            views.values().forEach(ReadView::close);
        }
    }

    private static List<String> lines(Rows rows) {
        List<String> lines = new ArrayList<>();
        ByteSink json = new ByteSink(256, 1 << 20);
        while (rows.next()) {
            json.clear();
            rows.row().toJson(json);
            lines.add(new String(json.asSlice(new Slice()).toByteArray(), StandardCharsets.UTF_8));
        }
        return lines;
    }

    private JobGraph random(SplittableRandom random) {
        int some = 1 + random.nextInt(4);
        int others = 1 + random.nextInt(4);
        JobGraph.Builder graph = JobGraph.builder(parts)
                .add(JobFixture.scan("f", some).with("where", "id < " + random.nextInt(ROWS)))
                .add(JobOperator.of("own", random.nextBoolean() ? "pass" : "thrice")
                        .on(some))
                .connect(JobConnector.oneToOne("f", "own"))
                .add(JobFixture.result());
        switch (random.nextInt(4)) {
            case 0 ->
                graph.add(JobOperator.of("g", "group")
                                .with("by", List.of("dest", "tail"))
                                .with(
                                        "aggregates",
                                        List.of("count", "sum(id)", "count_distinct(delay)"))
                                .on(others))
                        .connect(JobConnector.hash("own", "g", "dest"))
                        .connect(JobConnector.merging("g", "out", "dest", "tail"));
            case 1 ->
                graph.add(JobOperator.of("a", "scan")
                                .with("dataset", "Airports")
                                .on(2))
                        .add(JobOperator.of("j", "join")
                                .with("on", List.of("dest = code"))
                                .with("type", random.nextBoolean() ? "left" : "full")
                                .on(others))
                        .add(JobOperator.of("s", "sort")
                                .with("by", List.of("id:desc", "code"))
                                .on(others))
                        .connect(JobConnector.hash("own", "j", "dest"))
                        .connect(JobConnector.hash("a", "j", "code").into(1))
                        .connect(JobConnector.oneToOne("j", "s"))
                        .connect(JobConnector.merging("s", "out", "id:desc", "code"));
            case 2 ->
                graph.add(JobOperator.of("r", "pass").on(others))
                        .add(JobOperator.of("more", "scan")
                                .with("dataset", "Flights")
                                .on(others))
                        .add(JobOperator.of("u", "union").on(others))
                        .connect(JobConnector.roundRobin("own", "r"))
                        .connect(JobConnector.oneToOne("r", "u"))
                        .connect(JobConnector.oneToOne("more", "u").into(1))
                        .connect(JobConnector.roundRobin("u", "out"));
            default ->
                graph.add(JobOperator.of("b", "group")
                                .with("by", List.of("dest"))
                                .with("partial", true)
                                .on(others))
                        .add(JobOperator.of("total", "group")
                                .with("by", List.of("dest"))
                                .with("aggregates", List.of("sum(count) as count")))
                        .connect(JobConnector.broadcast("own", "b"))
                        .connect(JobConnector.hash("b", "total", "dest"))
                        .connect(JobConnector.oneToOne("total", "out"));
        }
        return graph.build();
    }

    @Test
    void everyScheduleGivesTheSameRowsWithinTheBound() {
        long seed = Seeds.of("JobSimulationTest#everyScheduleGivesTheSameRowsWithinTheBound");
        for (int i = 0; i < Tier.count(20, 100, 1_000); i++) {
            SplittableRandom random = new SplittableRandom(Seeds.mix(seed, i));
            JobGraph graph = random(random);
            List<String> expected;
            // few rows a frame, so that queues fill
            RunOptions options =
                    RunOptions.defaults().withMemoryBytesMax(1 << 20).withSpill(disk, "spill");
            try (Run alone = new Run(graph, options, 4)) {
                expected = JobRunTest.sorted(lines(alone.rows));
            }
            try (SimTasks tasks = new SimTasks(random.nextLong(), new SimClock())) {
                try (Run run = new Run(graph, options.withTasks(tasks), 1)) {
                    assertThat(JobRunTest.sorted(lines(run.rows)))
                            .as("%s, seed %d", graph.draw(), i)
                            .isEqualTo(expected);
                    assertThat(run.rows.frameBytesPeak())
                            .isLessThanOrEqualTo(run.rows.frameBytesMax());
                }
                assertThat(tasks.workerCount()).isZero();
            }
            assertThat(flights.openCount.get()).isZero();
            assertThat(!disk.exists("spill") || disk.list("spill").isEmpty()).isTrue();
        }
    }

    @Test
    void aSlowReaderStopsTheProducers() {
        JobGraph graph = JobGraph.builder(parts)
                .add(JobFixture.scan("f", 2))
                .add(JobFixture.result())
                .connect(JobConnector.roundRobin("f", "out"))
                .build();
        RunOptions options = RunOptions.defaults().withMemoryBytesMax(40_000);
        try (SimTasks tasks = new SimTasks(1, new SimClock());
                Run run = new Run(graph, options.withTasks(tasks), 1)) {
            flights.moveCount.set(0);
            assertThat(run.rows.next()).isTrue();
            tasks.runUntilIdle();
            int moved = flights.moveCount.get();
            assertThat(moved).isBetween(1, ROWS / 2);
            tasks.runForMicros(10_000_000);
            assertThat(flights.moveCount).hasValue(moved);
            assertThat(lines(run.rows)).hasSize(ROWS - 1);
        }
    }

    @Test
    void noOperatorGoesAThousandRowsWithoutLooking() {
        long seed = Seeds.of("JobSimulationTest#noOperatorGoesAThousandRowsWithoutLooking");
        int stoppedCount = 0;
        for (int i = 0; i < Tier.count(10, 40, 400); i++) {
            SplittableRandom random = new SplittableRandom(Seeds.mix(seed, i));
            JobGraph graph = random(random);
            flights.moveCount.set(0);
            try (Run whole = new Run(graph, RunOptions.defaults(), 4)) {
                assertThat(lines(whole.rows)).isNotNull();
            }
            int moves = flights.moveCount.get();
            int stopAt = random.nextInt(moves + 1);
            AtomicLong seen = new AtomicLong(moves);
            flights.moveCount.set(0);
            try (SimTasks tasks = new SimTasks(random.nextLong(), new SimClock())) {
                RunOptions options = RunOptions.defaults().withTasks(tasks).withStop(() -> {
                    boolean stops = flights.moveCount.get() >= stopAt;
                    if (stops) {
                        seen.accumulateAndGet(flights.moveCount.get(), Math::min);
                    }
                    return stops;
                });
                try (Run run = new Run(graph, options, 1)) {
                    var _ = lines(run.rows);
                } catch (CancellationException e) {
                    stoppedCount++;
                }
                assertThat(tasks.workerCount()).isZero();
            }
            assertThat(seen.get() - stopAt).as("seed %d", i).isLessThanOrEqualTo(1_024);
            assertThat(flights.moveCount.get() - seen.get())
                    .as("seed %d", i)
                    .isLessThanOrEqualTo(1_024);
            assertThat(flights.openCount.get()).isZero();
        }
        assertThat(stoppedCount).isPositive();
    }

    @Test
    void aTimeoutEndsAJob() {
        JobGraph graph = JobFixture.groups(parts, 2, 2);
        SimClock clock = new SimClock();
        try (SimTasks tasks = new SimTasks(3, clock)) {
            long end = clock.monotonicNanos() + 100_000;
            RunOptions options = RunOptions.defaults()
                    .withTasks(tasks)
                    .withStop(() -> clock.monotonicNanos() > end);
            AtomicInteger rows = new AtomicInteger();
            try (Run run = new Run(graph, options, 1)) {
                assertThatThrownBy(() -> {
                            while (run.rows.next()) {
                                rows.incrementAndGet();
                                clock.advanceMicros(20);
                            }
                        })
                        .isInstanceOf(CancellationException.class);
            }
            assertThat(rows.get()).isLessThan(13);
        }
        assertThat(flights.openCount.get()).isZero();
    }
}
