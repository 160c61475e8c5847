package io.turbidite.it.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.log.OpenLog;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.ops.QueryResult;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The code in the documents runs and is the code that was run. */
class SamplesTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    @Test
    void the_first_store_finds_the_tweet(@TempDir Path directory) {
        assertThat(FirstStore.run(directory.resolve("store"))).isEqualTo(1);
    }

    @Test
    void the_first_log_finds_the_pushes_and_joins_them(@TempDir Path directory) {
        String lines = """
                {"id":1,"type":"PushEvent","actor":{"id":7}}
                {"id":2,"type":"ForkEvent","actor":{"id":7}}
                {"id":3,"type":"PushEvent","actor":{"id":8}}
                """;
        Path at = directory.resolve("log");
        assertThat(FirstLog.pushes(at, lines))
                .containsExactly(
                        "{\"id\":3,\"type\":\"PushEvent\",\"actor\":{\"id\":8}}",
                        "{\"id\":1,\"type\":\"PushEvent\",\"actor\":{\"id\":7}}");
        try (OpenLog open = OpenLog.openExisting(at, OpenLog.defaults());
                Store store = Store.open(directory.resolve("store"))) {
            Dataset users = store.createDataset(DatasetSpec.named("Users")
                    .field("id", "int64")
                    .field("country", "string?")
                    .primaryKey("id"));
            users.upsert(Map.of("id", 7L, "country", "IS"));
            users.upsert(Map.of("id", 8L, "country", "FO"));
            assertThat(FirstLog.joined(open.log(), users))
                    .singleElement()
                    .asString()
                    .startsWith("44 bytes beside ");
        }
    }

    @Test
    void queries_read_the_rows_of_others(@TempDir Path directory) {
        try (Store store = Store.open(directory)) {
            Dataset flights = store.createDataset(DatasetSpec.named("Flights")
                    .field("id", "int64")
                    .field("dest", "string?")
                    .field("delay", "int32?")
                    .primaryKey("id"));
            Dataset airports = store.createDataset(DatasetSpec.named("Airports")
                    .field("code", "string")
                    .field("city", "string?")
                    .primaryKey("code"));
            flights.upsert(Map.of("id", 1L, "dest", "JFK", "delay", 50));
            flights.upsert(Map.of("id", 2L, "dest", "JFK", "delay", 20));
            flights.upsert(Map.of("id", 3L, "dest", "LGA", "delay", 90));
            airports.upsert(Map.of("code", "JFK", "city", "New York"));
            airports.upsert(Map.of("code", "BOS", "city", "Boston"));
            assertThat(RowsOfRows.lateCities(flights, airports)).isEqualTo(1);
            try (QueryResult unused = RowsOfRows.unused(flights, airports).run()) {
                assertThat(unused.toList()).containsExactly(Map.of("code", "BOS"));
            }
        }
    }

    @Test
    void a_connection_asks_for_the_late_flights(@TempDir Path directory) throws SQLException {
        try (Store store = Store.open(directory)) {
            Dataset flights = store.createDataset(DatasetSpec.named("Flights")
                    .field("id", "int64")
                    .field("origin", "string?")
                    .field("dest", "string?")
                    .field("delay", "int32?")
                    .primaryKey("id"));
            flights.upsert(Map.of("id", 1L, "origin", "JFK", "dest", "BOS", "delay", 50));
            flights.upsert(Map.of("id", 2L, "origin", "JFK", "dest", "SFO", "delay", 90));
            flights.upsert(Map.of("id", 3L, "origin", "LGA", "dest", "BOS", "delay", 99));
            flights.upsert(Map.of("id", 4L, "origin", "JFK", "dest", "MIA", "delay", 5));
        }
        assertThat(FirstConnection.late(directory, "JFK", 30)).containsExactly("SFO 90", "BOS 50");
    }

    /** The address in the README is that of the driver. */
    @Test
    void the_line_of_the_README_connects(@TempDir Path directory) throws Exception {
        Store.open(directory.resolve("my-store")).close();
        Matcher line = Pattern.compile(
                        "DriverManager\\.getConnection\\(\"(jdbc:turbidite:)(my-store\\?readOnly=true)\"\\)")
                .matcher(document("README.md"));
        assertThat(line.find()).isTrue();
        try (Connection connection =
                DriverManager.getConnection(line.group(1) + directory + "/" + line.group(2))) {
            assertThat(connection.isReadOnly()).isTrue();
        }
    }

    @Test
    void a_job_with_an_operator_of_its_own_runs(@TempDir Path directory) {
        try (Store store = Store.open(directory)) {
            Dataset flights = store.createDataset(DatasetSpec.named("Flights")
                    .field("id", "int64")
                    .field("dest", "string")
                    .primaryKey("id"));
            for (long id = 0; id < 40; id++) {
                flights.upsert(Map.of("id", id, "dest", id % 2 == 0 ? "BOS" : "MIA"));
            }
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            assertThat(FirstJob.destinations(store, out)).isBetween(1L, 2L);
            assertThat(out.toString(StandardCharsets.UTF_8)).contains("\"dest\":");
        }
    }

    @Test
    void the_documents_show_the_code_that_runs() throws IOException {
        assertThat(document("README.md")).contains(sample("FirstStore", "README"));
        assertThat(document("docs/jdbc.md")).contains(sample("FirstConnection", "jdbc"));
        assertThat(document("docs/queries.md")).contains(sample("RowsOfRows", "relations"));
        assertThat(document("docs/operators.md"))
                .contains(sample("FirstJob", "operator"), sample("FirstJob", "job"));
        assertThat(document("docs/hashlog.md"))
                .contains(sample("FirstLog", "ingestion"), sample("FirstLog", "join"));
    }

    private static String document(String name) throws IOException {
        return Files.readString(ROOT.resolve(name));
    }

    /** What stands between the marks, without the indentation. */
    private static String sample(String type, String mark) throws IOException {
        String source =
                document("it-tests/src/main/java/io/turbidite/it/samples/" + type + ".java");
        String begin = "// begin " + mark + "\n";
        int from = source.indexOf(begin) + begin.length();
        int to = source.indexOf("        // end " + mark);
        return source.substring(from, to).stripTrailing().stripIndent().strip();
    }
}
