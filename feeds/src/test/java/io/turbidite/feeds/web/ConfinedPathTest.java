package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Directories that clients name for the regions of an index lie below that of the server. */
class ConfinedPathTest {
    private static final String FEED = """
            feed: numbers
            dataset:
              name: Numbers
              type: { id: int64, n: int64 }
              primaryKey: id
              maintenance: validation
              indexes:
                - { name: by_n, kind: pm, on: n, path: %s }
            source: { kind: file, path: %s }
            parser: { kind: json }
            """;

    @TempDir
    private Path directory;

    @TempDir
    private Path outside;

    private Path below;

    private final Token.Made manager = Token.make(
            "manager",
            EnumSet.of(Right.READ, Right.WRITE, Right.MANAGE),
            List.of("*"),
            List.of("*"));

    @BeforeEach
    void make() throws IOException {
        below = Files.createDirectories(directory.resolve("regions"));
        Files.createSymbolicLink(directory.resolve("link"), outside);
        Files.writeString(directory.resolve("numbers.json"), "{\"id\":1,\"n\":2}\n");
    }

    private ServedStore serve() throws IOException {
        return ServedStore.open(
                directory, HttpOptions.defaults(), Gate.of(List.of(manager.kept()), false));
    }

    private HttpResponse<String> send(ServedStore served, String method, String path, String body)
            throws Exception {
        return served.send(served.request(path)
                .header("Authorization", "Bearer " + manager.text())
                .method(method, BodyPublishers.ofString(body))
                .build());
    }

    private HttpResponse<String> statement(ServedStore served, String text) throws Exception {
        return send(
                served,
                "POST",
                "/v1/stores/one/sql",
                "{\"statement\":\"%s\"}".formatted(text.replace("\"", "\\\"")));
    }

    private void assertOutsideIsEmpty() throws IOException {
        try (Stream<Path> files = Files.list(outside)) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void without_a_directory_for_files_no_path_is_taken() throws Exception {
        Map<String, String> bodies = Map.of(
                "/v1/stores/one/backup",
                "{\"directory\":\"%s\"}".formatted(below.resolve("b")),
                "/v1/stores/one/sql",
                "{\"statement\":\"create index more on T (text) using pm with (\\\"path\\\" = '%s')\"}"
                        .formatted(below),
                "/v1/feeds/numbers?store=one",
                FEED.formatted(below, directory.resolve("numbers.json")));
        try (ServedStore served = serve();
                WebServer server = served.anotherServerWithoutFiles()) {
            for (Map.Entry<String, String> body : bodies.entrySet()) {
                HttpResponse<String> answer =
                        served.send(HttpRequest.newBuilder(ServedStore.uri(server, body.getKey()))
                                .header("Authorization", "Bearer " + manager.text())
                                .method(
                                        body.getKey().contains("feeds") ? "PUT" : "POST",
                                        BodyPublishers.ofString(body.getValue()))
                                .build());
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(403);
                assertThat(answer.body())
                        .contains("reads and writes no files for clients", "--files DIR");
            }
            assertThat(Files.exists(below.resolve("b"))).isFalse();
        }
    }

    @Test
    void a_statement_makes_no_region_outside() throws Exception {
        try (ServedStore served = serve()) {
            for (Path path : List.of(outside, directory.resolve("link"))) {
                HttpResponse<String> index = statement(
                        served,
                        "create index more on T (text) using pm with (\"path\" = '%s')"
                                .formatted(path));
                assertThat(index.statusCode()).as(index.body()).isEqualTo(403);
                assertThat(index.body()).contains("'path' leads out of the directory");
            }
            HttpResponse<String> right = statement(
                    served,
                    "create index more on T (text) using pm with (\"path\" = '%s')"
                            .formatted(below));
            assertThat(right.statusCode()).as(right.body()).isEqualTo(200);
            assertOutsideIsEmpty();
        }
    }

    @Test
    void a_feed_of_kafka_refers_to_no_file_outside_and_to_no_variable_of_others() throws Exception {
        String definition = """
                feed: orders
                dataset: { name: O, type: { id: string }, primaryKey: id }
                source: { kind: kafka, bootstrap: "127.0.0.1:1", topics: o, group: g, %s }
                parser: { kind: json }
                """;
        String file = outside.resolve("login").toString();
        try (ServedStore served = serve()) {
            for (String option : List.of(
                    "sasl.jaas.config: \"${file:%s}\"".formatted(file),
                    "client.id: \"${file:../login}\"",
                    "ssl.truststore.location: " + file)) {
                HttpResponse<String> feed = send(
                        served, "PUT", "/v1/feeds/orders?store=two", definition.formatted(option));
                assertThat(feed.statusCode()).as(feed.body()).isEqualTo(403);
                assertThat(feed.body()).contains("leads out of the directory");
            }
            HttpResponse<String> variable = send(
                    served,
                    "PUT",
                    "/v1/feeds/orders?store=two",
                    definition.formatted("client.id: \"${env:HOME}\""));
            assertThat(variable.statusCode()).as(variable.body()).isEqualTo(400);
            assertThat(variable.body()).contains("TURBIDITE_");
        }
    }

    @Test
    void a_feed_of_avro_names_no_schema_outside() throws Exception {
        try (ServedStore served = serve()) {
            for (String path : List.of(outside.resolve("o.avsc").toString(), "../o.avsc")) {
                HttpResponse<String> feed =
                        send(served, "PUT", "/v1/feeds/orders?store=two", """
                        feed: orders
                        dataset: { name: O, type: { id: string }, primaryKey: id }
                        source: { kind: kafka, bootstrap: "127.0.0.1:1", topics: o, group: g }
                        parser: { kind: avro, schemas: { 7: "%s" } }
                        """.formatted(path));
                assertThat(feed.statusCode()).as(feed.body()).isEqualTo(403);
                assertThat(feed.body()).contains("'parser.schemas' leads out of the directory");
            }
        }
    }

    @Test
    void a_feeds_definition_makes_no_region_outside_and_nothing_is_looked_for_there()
            throws Exception {
        try (ServedStore served = serve()) {
            for (String path : List.of(
                    outside.toString(),
                    directory.resolve("link").toString(),
                    outside.resolve("none").toString())) {
                HttpResponse<String> feed = send(
                        served,
                        "PUT",
                        "/v1/feeds/numbers?store=two",
                        FEED.formatted(path, "numbers.json"));
                assertThat(feed.statusCode()).as(feed.body()).isEqualTo(403);
                assertThat(feed.body()).contains("'path' leads out of the directory");
            }
            HttpResponse<String> right = send(
                    served,
                    "PUT",
                    "/v1/feeds/numbers?store=two",
                    FEED.formatted(below, "numbers.json"));
            assertThat(right.statusCode()).as(right.body()).isEqualTo(200);
            assertOutsideIsEmpty();
        }
    }
}
