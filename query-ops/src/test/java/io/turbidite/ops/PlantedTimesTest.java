package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.scan.Source;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Times of operators, exactly, where a clock tells what each was made to take. */
class PlantedTimesTest {
    private static final int COUNT = 9_000;
    private static final long MOVE_NANOS = 300;
    private static final long STEP_NANOS = 7_000;

    private final AtomicLong stepCount = new AtomicLong();

    /** What each thread was made to take. */
    private final ThreadLocal<long[]> taken = ThreadLocal.withInitial(() -> new long[1]);

    private final Clock clock = new Clock() {
        @Override
        public long wallMicros() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long monotonicNanos() {
            return taken.get()[0];
        }
    };

    /** A move of a cursor takes its time, and so does a step of a stage, which asks for a stop. */
    private RunOptions options(MemorySource flights) {
        Flights.many(flights, COUNT);
        flights.onMove = () -> taken.get()[0] += MOVE_NANOS;
        return RunOptions.defaults().withClock(clock).withSideBySideRows(0).withStop(() -> {
            taken.get()[0] += STEP_NANOS;
            stepCount.incrementAndGet();
            return false;
        });
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
            assertThat(taken.get()[0])
                    .as("of the reader, beside its workers")
                    .isLessThan(COUNT * MOVE_NANOS);
        }
    }
}
