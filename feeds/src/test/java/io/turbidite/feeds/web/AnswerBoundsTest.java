package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.http.HttpOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;

/** What a server bounds of an answer: its bytes, and the time that it takes. */
@Timeout(60)
class AnswerBoundsTest {
    private static final int BYTES_MAX = 1 << 20;

    /** Some 13 MB. */
    private static final String ROWS =
            "{\"statement\":\"select a.text, b.text as other from T a, T b\"}";

    /** For hours. */
    private static final String SLOW =
            "{\"statement\":\"select count(*) as n from T a, T b, T c, T d\"%s}";

    @TempDir
    private Path directory;

    private ServedStore serve(long bytesMax, long millisMax) throws IOException {
        HttpOptions defaults = HttpOptions.defaults();
        return ServedStore.open(
                directory,
                new HttpOptions(
                        defaults.connectionCountMax(),
                        defaults.connectionsPerPeerMax(),
                        defaults.requestCountMax(),
                        defaults.streamCountMax(),
                        defaults.headBytesMax(),
                        defaults.bodyBytesMax(),
                        defaults.headMillisMax(),
                        defaults.bodyMillisMax(),
                        defaults.writeMillisMax(),
                        defaults.unsentBytesMax(),
                        bytesMax,
                        millisMax),
                Gate.withoutTokens());
    }

    private static HttpResponse<String> rows(ServedStore served, String form) throws Exception {
        return served.send(served.request("/v1/stores/one/sql")
                .header("Accept", form)
                .POST(BodyPublishers.ofString(ROWS))
                .build());
    }

    private static void checkError(JsonNode error) {
        assertThat(error.path("status").asInt()).isEqualTo(400);
        assertThat(error.path("detail").asText())
                .isEqualTo("the answer is longer than 1048576 bytes");
    }

    @Test
    void rows_that_go_beyond_end_with_an_error() throws Exception {
        try (ServedStore served = serve(BYTES_MAX, 60_000)) {
            String lines = rows(served, "application/x-ndjson").body();
            int last = lines.lastIndexOf('\n', lines.length() - 2) + 1;
            checkError(ServedStore.json(lines.substring(last)).path("error"));
            assertThat(last).isBetween(BYTES_MAX - 100, BYTES_MAX);
            assertThat(lines).doesNotContain("summary");
            for (String line : lines.lines().toList()) {
                assertThat(ServedStore.json(line).size()).isPositive();
            }

            JsonNode object = ServedStore.json(rows(served, "application/json").body());
            checkError(object.path("error"));
            assertThat(object.has("summary")).isFalse();
            assertThat(object.path("rows").size()).isBetween(10_000, 100_000);

            assertThatThrownBy(() -> rows(served, "text/csv")).isInstanceOf(IOException.class);

            assertThat(served.post(
                                    "/v1/stores/one/sql",
                                    "{\"statement\":\"select count(*) as n from T\"}")
                            .body())
                    .contains("{\"n\":500}", "summary");
        }
    }

    @Test
    void an_answer_in_one_piece_that_is_longer_is_refused() throws Exception {
        try (ServedStore served = serve(BYTES_MAX, 60_000)) {
            String most = "x".repeat(BYTES_MAX - 100);
            served.store("one").dataset("T").upsert(Map.of("id", 1L, "n", 1, "text", most));
            served.store("one").dataset("T").upsert(Map.of("id", 2L, "n", 2, "text", most + most));
            assertThat(served.get("/v1/stores/one/datasets/T/records/1").statusCode())
                    .isEqualTo(200);
            HttpResponse<String> longer = served.get("/v1/stores/one/datasets/T/records/2");
            assertThat(longer.statusCode()).isEqualTo(400);
            assertThat(longer.body()).contains("longer than 1048576 bytes", "--answer-bytes");
        }
    }

    @Test
    void no_statement_takes_longer_than_the_server_gives() throws Exception {
        try (ServedStore served = serve(BYTES_MAX, 200)) {
            for (String more : new String[] {"", ",\"timeoutMs\":86400000"}) {
                HttpResponse<String> ended =
                        served.post("/v1/stores/one/sql", SLOW.formatted(more));
                assertThat(ended.statusCode()).as(ended.body()).isEqualTo(504);
                assertThat(ended.body()).contains("longer than 200 ms", "--request-millis");
            }
            HttpResponse<String> sooner =
                    served.post("/v1/stores/one/sql", SLOW.formatted(",\"timeoutMs\":50"));
            assertThat(sooner.statusCode()).isEqualTo(504);
            assertThat(sooner.body()).contains("longer than 50 ms", "give it more: timeoutMs");
        }
    }

    @Test
    void no_statement_takes_longer_to_plan_than_it_may() throws Exception {
        String text =
                "select %sid from T".formatted(("id" + " + 2".repeat(150) + ", ").repeat(100));
        try (ServedStore served = serve(BYTES_MAX, 100_000)) {
            HttpResponse<String> refused = served.post(
                    "/v1/stores/one/sql",
                    "{\"statement\":\"%s\",\"planningMs\":1}".formatted(text));
            assertThat(refused.statusCode()).as(refused.body()).isEqualTo(400);
            assertThat(refused.body()).contains("takes more than 0.001 s to plan");
            HttpResponse<String> explained = served.post(
                    "/v1/stores/one/sql", "{\"statement\":\"explain as json select id from T\"}");
            assertThat(explained.statusCode()).as(explained.body()).isEqualTo(200);
            assertThat(explained.body()).contains("\"operators\":[{");
        }
    }
}
