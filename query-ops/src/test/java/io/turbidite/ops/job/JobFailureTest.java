package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.sim.ForwardingTasks;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Whatever fails, and wherever: the job ends with that failure and leaves nothing behind. What
 * holds memory, threads and files is looked for after each test.
 */
class JobFailureTest {
    private static final int ROWS = 1_200;
    private static final int BATCHES = 50;

    private final MemorySource flights = JobFixture.flights(ROWS);
    private final MemorySource airports = JobFixture.airports();
    private final SimDisk disk = new SimDisk(1, Profile.STRICT);

    /** Tells where the operator is made to fail. */
    private enum At {
        OPEN,
        BATCH,
        NEXT,
        END,
        CLOSE
    }

    /** For the test. */
    private static final class Planted extends RuntimeException {
        private static final long serialVersionUID = 1;

        Planted(String message) {
            super(message);
        }
    }

    /** Passes rows on, and fails once. */
    private static final class Failing extends JobRunTestOperators.Passing {
        private final At at;
        private final long count;
        private long rows;
        private boolean opened;

        Failing(At at, long count) {
            this.at = at;
            this.count = count;
        }

        private void failAt(At here) {
            if (here == at) {
                throw new Planted("at " + here);
            }
        }

        @Override
        public void open(int partition, int partitionCount) {
            opened = true;
            failAt(At.OPEN);
        }

        @Override
        public void row(int input, RecordView given) {
            if (rows++ >= count) {
                failAt(At.BATCH);
            }
            super.row(input, given);
        }

        @Override
        public @Nullable Slice next() {
            if (rows > count) {
                failAt(At.NEXT);
            }
            return super.next();
        }

        @Override
        public void end(int input) {
            failAt(At.END);
        }

        @Override
        public void close() {
            super.close();
            if (opened) {
                failAt(At.CLOSE);
            }
        }
    }

    /** The failing operator behind each kind of operator in turn, by one-to-one connectors. */
    private JobGraph graph(int place, At at, long count) {
        JobParts parts = JobParts.of(List.of(flights, airports))
                .withOperator("pass", JobRunTestOperators.Passing::new)
                .withOperator("fail", () -> new Failing(at, count));
        String[] kinds = new String[8];
        for (int i = 0; i < kinds.length; i++) {
            kinds[i] = i == place ? "fail" : "pass";
        }
        return JobGraph.builder(parts)
                .add(JobFixture.scan("f", 2))
                .add(JobOperator.of("p0", kinds[0]).on(2))
                .add(JobOperator.of("few", "select").with("where", "id >= 0").on(2))
                .add(JobOperator.of("p1", kinds[1]).on(2))
                .add(JobOperator.of("order", "sort")
                        .with("by", List.of("dest", "id"))
                        .on(2))
                .add(JobOperator.of("p2", kinds[2]).on(2))
                .add(JobOperator.of("a", "scan").with("dataset", "Airports").on(2))
                .add(JobOperator.of("p3", kinds[3]).on(2))
                .add(JobOperator.of("j", "join")
                        .with("type", "left")
                        .with("on", List.of("dest = code"))
                        .on(2))
                .add(JobOperator.of("p4", kinds[4]).on(2))
                .add(JobOperator.of("g", "group")
                        .with("by", List.of("dest", "id"))
                        .on(2))
                .add(JobOperator.of("p5", kinds[5]).on(2))
                .add(JobOperator.of("some", "limit").with("rows", ROWS * 2))
                .add(JobOperator.of("p6", kinds[6]))
                .add(JobOperator.of("u", "union"))
                .add(JobOperator.of("v", "scan")
                        .with("dataset", "Flights")
                        .with("select", List.of("dest")))
                .add(JobOperator.of("vg", "group").with("by", List.of("dest")))
                .add(JobOperator.of("ug", "group").with("by", List.of("dest")))
                .add(JobOperator.of("p7", kinds[7]))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("f", "p0"))
                .connect(JobConnector.roundRobin("p0", "few"))
                .connect(JobConnector.oneToOne("few", "p1"))
                .connect(JobConnector.oneToOne("p1", "order"))
                .connect(JobConnector.oneToOne("order", "p2"))
                .connect(JobConnector.hash("p2", "j", "dest"))
                .connect(JobConnector.oneToOne("a", "p3"))
                .connect(JobConnector.hash("p3", "j", "code").into(1))
                .connect(JobConnector.oneToOne("j", "p4"))
                .connect(JobConnector.hash("p4", "g", "dest"))
                .connect(JobConnector.oneToOne("g", "p5"))
                .connect(JobConnector.roundRobin("p5", "some"))
                .connect(JobConnector.oneToOne("some", "p6"))
                .connect(JobConnector.oneToOne("p6", "ug"))
                .connect(JobConnector.oneToOne("ug", "u"))
                .connect(JobConnector.oneToOne("v", "vg"))
                .connect(JobConnector.oneToOne("vg", "u").into(1))
                .connect(JobConnector.oneToOne("u", "p7"))
                .connect(JobConnector.oneToOne("p7", "out"))
                .build();
    }

    private RunOptions options(Tasks tasks) {
        return RunOptions.defaults()
                .withMemoryBytesMax(600_000)
                .withSpill(disk, "spill")
                .withTasks(tasks);
    }

    private void checkNothingIsLeft() {
        assertThat(flights.openCount.get()).isZero();
        assertThat(airports.openCount.get()).isZero();
        assertThat(!disk.exists("spill") || disk.list("spill").isEmpty()).isTrue();
    }

    private void failsWith(JobGraph graph, String message, long seed) {
        try (SimTasks tasks = new SimTasks(seed, new SimClock())) {
            assertThatThrownBy(() -> JobRunTest.lines(JobQuery.of(graph).with(options(tasks))))
                    .as("seed %d", seed)
                    .isInstanceOf(Planted.class)
                    .hasMessage(message);
            assertThat(tasks.workerCount()).isZero();
        }
        checkNothingIsLeft();
    }

    @Test
    void aFailureOfAnyOperatorAtAnyBatchEndsTheJob() {
        int step = Tier.count(10, 5, 1);
        for (int place = 0; place < 8; place++) {
            failsWith(graph(place, At.OPEN, 0), "at OPEN", place);
            failsWith(graph(place, At.END, 0), "at END", place);
            failsWith(graph(place, At.NEXT, 0), "at NEXT", place);
            failsWith(graph(place, At.CLOSE, 0), "at CLOSE", place);
            // p3 sees ten airports, p7 few groups
            int rows = place == 3 ? 4 : place == 7 ? 12 : ROWS / 4;
            for (int batch = 0; batch < BATCHES; batch += step) {
                failsWith(
                        graph(place, At.BATCH, (long) rows * batch / BATCHES),
                        "at BATCH",
                        place * 100L + batch);
            }
        }
    }

    @Test
    void aFailureOfASourceEndsTheJob() {
        for (int i = 0; i < BATCHES; i++) {
            JobGraph graph = graph(-1, At.OPEN, 0);
            flights.failAfterMoves = flights.moveCount.get() + i * 20;
            try (SimTasks tasks = new SimTasks(i, new SimClock())) {
                assertThatThrownBy(() -> JobRunTest.lines(JobQuery.of(graph).with(options(tasks))))
                        .isInstanceOf(CorruptionException.class);
                assertThat(tasks.workerCount()).isZero();
            } finally {
                flights.failAfterMoves = Integer.MAX_VALUE;
            }
            checkNothingIsLeft();
        }
    }

    @Test
    void whatFailsBesideTheFirstIsAttached() {
        JobParts parts =
                JobParts.of(List.of(flights)).withOperator("fail", () -> new Failing(At.CLOSE, 0));
        JobGraph graph = JobGraph.builder(parts)
                .add(JobFixture.scan("f", 4))
                .add(JobOperator.of("x", "fail").on(4))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("f", "x"))
                .connect(JobConnector.roundRobin("x", "out"))
                .build();
        AtomicInteger attached = new AtomicInteger();
        for (int seed = 0; seed < 20; seed++) {
            try (SimTasks tasks = new SimTasks(seed, new SimClock())) {
                // queues that are soon full, so that others are under way when one fails
                RunOptions few = options(tasks).withMemoryBytesMax(80_000);
                assertThatThrownBy(() -> JobRunTest.lines(JobQuery.of(graph).with(few)))
                        .isInstanceOf(Planted.class)
                        .satisfies(e -> {
                            assertThat(e.getSuppressed()).allMatch(Planted.class::isInstance);
                            attached.addAndGet(e.getSuppressed().length);
                        });
            }
            checkNothingIsLeft();
        }
        // where the second was opened before the first failed
        assertThat(attached).hasPositiveValue();
    }

    @Test
    void threadsEndWithTheJobThatFails() {
        for (int place = 0; place < 8; place++) {
            JobGraph graph = graph(place, At.BATCH, 3);
            try (Tasks tasks = ThreadTasks.create("jobs")) {
                assertThatThrownBy(() -> JobRunTest.lines(JobQuery.of(graph).with(options(tasks))))
                        .isInstanceOf(Planted.class);
            }
            checkNothingIsLeft();
        }
    }

    /** The reader is told of an end and comes at once; a worker that has failed is slow. */
    @Test
    void anEndIsNotToldBeforeTheFailureThatMadeIt() {
        for (At at : List.of(At.BATCH, At.NEXT, At.CLOSE)) {
            JobParts parts =
                    JobParts.of(List.of(flights)).withOperator("fail", () -> new Failing(at, 0));
            JobGraph graph = JobGraph.builder(parts)
                    .add(JobFixture.scan("f", 1))
                    .add(JobOperator.of("x", "fail"))
                    .add(JobFixture.result())
                    .connect(JobConnector.oneToOne("f", "x"))
                    .connect(JobConnector.roundRobin("x", "out"))
                    .build();
            Thread reader = Thread.currentThread();
            try (Tasks threads = ThreadTasks.create("jobs");
                    Tasks slow = new ForwardingTasks(threads) {
                        @Override
                        public void signal() {
                            super.signal();
                            if (!Thread.currentThread().equals(reader)) {
                                LockSupport.parkNanos(20_000_000);
                            }
                        }
                    }) {
                assertThatThrownBy(() -> JobRunTest.lines(JobQuery.of(graph).with(options(slow))))
                        .isInstanceOf(Planted.class)
                        .hasMessage("at " + at);
            }
            checkNothingIsLeft();
        }
    }
}
