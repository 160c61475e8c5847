package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Sinks put each row once, in whole batches, and nothing of a job that has failed before. */
class SinkTest {
    private static final int ROWS = 500;
    private static final int BATCH_ROWS = 7;

    private final MemorySource flights = JobFixture.flights(ROWS);
    private final MemorySource wide = new MemorySource(
            "Wide",
            RecordType.builder()
                    .field("note", "string?")
                    .field("delay", "double?")
                    .field("id", "int32")
                    .field("dest", "string")
                    .build(),
            List.of("id"),
            List.of(),
            List.of(),
            1);
    private final RecordedCatalog catalog =
            new RecordedCatalog(BATCH_ROWS, List.of(flights, wide, JobFixture.airports()));
    private final JobParts parts =
            JobParts.of(List.of(flights, JobFixture.airports())).changing(catalog);

    /** A scan by an exchange, a sink on some partitions, and the sum of their counts. */
    private JobGraph graph(JobOperator scan, JobOperator sink) {
        return JobGraph.builder(parts)
                .add(scan)
                .add(sink)
                .add(JobOperator.of("sum", "group")
                        .with("aggregates", List.of("sum(changed) as n")))
                .add(JobFixture.result())
                .connect(JobConnector.roundRobin(scan.name(), sink.name()))
                .connect(JobConnector.roundRobin(sink.name(), "sum"))
                .connect(JobConnector.oneToOne("sum", "out"))
                .build();
    }

    private static JobOperator sink(String kind, String dataset) {
        return JobOperator.of("put", kind).with("dataset", dataset);
    }

    private static JobOperator some() {
        return JobFixture.scan("f", 2).with("select", List.of("dest", "id", "delay"));
    }

    private List<String> run(JobGraph graph, @Nullable Tasks tasks) {
        RunOptions options = RunOptions.defaults().toBuilder().tasks(tasks).build();
        JobQuery job = JobQuery.of(graph).with(options);
        List<String> lines = JobRunTest.lines(job);
        assertThat(job.changed()).isEqualTo(Map.of("put", (long) ROWS));
        assertThat(flights.openCount.get()).isZero();
        return lines;
    }

    @Test
    void eachRowIsPutOnceInWholeBatches() {
        for (int partitions : new int[] {1, 3}) {
            for (String kind : List.of("insert", "upsert")) {
                JobGraph graph = graph(some(), sink(kind, "Wide").on(partitions));
                List<List<String>> seen = new ArrayList<>();
                seen.add(check(graph, kind, null));
                try (SimTasks tasks = new SimTasks(partitions, new SimClock())) {
                    seen.add(check(graph, kind, tasks));
                    assertThat(tasks.workerCount()).isZero();
                }
                try (Tasks tasks = ThreadTasks.create("sinks")) {
                    seen.add(check(graph, kind, tasks));
                }
                assertThat(seen).allMatch(seen.getFirst()::equals);
            }
        }
    }

    private List<String> check(JobGraph graph, String kind, @Nullable Tasks tasks) {
        catalog.written.clear();
        assertThat(run(graph, tasks)).containsExactly("{\"n\":%d}".formatted(ROWS));
        List<String> all = JobRunTest.sorted(catalog.all());
        assertThat(all).hasSize(ROWS).doesNotHaveDuplicates();
        assertThat(all).allMatch(one -> one.startsWith(kind + " {"));
        assertThat(all).contains(kind + " {delay=11.0, id=1, dest=D7}", kind + " {id=3, dest=D8}");
        assertThat(catalog.written).allMatch(batch -> batch.size() <= BATCH_ROWS);
        return all;
    }

    @Test
    void rowsOfTheTypeOfTheDatasetAreItsRecords() {
        JobGraph graph = graph(JobFixture.scan("f", 2), sink("upsert", "Flights"));
        assertThat(run(graph, null)).containsExactly("{\"n\":500}");
        assertThat(catalog.all()).contains("upsert {id=1, dest=D7, tail=N1, delay=11}");
    }

    @Test
    void keysAreDeleted() {
        JobGraph graph = graph(
                JobFixture.scan("f", 2).with("select", List.of("delay", "id")),
                sink("delete", "Flights").on(2));
        assertThat(run(graph, null)).containsExactly("{\"n\":500}");
        assertThat(catalog.all()).hasSize(ROWS).doesNotHaveDuplicates();
    }

    @Test
    void nothingIsPutOfWhatNobodyReads() {
        JobGraph graph = JobGraph.builder(parts)
                .add(some())
                .add(sink("upsert", "Wide"))
                .add(JobOperator.of("none", "limit").with("rows", 0))
                .add(JobFixture.result())
                .connect(JobConnector.roundRobin("f", "put"))
                .connect(JobConnector.oneToOne("put", "none"))
                .connect(JobConnector.oneToOne("none", "out"))
                .build();
        assertThat(JobRunTest.lines(JobQuery.of(graph))).isEmpty();
        assertThat(catalog.written).isEmpty();
    }

    @Test
    void whatWasWrittenBeforeAFailureIsTold() {
        for (int partitions : new int[] {1, 3}) {
            JobGraph graph = graph(some(), sink("insert", "Wide").on(partitions));
            for (int batches = -1; batches < ROWS / BATCH_ROWS; batches += 5) {
                catalog.written.clear();
                catalog.failAfter = batches;
                try (SimTasks tasks = new SimTasks(batches + 9, new SimClock())) {
                    JobQuery job = JobQuery.of(graph).with(RunOptions.defaults().withTasks(tasks));
                    assertThatThrownBy(() -> JobRunTest.lines(job))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageStartingWith("planted");
                    assertThat(tasks.workerCount()).isZero();
                    assertThat(catalog.written).hasSize(Math.max(0, batches));
                    assertThat(job.changed())
                            .isEqualTo(Map.of("put", (long) catalog.all().size()));
                }
                assertThat(flights.openCount.get()).isZero();
            }
        }
    }

    /** The rows of a worker that fails end as others do; those that came are no whole input. */
    @Test
    void theRestIsNotPutWhereTheSourceFails() {
        RecordedCatalog one = new RecordedCatalog(ROWS * 2, catalog.datasets());
        JobParts given = JobParts.of(List.of(flights)).changing(one);
        JobGraph graph = JobGraph.builder(given)
                .add(some())
                .add(sink("upsert", "Wide"))
                .add(JobFixture.result())
                .connect(JobConnector.roundRobin("f", "put"))
                .connect(JobConnector.oneToOne("put", "out"))
                .build();
        for (int moves = 0; moves < ROWS / 2; moves += 10) {
            flights.failAfterMoves = flights.moveCount.get() + moves;
            try (SimTasks tasks = new SimTasks(moves, new SimClock())) {
                assertThatThrownBy(() -> JobRunTest.lines(
                                JobQuery.of(graph).with(RunOptions.defaults().withTasks(tasks))))
                        .isInstanceOf(CorruptionException.class);
                assertThat(tasks.workerCount()).isZero();
            } finally {
                flights.failAfterMoves = Integer.MAX_VALUE;
            }
            assertThat(one.written).isEmpty();
            assertThat(flights.openCount.get()).isZero();
        }
    }

    /** As where a worker fails and ends while the sink waits for its next row. */
    @Test
    void theRestIsNotPutWhereTheJobEndsBesideIt() {
        AtomicBoolean stopped = new AtomicBoolean();
        RecordView row = new RecordView(wide.type())
                .wrap(new RecordWriter(wide.type()).write(Map.of("id", 1, "dest", "x")));
        Rows rows = new Rows() {
            private int count;

            @Override
            public boolean next() {
                stopped.set(count == 2);
                return count++ < 2;
            }

            @Override
            public boolean isPaused() {
                return false;
            }

            @Override
            public RecordView row() {
                return row;
            }

            @Override
            public void close() {
                // it holds nothing
            }
        };
        JobGraph graph = graph(some(), sink("upsert", "Wide"));
        ChangedCounts counts = graph.changedCounts();
        try (SinkRows sink = SinkKind.UPSERT.rows(
                new Settings(sink("upsert", "Wide")),
                wide.type(),
                parts,
                new SinkRows.Input(rows, 0, RunOptions.defaults().withStop(stopped::get)),
                counts)) {
            assertThatThrownBy(sink::next).isInstanceOf(CancellationException.class);
        }
        assertThat(catalog.written).isEmpty();
        assertThat(counts.all()).isEqualTo(Map.of("put", 0L));
    }

    @Test
    void aViewThatFailsToCloseEndsTheJob() {
        flights.failOnClose = true;
        JobGraph graph = graph(some(), sink("upsert", "Wide"));
        assertThatThrownBy(() -> JobRunTest.lines(JobQuery.of(graph)))
                .isInstanceOf(RuntimeException.class);
        assertThat(flights.openCount.get()).isZero();
    }

    @Test
    void aValueThatDoesNotFitNamesTheOperatorAndTheRow() {
        JobGraph graph = graph(
                JobFixture.scan("f", 1)
                        .with("where", "id = 40")
                        .with("select", List.of("id + 3000000000 as id", "dest")),
                sink("upsert", "Wide"));
        assertThatThrownBy(() -> JobRunTest.lines(JobQuery.of(graph)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(
                        "operator 'put': row 1: field 'id': 3000000040 is out of range for type int32");
        assertThat(catalog.written).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            upsert | Wyde | dest,id | there is no dataset 'Wyde'; is 'Wide' meant?
            upsert | Wide | dest | its rows have no field 'id', which is of the primary key of Wide: they have dest
            delete | Flights | dest | its rows have no field 'id', which is of the primary key of Flights
            delete | Wide | id | field 'id' of its rows is int64, and the primary key of Wide has int32: cast it
            insert | Wide | id | field 'dest' of Wide is required, and its rows have none
            insert | Wide | id,dest,tail | Wide declares no field 'tail', which its rows have
            upsert | Wide | id,dest,tail as delay | field 'delay' of Wide is double?, and that of its rows string?: cast it
            """)
    void aSinkThatCanNotBeIsRefused(String kind, String dataset, String select, String message) {
        JobOperator scan = JobFixture.scan("f", 2).with("select", List.of(select.split(",", -1)));
        assertThatThrownBy(() -> graph(scan, sink(kind, dataset)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("operator 'put': ")
                .hasMessageContaining(message);
    }

    @Test
    void aBroadcastIsNotPutTwice() {
        assertThatThrownBy(() -> JobGraph.builder(parts)
                        .add(some())
                        .add(sink("upsert", "Wide").on(2))
                        .add(JobFixture.result())
                        .connect(JobConnector.broadcast("f", "put"))
                        .connect(JobConnector.roundRobin("put", "out"))
                        .build())
                .hasMessage(
                        "operator 'put': each of its partitions has all rows, and would put all of them");
    }

    @Test
    void whereThereIsNothingToChangeItIsTold() {
        JobParts readers = JobParts.of(List.of(flights));
        String json = graph(some(), sink("upsert", "Wide")).toJson();
        assertThatThrownBy(() -> JobGraph.fromJson(json, readers))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("operator 'put': datasets can't be changed here");
        assertThat(JobGraph.fromJson(json, parts)).isEqualTo(graph(some(), sink("upsert", "Wide")));
        assertThat(JobGraph.changes(json)).isTrue();
        assertThat(JobGraph.changes(JobFixture.groups(parts, 1, 1).toJson())).isFalse();
    }

    @Test
    void aHostChangesNothing() {
        JobGraph graph = graph(some(), sink("upsert", "Wide"));
        assertThatThrownBy(() -> JobRunTest.lines(JobQuery.of(graph).on((_, _) -> {
                    throw new AssertionError("it is not asked");
                })))
                .hasMessage(
                        "operator 'put': upsert changes a dataset, which jobs of a host do not");
    }
}
