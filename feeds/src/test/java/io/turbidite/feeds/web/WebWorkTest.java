package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.meter.SlowOperations;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.lsm.DatasetSpec;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What needs a token, and clients that are slow or leave, over sockets. */
class WebWorkTest {
    private static final String FEED = """
            feed: numbers
            dataset:
              name: Numbers
              type: { id: int64 }
              primaryKey: id
            source: { kind: file, path: %s }
            parser: { kind: json }
            """;

    @TempDir
    private Path directory;

    private final Token.Made manager = Token.make(
            "manager",
            EnumSet.of(Right.READ, Right.WRITE, Right.MANAGE),
            List.of("*"),
            List.of("*"));

    private final Token.Made ofOne =
            Token.make("one", EnumSet.of(Right.READ, Right.WRITE), List.of("one"), List.of());

    private ServedStore serve(HttpOptions options) throws IOException {
        return ServedStore.open(
                directory, options, Gate.of(List.of(manager.kept(), ofOne.kept()), false));
    }

    private HttpResponse<String> send(
            ServedStore served, Token.Made by, String method, String path, String body)
            throws Exception {
        return served.send(served.request(path)
                .header("Authorization", "Bearer " + by.text())
                .method(method, BodyPublishers.ofString(body))
                .build());
    }

    @Test
    void a_token_does_what_it_says_and_no_more() throws Exception {
        try (ServedStore served = serve(HttpOptions.defaults())) {
            assertThat(served.get("/v1/stores/one").statusCode()).isEqualTo(401);
            assertThat(served.get("/metrics").statusCode()).isEqualTo(401);
            assertThat(served.get("/v1/stores").body()).isEqualTo("{\"stores\":[]}\n");
            assertThat(send(served, ofOne, "GET", "/v1/stores/one", "").statusCode())
                    .isEqualTo(200);
            assertThat(send(served, ofOne, "GET", "/v1/stores/two", "").statusCode())
                    .isEqualTo(403);
            String delete = "{\"statement\":\"delete from T where id < 10\"}";
            assertThat(send(served, ofOne, "POST", "/v1/stores/one/sql", delete).body())
                    .startsWith("{\"summary\":{\"changed\":10,");
            String drop = "{\"statement\":\"drop dataset T\"}";
            assertThat(send(served, ofOne, "POST", "/v1/stores/one/sql", drop).statusCode())
                    .isEqualTo(403);
            assertThat(send(served, manager, "POST", "/v1/stores/one/sql", drop).statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void an_error_of_sql_shows_its_place_below_the_line() throws Exception {
        try (ServedStore served = serve(HttpOptions.defaults())) {
            String wrong = "{\"statement\":\"select nosuch from T\"}";
            HttpResponse<String> answer = send(served, ofOne, "POST", "/v1/stores/one/sql", wrong);
            assertThat(answer.statusCode()).isEqualTo(400);
            assertThat(ServedStore.json(answer.body()).at("/detail").asText())
                    .startsWith("line 1, column 8: ")
                    .endsWith("\n  select nosuch from T\n         ^");
            String misspelt = "{\"statement\":\"-- two lines\\n  selct 1\"}";
            answer = send(served, ofOne, "POST", "/v1/stores/one/sql", misspelt);
            assertThat(ServedStore.json(answer.body()).at("/detail").asText())
                    .startsWith("line 2, column 3: SELCT is not supported; is 'SELECT' meant?")
                    .endsWith("\n    selct 1\n    ^");
        }
    }

    @Test
    void backs_up_and_verifies_but_only_below_the_directory_that_is_given() throws Exception {
        try (ServedStore served = serve(HttpOptions.defaults())) {
            Files.createSymbolicLink(directory.resolve("out"), Path.of("/tmp"));
            String to = "{\"directory\":\"%s\"}";
            for (String outside : Set.of("../elsewhere", "/tmp/elsewhere", "out/elsewhere")) {
                assertThat(send(
                                        served,
                                        manager,
                                        "POST",
                                        "/v1/stores/one/backup",
                                        to.formatted(outside))
                                .statusCode())
                        .as(outside)
                        .isEqualTo(403);
            }
            JsonNode backup = ServedStore.json(
                    send(served, manager, "POST", "/v1/stores/one/backup", to.formatted("copy"))
                            .body());
            assertThat(backup.at("/ok").asBoolean()).isTrue();
            assertThat(directory.resolve("copy")).isDirectory();
            assertThat(send(served, ofOne, "POST", "/v1/stores/one/verify", "").statusCode())
                    .isEqualTo(403);
            JsonNode verified = ServedStore.json(
                    send(served, manager, "POST", "/v1/stores/one/verify", "").body());
            assertThat(verified.at("/ok").asBoolean()).isTrue();
            JsonNode findings = ServedStore.json(
                    send(served, manager, "GET", "/v1/stores/one/findings", "").body());
            assertThat(findings.at("/findings").isArray()).isTrue();
            assertThat(findings.at("/findings"))
                    .as("but the times of a busy machine")
                    .allMatch(finding -> finding.at("/unit").asText().equals("nanos"));
            long now = served.store("one").environment().clock().monotonicNanos();
            SlowOperations.of(served.store("one").meters())
                    .waited(SlowOperations.Cause.STALL, now, 7);
            SlowOperations.of(served.store("one").meters())
                    .ended(
                            SlowOperations.Kind.WRITE,
                            now,
                            now + 3_600_000_000_000L,
                            5,
                            served.store("one").environment().clock());
            JsonNode slow = ServedStore.json(
                    send(served, manager, "GET", "/v1/stores/one/slow", "").body());
            assertThat(slow.at("/thresholdNanos").asLong()).isPositive();
            assertThat(slow.at("/readThresholdNanos").asLong()).isPositive();
            assertThat(slow.at("/operations/0/operation").asText()).isEqualTo("write");
            assertThat(slow.at("/operations/0/nanos").asLong()).isEqualTo(3_600_000_000_000L);
            assertThat(slow.at("/operations/0/stallNanos").asLong()).isEqualTo(7);
            assertThat(slow.at("/operations/0/logNanos").asLong()).isEqualTo(5);
            assertThat(slow.at("/operations/0/at").asText()).endsWith("Z");
            JsonNode advice = ServedStore.json(
                    send(served, manager, "GET", "/v1/stores/one/advice", "").body());
            assertThat(advice.at("/datasets/0/indexes/0/index").asText()).isEqualTo("by_n");
        }
    }

    @Test
    void a_token_is_told_findings_of_what_it_may_read_alone() throws Exception {
        try (ServedStore served = serve(HttpOptions.defaults())) {
            served.store("one").meters().scope("test", "1").gauge("log.refuges", () -> 1);
            served.store("two").meters().scope("test", "1").gauge("background.pauses", () -> 1);
            served.store("one").meters().scope("feed", "f").gauge("feed.spill.percent", () -> 97);
            served.server.meters().scope("test", "1").gauge("http.events.lost", () -> 1);
            assertThat(findings(served, manager))
                    .containsOnlyOnce("log.refuges", "feed.spill.percent", "http.events.lost")
                    .doesNotContain("background.pauses");
            assertThat(findings(served, ofOne))
                    .contains("log.refuges")
                    .doesNotContain("feed.spill.percent", "http.events.lost", "background.pauses");
            assertThat(send(served, ofOne, "GET", "/v1/stores/two/findings", "").statusCode())
                    .isEqualTo(403);
            assertThat(served.get("/v1/stores/one/findings").statusCode()).isEqualTo(401);
        }
    }

    private List<String> findings(ServedStore served, Token.Made by) throws Exception {
        HttpResponse<String> answer = send(served, by, "GET", "/v1/stores/one/findings", "");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return ServedStore.json(answer.body()).at("/findings").findValuesAsText("metric");
    }

    @Test
    void a_token_sees_the_figures_and_events_of_its_own_stores_alone() throws Exception {
        try (ServedStore served = serve(HttpOptions.defaults())) {
            served.store("two").meters().scope("feed", "f").counter("feed.some").increment();
            served.store("one").meters().scope("feed", "f").counter("feed.some").increment();
            String all = send(served, manager, "GET", "/metrics", "").body();
            assertThat(all).contains("store=\"one\"", "store=\"two\"", "turbidite_http_");
            String own = send(served, ofOne, "GET", "/metrics", "").body();
            assertThat(own.lines().filter(line -> !line.startsWith("#")))
                    .isNotEmpty()
                    .allMatch(line -> line.contains("store=\"one\""))
                    .noneMatch(line -> line.contains("feed=\"f\""));

            HttpRequest follow = served.request("/v1/events?since=0")
                    .header("Authorization", "Bearer " + ofOne.text())
                    .build();
            HttpResponse<InputStream> stream =
                    served.client().send(follow, HttpResponse.BodyHandlers.ofInputStream());
            assertThat(stream.statusCode()).isEqualTo(200);
            served.store("two")
                    .createDataset(
                            DatasetSpec.named("Secret").field("id", "int64").primaryKey("id"));
            served.store("two").dataset("Secret").upsert(Map.of("id", 1L));
            served.store("two").dataset("Secret").flush();
            served.store("one").dataset("T").flush();
            StringBuilder seen = new StringBuilder();
            try (BufferedReader lines = new BufferedReader(
                    new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
                String line = lines.readLine();
                while (!line.startsWith("data: {\"at\"")) {
                    seen.append(line).append('\n');
                    line = lines.readLine();
                }
                assertThat(line).contains("\"stores\":{\"one\":").doesNotContain("\"two\"");
            }
            assertThat(seen).contains("\"store\":\"one\"").doesNotContain("\"two\"", "Secret");
        }
    }

    @Test
    void a_feed_needs_the_right_to_its_store_too() throws Exception {
        Files.writeString(directory.resolve("numbers.json"), "{\"id\":1}\n");
        Token.Made ofStoreOne = Token.make(
                "of-store-one", EnumSet.of(Right.READ, Right.MANAGE), List.of("one"), List.of("*"));
        Token.Made reader =
                Token.make("reader", EnumSet.of(Right.READ), List.of("two"), List.of("*"));
        Gate gate = Gate.of(List.of(manager.kept(), ofStoreOne.kept(), reader.kept()), false);
        String feed = "/v1/feeds/numbers";
        try (ServedStore served = ServedStore.open(directory, HttpOptions.defaults(), gate)) {
            String definition = FEED.formatted("numbers.json");
            assertThat(send(served, ofStoreOne, "PUT", feed + "?store=two", definition)
                            .statusCode())
                    .isEqualTo(403);
            assertThat(send(served, manager, "PUT", feed + "?store=two", definition)
                            .statusCode())
                    .isEqualTo(200);
            assertThat(send(served, ofStoreOne, "GET", "/v1/feeds", "").body())
                    .isEqualTo("{\"feeds\":[]}\n");
            for (String asked : List.of("", "/letters")) {
                assertThat(send(served, reader, "GET", feed + asked, "").statusCode())
                        .as(asked)
                        .isEqualTo(200);
                assertThat(send(served, ofStoreOne, "GET", feed + asked, "").statusCode())
                        .as(asked)
                        .isEqualTo(404);
            }
            for (String asked : List.of("/pause", "/resume")) {
                assertThat(send(served, ofStoreOne, "POST", feed + asked, "").statusCode())
                        .as(asked)
                        .isEqualTo(404);
            }
            assertThat(send(served, ofStoreOne, "DELETE", feed, "").statusCode())
                    .isEqualTo(404);
            assertThat(send(served, ofStoreOne, "PUT", feed + "?store=one", definition)
                            .statusCode())
                    .as("its own store has no feed of the name")
                    .isEqualTo(200);
            assertThat(send(served, ofStoreOne, "GET", feed, "").body())
                    .contains("\"store\":\"one\"");
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void a_stores_page_keeps_the_events_of_feeds_that_the_token_may_not_read() throws Exception {
        try (ServedStore served = serve(HttpOptions.defaults())) {
            served.store("one")
                    .events()
                    .publish(new StoreEvent.FeedChanged(
                            1, "payroll", "T", "running", "failed", "a line of salaries"));
            served.store("one").dataset("T").flush();
            JsonNode whole;
            do {
                whole = ServedStore.json(
                        send(served, manager, "GET", "/v1/stores/one", "").body());
            } while (!whole.at("/events").findValuesAsText("event").contains("FeedChanged")
                    || !whole.at("/events").findValuesAsText("event").contains("Flushed"));
            JsonNode own = ServedStore.json(
                    send(served, ofOne, "GET", "/v1/stores/one", "").body());
            assertThat(own.at("/events").findValuesAsText("event"))
                    .contains("Flushed")
                    .doesNotContain("FeedChanged");
            assertThat(own.toString()).doesNotContain("payroll", "salaries");
        }
    }

    @Test
    void a_link_to_nothing_is_no_path() throws Exception {
        Files.createSymbolicLink(directory.resolve("dangling"), Path.of("/nowhere/at/all"));
        try (ServedStore served = serve(HttpOptions.defaults())) {
            assertThat(send(
                                    served,
                                    manager,
                                    "POST",
                                    "/v1/stores/one/backup",
                                    "{\"directory\":\"dangling/copy\"}")
                            .statusCode())
                    .isEqualTo(403);
            assertThat(send(
                                    served,
                                    manager,
                                    "PUT",
                                    "/v1/feeds/numbers?store=one",
                                    FEED.formatted("dangling"))
                            .statusCode())
                    .isEqualTo(403);
        }
    }

    @Test
    void defines_pauses_and_drops_feeds() throws Exception {
        Files.writeString(directory.resolve("numbers.json"), "{\"id\":1}\n{\"id\":\"x\"}\n");
        try (ServedStore served = serve(HttpOptions.defaults())) {
            String feed = "/v1/feeds/numbers?store=two";
            assertThat(send(served, manager, "PUT", feed, FEED.formatted("../numbers.json"))
                            .statusCode())
                    .isEqualTo(403);
            assertThat(send(served, manager, "PUT", feed, "feed: numbers").statusCode())
                    .isEqualTo(400);
            HttpResponse<String> defined =
                    send(served, manager, "PUT", feed, FEED.formatted("numbers.json"));
            assertThat(defined.statusCode()).as(defined.body()).isEqualTo(200);
            JsonNode status;
            do { // the feed ends by itself
                status = ServedStore.json(
                        send(served, manager, "GET", "/v1/feeds/numbers", "").body());
                assertThat(status.at("/state").asText()).isNotEqualTo("failed");
            } while (!status.at("/state").asText().equals("ended"));
            assertThat(status.at("/records").asInt()).isEqualTo(1);
            JsonNode letters =
                    ServedStore.json(send(served, manager, "GET", "/v1/feeds/numbers/letters", "")
                            .body());
            assertThat(letters.at("/letters/0/line").asInt()).isEqualTo(2);
            assertThat(send(served, ofOne, "DELETE", "/v1/feeds/numbers", "").statusCode())
                    .isEqualTo(403);
            assertThat(send(served, manager, "DELETE", "/v1/feeds/numbers", "").statusCode())
                    .isEqualTo(200);
            assertThat(send(served, manager, "GET", "/v1/feeds/numbers", "").statusCode())
                    .isEqualTo(404);
        }
    }

    private static Socket connect(ServedStore served) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), served.port());
    }

    private static void write(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String readAll(Socket client) throws IOException {
        return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private String head(String more) {
        return "POST /v1/stores/one/sql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n"
                .formatted(manager.text(), more);
    }

    @Test
    void a_body_that_stands_still_is_not_waited_for() throws Exception {
        HttpOptions defaults = HttpOptions.defaults();
        HttpOptions hasty = new HttpOptions(
                defaults.connectionCountMax(),
                defaults.connectionsPerPeerMax(),
                1,
                1,
                defaults.headBytesMax(),
                defaults.bodyBytesMax(),
                defaults.headMillisMax(),
                100,
                1_000,
                64 << 10,
                defaults.answerBytesMax(),
                defaults.requestMillisMax());
        try (ServedStore served = serve(hasty);
                Socket slow = connect(served)) {
            write(slow, head("Content-Length: 100\r\n") + "{\"state");
            assertThat(readAll(slow)).startsWith("HTTP/1.1 408");
        }
    }

    @Test
    void a_client_that_waits_for_leave_gets_it_and_one_that_sends_too_much_gets_none()
            throws Exception {
        try (ServedStore served = serve(HttpOptions.defaults())) {
            String body = "{\"statement\":\"select count(*) as n from T\"}";
            try (Socket client = connect(served)) {
                write(
                        client,
                        head("Connection: close\r\nExpect: 100-continue\r\nContent-Length: %d\r\n"
                                .formatted(body.length())));
                byte[] leave = client.getInputStream().readNBytes(25);
                assertThat(new String(leave, StandardCharsets.UTF_8))
                        .isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
                write(client, body);
                assertThat(readAll(client)).startsWith("HTTP/1.1 200").contains("{\"n\":500}");
            }
            try (Socket client = connect(served)) {
                write(client, head("Expect: 100-continue\r\nContent-Length: 999999999\r\n"));
                assertThat(readAll(client)).startsWith("HTTP/1.1 413");
            }
            try (Socket client = connect(served)) {
                write(client, head("Transfer-Encoding: chunked\r\n"));
                String piece = "8000\r\n" + " ".repeat(0x8000) + "\r\n";
                int sent = 0;
                for (; sent < 129; sent++) { // 4 MiB are taken
                    write(client, piece);
                }
                assertThat(readAll(client)).startsWith("HTTP/1.1 413");
            }
        }
    }

    @Test
    void a_client_that_leaves_ends_its_statement() throws Exception {
        try (ServedStore served = serve(HttpOptions.defaults())) {
            String body = "{\"statement\":\"select count(*) as n from T a, T b, T c, T d\"}";
            try (Socket client = connect(served)) {
                write(client, head("Content-Length: %d\r\n".formatted(body.length())) + body);
                while (served.server.requestCount() == 0) {
                    Thread.onSpinWait();
                }
            }
            while (served.server.requestCount() > 0) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void an_answer_waits_for_a_slow_reader_and_a_busy_server_says_so() throws Exception {
        HttpOptions defaults = HttpOptions.defaults();
        HttpOptions small = new HttpOptions(
                16,
                16,
                1,
                1,
                defaults.headBytesMax(),
                defaults.bodyBytesMax(),
                defaults.headMillisMax(),
                defaults.bodyMillisMax(),
                defaults.writeMillisMax(),
                64 << 10,
                defaults.answerBytesMax(),
                defaults.requestMillisMax());
        try (ServedStore served = serve(small)) {
            String body = "{\"statement\":\"select a.text, b.text as other from T a, T b\"}";
            try (Socket client = connect(served)) {
                write(
                        client,
                        head("Connection: close\r\nContent-Length: %d\r\n".formatted(body.length()))
                                + body);
                InputStream in = client.getInputStream();
                assertThat(new String(in.readNBytes(12), StandardCharsets.UTF_8))
                        .isEqualTo("HTTP/1.1 200");
                HttpRequest second = served.request("/v1/stores/one")
                        .header("Authorization", "Bearer " + manager.text())
                        .build();
                HttpResponse<String> refused = served.send(second);
                assertThat(refused.statusCode()).isEqualTo(429);
                assertThat(refused.headers().firstValue("retry-after")).contains("1");
                assertThat(served.get("/health/live").statusCode()).isEqualTo(200);
                String rest = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                assertThat(rest).contains("\"summary\":{\"rows\":250000,");
            }
        }
    }
}
