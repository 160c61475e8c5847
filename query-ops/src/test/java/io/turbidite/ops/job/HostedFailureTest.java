package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.MemorySource;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Jobs that fail or are stopped on nodes: the reader is told why, and all is let go. */
@LeaksOnPurpose("the engine keeps its threads and the log of its jobs")
class HostedFailureTest {
    private static final int FLIGHTS = 3_000;

    private static HostedCluster three;
    private static final AtomicInteger OPEN = new AtomicInteger();

    @BeforeAll
    static void start(@TempDir Path directory) throws IOException {
        three = new HostedCluster(directory, 3, FLIGHTS, RunOptions.defaults());
    }

    @AfterAll
    static void stop() {
        three.close();
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(three.sources)
                .allSatisfy(source -> assertThat(source.openCount).hasValue(0));
        assertThat(three.nodes).allSatisfy(node -> assertThat(node.jobCount()).isZero());
        assertThat(OPEN).hasValue(0);
    }

    /** Passes rows on, and fails where its settings say. */
    static final class Failing extends JobRunTestOperators.Passing {
        private String at = "";
        private long count;
        private long rows;
        private boolean opened;

        @Override
        public RecordType type(List<RecordType> inputs, Map<String, Object> settings) {
            at = String.valueOf(settings.get("at"));
            count = settings.get("rows") instanceof Long n ? n : 0;
            return inputs.getFirst();
        }

        private void failAt(String here) {
            if (here.equals(at)) {
                throw new IllegalStateException("at " + here);
            }
        }

        @Override
        public void open(int partition, int partitionCount) {
            opened = true;
            OPEN.incrementAndGet();
            failAt("open");
        }

        @Override
        public void row(int input, RecordView given) {
            if (rows++ >= count) {
                failAt("row");
                if (at.equals("invalid")) {
                    throw new InvalidRequestException("no such thing");
                }
            }
            super.row(input, given);
        }

        @Override
        public @Nullable Slice next() {
            return super.next();
        }

        @Override
        public void end(int input) {
            failAt("end");
        }

        @Override
        public void close() {
            super.close();
            if (opened) {
                opened = false;
                OPEN.decrementAndGet();
                failAt("close");
            }
        }
    }

    /** The operator stands behind a source, between exchanges, or before the result. */
    static JobGraph graph(int place, String at, long rows) {
        JobParts parts = JobParts.of(List.of(JobFixture.flights(10), JobFixture.airports()))
                .withOperator("pass", JobRunTestOperators.Passing::new)
                .withOperator("fail", Failing::new);
        String[] kinds = {"pass", "pass", "pass"};
        kinds[place] = "fail";
        return JobGraph.builder(parts)
                .add(JobFixture.scan("f", 3))
                .add(operator("p0", kinds[0], at, rows).on(3))
                .add(operator("p1", kinds[1], at, rows).on(2))
                .add(JobOperator.of("g", "group")
                        .with("by", List.of("dest", "id"))
                        .on(2))
                .add(operator("p2", kinds[2], at, rows))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("f", "p0"))
                .connect(JobConnector.hash("p0", "g", "dest"))
                .connect(JobConnector.oneToOne("g", "p1"))
                .connect(JobConnector.roundRobin("p1", "p2"))
                .connect(JobConnector.oneToOne("p2", "out"))
                .build();
    }

    private static JobOperator operator(String name, String kind, String at, long rows) {
        JobOperator operator = JobOperator.of(name, kind);
        return kind.equals("fail") ? operator.with("at", at).with("rows", rows) : operator;
    }

    private static List<String> lines(JobGraph graph) {
        return JobRunTest.lines(JobQuery.of(graph).on(three.controller));
    }

    @Test
    void a_failure_anywhere_is_told_with_its_node_and_its_cause() {
        for (int place = 0; place < 3; place++) {
            for (String at : List.of("open", "row", "end", "close")) {
                JobGraph graph = graph(place, at, 7L * place);
                assertThatThrownBy(() -> lines(graph))
                        .as("%s of operator %d", at, place)
                        .isInstanceOf(HostedJobException.class)
                        .hasMessageMatching(
                                "node 'n[0-2]', stage '\\w+': IllegalStateException: at " + at);
                nothingIsLeft();
            }
        }
        assertThat(lines(graph(0, "nowhere", 0))).hasSize(FLIGHTS);
    }

    @Test
    void requests_that_cant_be_met_are_the_same_exceptions_as_embedded() {
        assertThatThrownBy(() -> lines(graph(1, "invalid", 5)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("no such thing");
        JobParts more = JobParts.of(List.of(JobFixture.flights(10)))
                .withOperator("here-alone", JobRunTestOperators.Passing::new);
        JobGraph unknown = JobGraph.builder(more)
                .add(JobFixture.scan("f", 3))
                .add(JobOperator.of("x", "here-alone").on(3))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("f", "x"))
                .connect(JobConnector.roundRobin("x", "out"))
                .build();
        assertThatThrownBy(() -> lines(unknown))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("there is no kind 'here-alone'");
    }

    @Test
    void who_reads_while_the_controller_is_closed_is_told(@TempDir Path directory)
            throws IOException {
        HostedCluster closing = new HostedCluster(directory, 3, FLIGHTS, RunOptions.defaults());
        JobGraph graph = graph(0, "nowhere", 0);
        try (QueryResult rows = JobQuery.of(graph).on(closing.controller).run()) {
            assertThat(rows.next()).isTrue();
            closing.controller.close();
            assertThatThrownBy(rows::count).hasMessageContaining("the controller was closed");
            assertThatThrownBy(() -> JobRunTest.lines(JobQuery.of(graph).on(closing.controller)))
                    .hasMessageContaining("the controller was closed");
        } finally {
            closing.close();
        }
    }

    @Test
    void a_failure_of_a_source_ends_the_job() {
        three.sources.getFirst().failAfterMoves =
                three.sources.getFirst().moveCount.get() + 40;
        try {
            assertThatThrownBy(() -> lines(graph(0, "nowhere", 0)))
                    .isInstanceOf(HostedJobException.class)
                    .hasMessageContaining("node 'n0'")
                    .hasMessageContaining("CorruptionException");
        } finally {
            three.sources.getFirst().failAfterMoves = Integer.MAX_VALUE;
        }
    }

    /** The engine has a stage behind a failed one take the failure for the end of its rows. */
    @Test
    void behind_a_failed_source_no_row_is_made() {
        JobGraph graph = JobGraph.builder(JobFixture.parts(10))
                .add(JobFixture.scan("f", 3))
                .add(JobOperator.of("groups", "group")
                        .with("by", List.of("dest"))
                        .with("aggregates", List.of("count"))
                        .on(3))
                .add(JobFixture.result())
                .connect(JobConnector.hash("f", "groups", "dest"))
                .connect(JobConnector.merging("groups", "out", "dest"))
                .build();
        MemorySource source = three.sources.getFirst();
        for (int run = 0; run < 50; run++) {
            source.failAfterMoves = source.moveCount.get() + 40 + run;
            try (QueryResult rows = JobQuery.of(graph).on(three.controller).run()) {
                assertThatThrownBy(rows::next)
                        .as("run %d", run)
                        .isInstanceOf(HostedJobException.class)
                        .hasMessageContaining("node 'n0', stage 'f': CorruptionException");
            } finally {
                source.failAfterMoves = Integer.MAX_VALUE;
            }
        }
    }

    @Test
    void a_view_that_fails_to_close_is_a_failure_of_the_job() {
        MemorySource source = three.sources.getFirst();
        source.failOnClose = true;
        try {
            assertThatThrownBy(() -> lines(graph(0, "nowhere", 0)))
                    .isInstanceOf(HostedJobException.class)
                    .hasMessageMatching("(?s)node 'n0', stage '.*': CorruptionException.*");
            assertThatThrownBy(() -> lines(graph(0, "row", 0)))
                    .isInstanceOf(HostedJobException.class)
                    .hasMessageContaining("IllegalStateException: at row");
        } finally {
            source.failOnClose = false;
        }
    }

    @Test
    void a_node_with_more_partitions_than_were_placed_is_not_read_in_part() {
        JobGraph graph = JobGraph.builder(JobParts.of(List.of(HostedCluster.uneven())))
                .add(JobOperator.of("f", "scan").with("dataset", "Uneven").on(3))
                .add(JobFixture.result())
                .connect(JobConnector.roundRobin("f", "out"))
                .build();
        assertThatThrownBy(() -> lines(graph))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageMatching("node 'n[0-2]' has 3 partitions of dataset 'Uneven',"
                        + " and the placement says 2");
    }

    /** Rows without end, so that whoever stops it stops it on its way. */
    private static JobGraph endless() {
        JobParts parts =
                JobParts.of(List.of(JobFixture.flights(10))).withOperator("endless", Endless::new);
        return JobGraph.builder(parts)
                .add(JobFixture.scan("f", 3))
                .add(JobOperator.of("e", "endless").on(3))
                .add(JobOperator.of("n", "select").with("where", "id >= 0").on(2))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("f", "e"))
                .connect(JobConnector.hash("e", "n", "dest"))
                .connect(JobConnector.roundRobin("n", "out"))
                .build();
    }

    /** Gives each row for ever. */
    static final class Endless extends JobRunTestOperators.Passing {
        static final AtomicInteger GIVEN = new AtomicInteger();

        @Override
        public @Nullable Slice next() {
            GIVEN.incrementAndGet();
            Slice row = super.next();
            return row == null && shown().length() > 0 ? shown() : row;
        }
    }

    @Test
    void a_reader_that_goes_ends_the_job_within_seconds() {
        long start;
        try (QueryResult rows = JobQuery.of(endless()).on(three.controller).run()) {
            for (int i = 0; i < 100; i++) {
                assertThat(rows.next()).isTrue();
            }
            // the senders wait for their reader: some frames are on their way, and no more
            assertThat(Endless.GIVEN.get()).isLessThan(1_000_000);
            start = Clock.system().monotonicNanos();
        }
        assertThat(Duration.ofNanos(Clock.system().monotonicNanos() - start))
                .isLessThan(Duration.ofSeconds(3));
    }

    @Test
    void who_reads_while_a_node_is_closed_is_told_and_it_joins_again() throws IOException {
        try (QueryResult rows = JobQuery.of(endless()).on(three.controller).run()) {
            assertThat(rows.next()).isTrue();
            three.nodes.get(2).close();
            assertThat(three.controller.nodes()).containsExactlyInAnyOrder("n0", "n1");
            assertThatThrownBy(rows::count)
                    .isInstanceOf(HostedJobException.class)
                    .hasMessage("node 'n2' has left, or was silent for too long");
        }
        assertThatThrownBy(() -> lines(graph(0, "nowhere", 0)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("node 'n2' is not there");
        three.joinAgain(2);
        assertThat(lines(graph(0, "nowhere", 0))).hasSize(FLIGHTS);
    }

    @Test
    void a_job_that_is_stopped_ends() {
        AtomicBoolean stop = new AtomicBoolean();
        try (QueryResult rows = JobQuery.of(endless())
                .on(three.controller)
                .with(RunOptions.defaults().withStop(stop::get))
                .run()) {
            assertThat(rows.next()).isTrue();
            stop.set(true);
            assertThatThrownBy(() -> {
                        while (rows.next()) {
                            // until it is told
                        }
                    })
                    .isInstanceOf(CancellationException.class);
        }
    }

    /** Puts a text of nearly 16 MiB into each row. */
    static final class Fattening extends JobRunTestOperators.Passing {
        static final RecordType TYPE =
                RecordType.builder().field("a", "string").field("b", "string").build();

        private final RecordWriter writer = new RecordWriter(TYPE);
        private @Nullable Slice fat;

        @Override
        public RecordType type(List<RecordType> inputs, Map<String, Object> settings) {
            return TYPE;
        }

        @Override
        public void row(int input, RecordView given) {
            String a = String.valueOf(given.get("a"));
            fat = Slice.of(
                    writer.write(Map.of("a", a, "b", a.repeat(Limits.RECORD_BYTES_MAX - 100)))
                            .toByteArray());
        }

        @Override
        public @Nullable Slice next() {
            Slice made = fat;
            fat = null;
            return made;
        }
    }

    @Test
    void rows_up_to_the_limit_of_records_pass() {
        JobParts parts = JobParts.of(List.of()).withOperator("fatten", Fattening::new);
        JobGraph graph = JobGraph.builder(parts)
                .add(JobOperator.of("v", "values")
                        .with("fields", Map.of("a", "string"))
                        .with("rows", List.of(Map.of("a", "x"), Map.of("a", "y"))))
                .add(JobOperator.of("fat", "fatten"))
                .add(JobOperator.of("order", "sort").with("by", List.of("a")).on(2))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("v", "fat"))
                .connect(JobConnector.hash("fat", "order", "a"))
                .connect(JobConnector.merging("order", "out", "a"))
                .build();
        try (QueryResult rows = JobQuery.of(graph).on(three.controller).run()) {
            for (String a : List.of("x", "y")) {
                assertThat(rows.next()).isTrue();
                assertThat(rows.row().get("a")).isEqualTo(a);
                assertThat(String.valueOf(rows.row().get("b")))
                        .hasSize(Limits.RECORD_BYTES_MAX - 100);
            }
            assertThat(rows.next()).isFalse();
        }
    }

    @Test
    void a_node_that_is_not_there_is_named_before() {
        // see HostedJobTest for constraints; a dataset that no node holds
        JobParts parts = JobParts.of(List.of(new MemorySource(
                "Elsewhere", JobFixture.FLIGHT, List.of("id"), List.of(), List.of(), 2)));
        JobGraph graph = JobGraph.builder(parts)
                .add(JobOperator.of("f", "scan").with("dataset", "Elsewhere"))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("f", "out"))
                .build();
        assertThatThrownBy(() -> lines(graph))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("operator 'f': no node holds a partition of dataset 'Elsewhere'");
    }
}
