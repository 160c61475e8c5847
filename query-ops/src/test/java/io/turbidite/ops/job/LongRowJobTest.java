package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.scan.QueryMeans;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.Query;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.Map;

/** Rows that are longer than a frame wait for one another where there is no room for all. */
class LongRowJobTest {
    private static final int LONG_BYTES = 400_000;
    private static final long MEMORY_BYTES = 2 << 20;

    private final MemorySource flights = flights(40, LONG_BYTES);
    private final JobParts parts = JobParts.of(List.of(flights));
    private final List<String> expected = JobRunTest.sorted(JobRunTest.lines(Query.on(flights)));

    /** Every other one is a long one. */
    private static MemorySource flights(int count, int longBytes) {
        MemorySource flights = JobFixture.flights(0);
        for (int i = 0; i < count; i++) {
            flights.upsert(Map.of(
                    "id",
                    (long) i,
                    "dest",
                    "D" + i % 7,
                    "tail",
                    ("" + i % 10).repeat(i % 2 == 0 ? longBytes : 100)));
        }
        return flights;
    }

    private JobGraph graph(int scans, int passing, JobConnector into) {
        return JobGraph.builder(parts)
                .add(JobFixture.scan("f", scans))
                .add(JobOperator.of("p", "select").with("where", "id >= 0").on(passing))
                .add(JobFixture.result())
                .connect(into)
                .connect(JobConnector.roundRobin("p", "out"))
                .build();
    }

    private void check(JobGraph graph, RunOptions options) {
        assertThat(JobRunTest.sorted(JobRunTest.lines(JobQuery.of(graph).with(options))))
                .isEqualTo(expected);
        for (long seed = 1; seed <= 5; seed++) {
            try (SimTasks tasks = new SimTasks(seed, new SimClock())) {
                assertThat(JobRunTest.sorted(JobRunTest.lines(
                                JobQuery.of(graph).with(options.withTasks(tasks)))))
                        .isEqualTo(expected);
            }
        }
        try (Tasks tasks = ThreadTasks.create("long-rows")) {
            assertThat(JobRunTest.sorted(
                            JobRunTest.lines(JobQuery.of(graph).with(options.withTasks(tasks)))))
                    .isEqualTo(expected);
        }
        assertThat(flights.openCount).hasValue(0);
    }

    @Test
    @Timeout(60)
    void long_rows_pass_where_only_one_fits_at_a_time() {
        RunOptions options = RunOptions.defaults().withMemoryBytesMax(MEMORY_BYTES);
        check(graph(1, 1, JobConnector.roundRobin("f", "p")), options);
        check(graph(2, 2, JobConnector.roundRobin("f", "p")), options);
        check(graph(2, 2, JobConnector.hash("f", "p", "dest")), options);
    }

    @Test
    @Timeout(60)
    void what_long_rows_took_of_the_share_is_given_back() {
        try (ThreadTasks tasks = ThreadTasks.create("long-rows")) {
            QueryMemory memory = QueryMemory.of(
                    MemoryBudget.of(QueryMemory.BYTES_MIN).account("queries"),
                    tasks,
                    Clock.system());
            flights.means = new QueryMeans(memory, new SimDisk(1, Profile.STRICT), "spill", tasks);
            check(
                    graph(2, 2, JobConnector.hash("f", "p", "dest")),
                    RunOptions.defaults().withMemoryBytesMax(MEMORY_BYTES));
            assertThat(memory.bytesUsed()).isZero();
        }
    }

    @Test
    void a_row_that_fits_nowhere_is_refused() {
        JobGraph graph = graph(1, 1, JobConnector.roundRobin("f", "p"));
        RunOptions small = RunOptions.defaults().withMemoryBytesMax(LONG_BYTES);
        assertThatThrownBy(() -> JobRunTest.lines(JobQuery.of(graph).with(small)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("a row of 400,")
                .hasMessageContaining("does not fit the 400,000 bytes")
                .hasMessageContaining("raise memoryBytesMax");
    }
}
