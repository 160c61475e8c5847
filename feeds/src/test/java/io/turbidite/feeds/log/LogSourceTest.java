package io.turbidite.feeds.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.job.JobConnector;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobOperator;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** A job reads a hash log, by scan and by chain, and gives what was put in. */
class LogSourceTest {
    private static final int RECORDS = 5_000;

    @TempDir
    private Path directory;

    private OpenLog open;
    private JobParts parts;

    private static String record(int i) {
        return "{\"id\":%d,\"kind\":\"k%d\",\"more\":[%d]}".formatted(i, i % 7, i);
    }

    @BeforeEach
    void fill() {
        HashLogOptions options = OpenLog.defaults()
                .withLog(LogOptions.of(new LogShape(256 << 10, 8, 64)).withFlushMicros(1_000));
        open = OpenLog.create(directory.resolve("log"), options);
        LogPsfs.parse(Map.of("kind", "field(kind)")).registerMissing(open.log());
        try (IngestSession session = open.log().openSession("test")) {
            for (int i = 0; i < RECORDS; i++) {
                byte[] json = record(i).getBytes(StandardCharsets.UTF_8);
                assertThat(session.append(MemorySegment.ofArray(json), 0, json.length))
                        .isTrue();
            }
            session.awaitDurable();
        }
        parts = JobParts.of(List.of()).withOperator("log", LogSource.of(open.log()));
    }

    @AfterEach
    void close() {
        open.close();
    }

    private JobGraph graph(JobOperator source) {
        return JobGraph.builder(parts)
                .add(source)
                .add(JobOperator.of("out", "result"))
                .connect(JobConnector.roundRobin(source.name(), "out"))
                .build();
    }

    private List<String> lines(JobOperator source, @Nullable Tasks tasks) {
        RunOptions options = RunOptions.defaults().toBuilder().tasks(tasks).build();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        JobGraph read = JobGraph.fromJson(graph(source).toJson(), parts);
        assertThat(read).isEqualTo(graph(source));
        try (QueryResult rows = JobQuery.of(read).with(options).run()) {
            rows.forEachJson(out);
        }
        String text = out.toString(StandardCharsets.UTF_8);
        return text.isEmpty() ? List.of() : Arrays.asList(text.split("\n"));
    }

    private static JobOperator log() {
        return JobOperator.of("events", "log");
    }

    private static List<String> newestFirst(int step, int rest) {
        List<String> records = new ArrayList<>();
        for (int i = RECORDS - 1; i >= 0; i--) {
            if (i % step == rest) {
                records.add(record(i));
            }
        }
        return records;
    }

    @Test
    void allRecordsAreThereAsRecords() {
        JobOperator all = log().with("fields", Map.of("id", "int64"));
        assertThat(lines(all, null)).isEqualTo(newestFirst(1, 0));
        try (Tasks tasks = ThreadTasks.create("jobs")) {
            assertThat(lines(all, tasks)).isEqualTo(newestFirst(1, 0));
        }
    }

    @Test
    void thoseOfAChainAreFound() {
        JobOperator some = log().with("psf", "kind")
                .with("value", "k3")
                .with("fields", Map.of("id", "int64", "kind", "string"));
        assertThat(lines(some, null)).hasSize(RECORDS / 7).allMatch(one -> one.contains("\"k3\""));
        assertThat(lines(some.with("where", "id < 20"), null)).hasSize(3);
        assertThat(lines(some.with("limit", 2), null)).hasSize(2);
    }

    @Test
    void textComesAsItIs() {
        assertThat(lines(log().with("limit", 1), null))
                .containsExactly(
                        "{\"record\":\"%s\"}".formatted(record(RECORDS - 1).replace("\"", "\\\"")));
    }

    @Test
    void groupsAreMadeOfALog() {
        JobGraph graph = JobGraph.builder(parts)
                .add(log().with("fields", Map.of("kind", "string")))
                .add(JobOperator.of("kinds", "group")
                        .with("by", List.of("kind"))
                        .on(2))
                .add(JobOperator.of("out", "result"))
                .connect(JobConnector.hash("events", "kinds", "kind"))
                .connect(JobConnector.merging("kinds", "out", "kind"))
                .build();
        try (Tasks tasks = ThreadTasks.create("jobs");
                QueryResult rows = JobQuery.of(graph)
                        .with(RunOptions.defaults().withTasks(tasks))
                        .run()) {
            assertThat(rows.toList())
                    .hasSize(7)
                    .contains(Map.of("kind", "k0", "count", 715L))
                    .contains(Map.of("kind", "k6", "count", 714L));
        }
    }

    @Test
    void aRecordOfAnotherTypeIsNamed() {
        assertThatThrownBy(() -> lines(log().with("fields", Map.of("kind", "int64")), null))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageMatching("(?s)the record at \\d+ of the log: .*kind.*");
    }

    /** A cursor that is left open would hold the log's memory, and records wait for that. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aJobThatIsLeftLetsTheLogGo() {
        try (QueryResult rows = JobQuery.of(graph(log())).run()) {
            assertThat(rows.next()).isTrue();
        }
        byte[] json = "{\"id\":1,\"kind\":\"%s\"}"
                .formatted("x".repeat(10_000))
                .getBytes(StandardCharsets.UTF_8);
        try (IngestSession session = open.log().openSession("more")) {
            // twice what the ring of pages has
            for (int i = 0; i < 400; i++) {
                session.append(MemorySegment.ofArray(json), 0, json.length);
            }
            assertThat(session.acceptedCount()).isEqualTo(400);
        }
    }

    @Test
    void wrongSettingsAreRefused() {
        refused(log().with("psf", "kind"), "'psf' and 'value' are given together");
        refused(log().with("fields", List.of("id")), "'fields' must be types by name");
        refused(log().with("fields", Map.of("id", 3)), "field 'id' needs a type as text");
        refused(log().with("limit", -1), "'limit' must be a whole number of 0 or more");
        refused(log().with("where", 1), "'where' must be a text");
        refused(log().with("dataset", "x"), "a log takes no setting 'dataset'");
        assertThatThrownBy(() -> lines(log().on(2), null))
                .hasMessageContaining("a log is read on one partition");
        assertThatThrownBy(() -> lines(log().with("psf", "none").with("value", "1"), null))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("none");
    }

    private void refused(JobOperator source, String message) {
        assertThatThrownBy(() -> graph(source))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("operator 'events': ")
                .hasMessageContaining(message);
    }
}
