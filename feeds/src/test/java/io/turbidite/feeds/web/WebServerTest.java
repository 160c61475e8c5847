package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.meter.Reading;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** What the routes answer, over sockets. */
class WebServerTest {
    @TempDir
    private Path directory;

    @Test
    void says_that_it_lives_and_that_its_stores_are_ready() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            assertThat(served.get("/health/live").body()).isEqualTo("{\"live\":true}\n");
            assertThat(served.get("/health/ready").body())
                    .isEqualTo("{\"ready\":true,\"reasons\":[]}\n");
        }
    }

    @Test
    void shows_the_stores_with_their_components_and_events() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            JsonNode list = ServedStore.json(served.get("/v1/stores").body());
            assertThat(list.at("/stores/0/name").asText()).isEqualTo("one");
            assertThat(list.at("/stores/1/name").asText()).isEqualTo("two");

            JsonNode one = ServedStore.json(served.get("/v1/stores/one").body());
            assertThat(one.at("/datasets/0/partitions/0/indexes/0/components/0/entries")
                            .asInt())
                    .isEqualTo(ServedStore.RECORD_COUNT);
            List<String> events = new ArrayList<>();
            one.at("/events").forEach(event -> events.add(event.at("/event").asText()));
            assertThat(events).contains("Flushed");
            long last = one.at("/lastEvent").asLong();
            JsonNode later =
                    ServedStore.json(served.get("/v1/stores/one?since=" + last).body());
            assertThat(later.at("/events")).isEmpty();
            assertThat(served.get("/v1/stores/three").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void a_client_that_comes_while_it_closes_is_let_go() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            for (int round = 0; round < 40; round++) {
                WebServer server = served.anotherServer();
                LateClients.areLetGo(server.addresses().getFirst(), round % 4, server);
            }
        }
    }

    @Test
    void gives_one_record() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            assertThat(served.get("/v1/stores/one/datasets/T/records/7").body())
                    .isEqualTo("{\"id\":7,\"n\":7,\"text\":\"text of 7\"}\n");
            assertThat(served.get("/v1/stores/one/datasets/T/records/-7").statusCode())
                    .isEqualTo(404);
            assertThat(served.get("/v1/stores/one/datasets/T/records/x").statusCode())
                    .isEqualTo(400);
            assertThat(served.get("/v1/stores/one/datasets/U/records/7").statusCode())
                    .isEqualTo(404);
        }
    }

    @Test
    void sends_rows_and_a_summary() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            HttpResponse<String> answer = served.post("/v1/stores/one/sql", """
                    {"statement":"select id from T where n = ? order by id","parameters":[3],"limit":2}""");
            assertThat(answer.statusCode()).isEqualTo(200);
            List<String> lines = answer.body().lines().toList();
            assertThat(lines).hasSize(3).startsWith("{\"id\":3}", "{\"id\":13}");
            JsonNode summary = ServedStore.json(lines.getLast()).at("/summary");
            assertThat(summary.at("/rows").asInt()).isEqualTo(2);
            assertThat(summary.at("/columns/0/name").asText()).isEqualTo("id");
        }
    }

    private static HttpResponse<String> rows(ServedStore served, String accept, String statement)
            throws Exception {
        return served.send(served.request("/v1/stores/one/sql")
                .header("Accept", accept)
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"statement\":\"%s\"}".formatted(statement)))
                .build());
    }

    @Test
    void rows_come_in_the_form_that_the_client_takes() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            served.store("one")
                    .dataset("T")
                    .upsert(Map.of("id", 900L, "n", 77, "text", "a,\"b\"\n"));
            String some = "select id, text from T where n = 77 or id = 5 order by id";
            HttpResponse<String> csv = rows(served, "text/csv", some);
            assertThat(csv.headers().firstValue("content-type"))
                    .contains("text/csv; charset=utf-8; header=present");
            assertThat(csv.body()).isEqualTo("id,text\r\n5,text of 5\r\n900,\"a,\"\"b\"\"\n\"\r\n");
            assertThat(rows(served, "text/csv", "select id from T where id < 0").body())
                    .isEqualTo("id\r\n");

            HttpResponse<String> object = rows(served, "application/json", some);
            assertThat(object.headers().firstValue("content-type")).contains("application/json");
            JsonNode whole = ServedStore.json(object.body());
            assertThat(whole.at("/rows/1/text").asText()).isEqualTo("a,\"b\"\n");
            assertThat(whole.at("/summary/rows").asInt()).isEqualTo(2);
            JsonNode none = ServedStore.json(
                    rows(served, "application/json", "select id from T where id < 0")
                            .body());
            assertThat(none.at("/rows")).isEmpty();
            assertThat(none.at("/summary/rows").asInt()).isZero();

            assertThat(rows(served, "*/*;q=0.1, text/csv;q=0.5, application/json;q=0.9", some)
                            .body())
                    .startsWith("{\"rows\":[");
            assertThat(rows(served, "text/html, */*", some).body()).startsWith("{\"id\":5");
            HttpResponse<String> refused = rows(served, "text/html, text/csv;q=0", some);
            assertThat(refused.statusCode()).isEqualTo(406);
            assertThat(refused.body()).contains("text/csv").contains("application/json");
            assertThat(rows(served, "text/csv;q=much", some).statusCode()).isEqualTo(400);
        }
    }

    @Test
    void what_fails_behind_the_first_rows_is_told_or_cuts_the_answer() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            String failing = "select id, 10 / (id - 400) as x from T order by id";
            String lines = rows(served, "*/*", failing).body();
            assertThat(lines.lines().toList().getLast()).contains("\"error\"");
            JsonNode whole =
                    ServedStore.json(rows(served, "application/json", failing).body());
            assertThat(whole.at("/error/status").asInt())
                    .as("as before the first row")
                    .isEqualTo(400);
            assertThatThrownBy(() -> rows(served, "text/csv", failing))
                    .isInstanceOf(IOException.class);
            assertThat(rows(served, "text/csv", "select 1 as one from T where id = 1")
                            .body())
                    .as("the server goes on")
                    .isEqualTo("one\r\n1\r\n");
        }
    }

    @Test
    void tells_where_a_statement_is_wrong_and_refuses_changes_without_a_token() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            HttpResponse<String> wrong =
                    served.post("/v1/stores/one/sql", "{\"statement\":\"select x from T\"}");
            assertThat(wrong.statusCode()).isEqualTo(400);
            assertThat(wrong.headers().firstValue("content-type"))
                    .contains("application/problem+json");
            assertThat(ServedStore.json(wrong.body()).at("/detail").asText())
                    .contains("line 1, column 8");
            assertThat(served.post(
                                    "/v1/stores/one/sql",
                                    "{\"statement\":\"delete from T where id = 1\"}")
                            .statusCode())
                    .isEqualTo(401);
            assertThat(served.post("/v1/stores/one/sql", "{\"statement\":\"drop dataset T\"}")
                            .statusCode())
                    .isEqualTo(401);
            assertThat(served.get("/v1/stores/one/datasets/T/records/1").statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void tells_events_as_they_happen_and_a_sample_each_second() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            HttpResponse<InputStream> answer = served.client()
                    .send(
                            served.request("/v1/events?since=0").build(),
                            HttpResponse.BodyHandlers.ofInputStream());
            assertThat(answer.headers().firstValue("content-type")).contains("text/event-stream");
            try (BufferedReader lines = new BufferedReader(
                    new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
                JsonNode flushed = dataOf(lines, "event: store", "\"Flushed\"");
                assertThat(flushed.at("/store").asText()).isEqualTo("one");
                served.store("one").dataset("T").delete(1L);
                served.store("one").dataset("T").flush();
                assertThat(dataOf(lines, "event: store", "\"Flushed\"")
                                .at("/number")
                                .asLong())
                        .isGreaterThan(flushed.at("/number").asLong());
                JsonNode sample = dataOf(lines, "event: sample", "");
                assertThat(sample.at("/stores/one/write.bytes").asLong()).isPositive();
                assertThat(sample.at("/stores/one/flush.time/count").asLong()).isEqualTo(2);
            }
        }
    }

    /** The scheduler ends a task by what gets out of it, and says nothing. */
    @Test
    @Timeout(60)
    void samples_go_on_after_one_that_failed() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            AtomicInteger calls = new AtomicInteger();
            served.store("one").meters().gauge("test.fault", () -> {
                if (calls.incrementAndGet() <= 2) {
                    throw new IllegalStateException("planted");
                }
                return 7;
            });
            HttpResponse<InputStream> answer = served.client()
                    .send(
                            served.request("/v1/events").build(),
                            HttpResponse.BodyHandlers.ofInputStream());
            try (BufferedReader lines = new BufferedReader(
                    new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
                JsonNode sample = dataOf(lines, "event: sample", "");
                assertThat(sample.at("/stores/one/test.fault").asLong()).isEqualTo(7);
            }
            assertThat(served.server.meters().instruments())
                    .filteredOn(one -> one.name().equals("http.events.failures"))
                    .singleElement()
                    .extracting(one -> ((Reading) one).value())
                    .isEqualTo(2L);
        }
    }

    private static JsonNode dataOf(BufferedReader lines, String kind, String having)
            throws IOException {
        String before = "";
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (before.equals(kind) && line.contains(having)) {
                return ServedStore.json(line.substring("data: ".length()));
            }
            before = line;
        }
        throw new AssertionError("the stream ended before " + kind);
    }

    @Test
    void gives_metrics_of_all_stores_and_of_itself() throws Exception {
        try (ServedStore served = ServedStore.open(directory)) {
            var _ = served.get("/v1/stores");
            String text = served.get("/metrics").body();
            assertThat(text)
                    .contains("turbidite_write_bytes_total{store=\"one\"}")
                    .contains("turbidite_write_bytes_total{store=\"two\"}")
                    .contains("turbidite_http_requests_total{code=\"200\",route=\"/v1/stores\"}")
                    .contains("turbidite_http_connections");
        }
    }
}
