package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;

import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;

/** Records that are sent to a feed, over sockets. */
class ParcelRouteTest {
    private static final String JSON = """
        feed: %s
        dataset:
          name: %s
          type: { id: int64, name: string }
          primaryKey: id
        source: { kind: http }
        parser: { kind: json }
        mode: insert
        """;

    private static final String CSV = """
        feed: rows
        dataset:
          name: Rows
          type: { id: int64, name: string }
          primaryKey: id
        source: { kind: http }
        parser: { kind: csv }
        """;

    @TempDir
    private Path directory;

    private final Token.Made manager = Token.make(
            "manager",
            EnumSet.of(Right.READ, Right.WRITE, Right.MANAGE),
            List.of("*"),
            List.of("*"));

    private final Token.Made sender =
            Token.make("sender", EnumSet.of(Right.WRITE), List.of("two"), List.of("sent"));

    private final Token.Made reader =
            Token.make("reader", EnumSet.of(Right.READ), List.of("*"), List.of("*"));

    private final Token.Made otherStore =
            Token.make("other", EnumSet.of(Right.WRITE), List.of("one"), List.of("*"));

    private ServedStore serve() throws Exception {
        Gate gate = Gate.of(
                List.of(manager.kept(), sender.kept(), reader.kept(), otherStore.kept()), false);
        ServedStore served = ServedStore.open(directory, HttpOptions.defaults(), gate);
        assertThat(define(served, "sent", JSON.formatted("sent", "Sent")).statusCode())
                .isEqualTo(200);
        return served;
    }

    private HttpResponse<String> define(ServedStore served, String feed, String definition)
            throws Exception {
        return served.send(served.request("/v1/feeds/%s?store=two".formatted(feed))
                .header("Authorization", "Bearer " + manager.text())
                .PUT(BodyPublishers.ofString(definition))
                .build());
    }

    private static HttpResponse<String> send(
            ServedStore served, Token.Made by, String path, String type, BodyPublisher body)
            throws Exception {
        HttpRequest.Builder request = served.request(path)
                .header("Authorization", "Bearer " + by.text())
                .POST(body);
        if (!type.isEmpty()) {
            request.header("Content-Type", type);
        }
        return served.send(request.build());
    }

    private HttpResponse<String> send(ServedStore served, String query, String body)
            throws Exception {
        return send(
                served,
                sender,
                "/v1/feeds/sent" + query,
                "application/x-ndjson",
                BodyPublishers.ofString(body));
    }

    private static JsonNode ok(HttpResponse<String> answer) throws Exception {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return ServedStore.json(answer.body());
    }

    private static String lines(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj("{\"id\":%1$d,\"name\":\"n%1$d\"}\n"::formatted)
                .collect(Collectors.joining());
    }

    /** None while the feed has not made its dataset. */
    private static long count(Store store, String dataset) {
        if (store.datasets().stream().noneMatch(one -> one.name().equals(dataset))) {
            return 0;
        }
        long found = 0;
        for (long id = 0; id < 10_000; id++) {
            found += store.dataset(dataset).get(id) == null ? 0 : 1;
        }
        return found;
    }

    /** Cut in the middle of lines, and of a character. */
    @Test
    void a_body_may_come_in_chunks_and_is_packed_once_at_most() throws Exception {
        byte[] body = "{\"id\":1,\"name\":\"\u00e4\u00f6\"}\n{\"id\":2,\"name\":\"b\"}\n"
                .getBytes(StandardCharsets.UTF_8);
        try (ServedStore served = serve();
                Socket client = new Socket(InetAddress.getLoopbackAddress(), served.port())) {
            client.setSoTimeout(30_000);
            OutputStream out = client.getOutputStream();
            out.write(
                    "POST /v1/feeds/sent HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\nTransfer-Encoding: chunked\r\n\r\n"
                            .formatted(sender.text())
                            .getBytes(StandardCharsets.UTF_8));
            for (int from = 0; from < body.length; from += 3) {
                int count = Math.min(3, body.length - from);
                out.write("%x\r\n".formatted(count).getBytes(StandardCharsets.UTF_8));
                out.write(body, from, count);
                out.write("\r\n".getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
            out.write("0\r\n\r\n".getBytes(StandardCharsets.UTF_8));
            out.flush();
            assertThat(new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 200 OK")
                    .contains("\"accepted\":2,\"rejected\":0");
            assertThat(Objects.requireNonNull(
                                    served.store("two").dataset("Sent").get(1L))
                            .get("name"))
                    .isEqualTo("\u00e4\u00f6");
            HttpResponse<String> nested = served.send(served.request("/v1/feeds/sent")
                    .header("Authorization", "Bearer " + sender.text())
                    .header("Content-Encoding", "gzip, gzip")
                    .POST(BodyPublishers.ofByteArray(body))
                    .build());
            assertThat(nested.statusCode()).as(nested.body()).isEqualTo(415);
            assertThat(nested.body()).contains("'gzip, gzip'");
            HttpResponse<String> twice = served.send(served.request("/v1/feeds/sent")
                    .header("Authorization", "Bearer " + sender.text())
                    .header("Content-Encoding", "gzip")
                    .header("Content-Encoding", "gzip")
                    .POST(BodyPublishers.ofByteArray(body))
                    .build());
            assertThat(twice.statusCode()).as("two headers say the same as one").isEqualTo(415);
            assertThat(twice.body()).contains("'gzip, gzip'");
        }
    }

    /** It would be passed over, and the same records sent again would come twice. */
    @Test
    void a_parameter_that_is_none_is_refused() throws Exception {
        try (ServedStore served = serve()) {
            HttpResponse<String> wrong =
                    send(served, "?store=two&produce=p&sequence=1", lines(0, 3));
            assertThat(wrong.statusCode()).isEqualTo(400);
            assertThat(wrong.body())
                    .contains(
                            "there is no parameter 'produce' here",
                            "[producer, sequence, store]",
                            "is 'producer' meant?");
            assertThat(count(served.store("two"), "Sent")).isZero();
        }
    }

    @Test
    void a_sequence_is_digits_and_nothing_else() throws Exception {
        try (ServedStore served = serve()) {
            for (String sequence : List.of(
                    "%2B1", "+1", "-1", "0", "1.0", "1e3", "%D9%A1", "", "9007199254740993")) {
                HttpResponse<String> wrong =
                        send(served, "?producer=p&sequence=" + sequence, lines(0, 3));
                assertThat(wrong.statusCode()).as(sequence).isEqualTo(400);
                assertThat(wrong.body()).as(sequence).contains("9007199254740992");
            }
            assertThat(count(served.store("two"), "Sent")).isZero();
        }
    }

    @Test
    void says_what_became_of_good_and_bad_records() throws Exception {
        try (ServedStore served = serve()) {
            assertThat(send(served, "", lines(0, 2_000)).body())
                    .isEqualTo("{\"accepted\":2000,\"rejected\":0,\"reasons\":[]}\n");
            assertThat(count(served.store("two"), "Sent")).isEqualTo(2_000);

            String mixed = lines(3_000, 3_002) // lines 1 and 2
                    + "nothing\n"
                    + "\n" // passed over, and counted as a line
                    + lines(5, 6) // is there: refused by the store
                    + "{\"id\":7000}\n"
                    + "{\"id\":3003,\"name\":\"without a line end\"}";
            JsonNode answer = ok(send(served, "", mixed));
            assertThat(answer.at("/accepted").asInt()).isEqualTo(3);
            assertThat(answer.at("/rejected").asInt()).isEqualTo(3);
            assertThat(answer.at("/reasons").findValuesAsText("line"))
                    .containsExactly("3", "5", "6");
            assertThat(answer.at("/reasons/1/reason").asText()).contains("5").contains("Sent");
            assertThat(answer.at("/reasons/2/reason").asText()).contains("name");

            JsonNode letters = ServedStore.json(served.send(served.request("/v1/feeds/sent/letters")
                            .header("Authorization", "Bearer " + manager.text())
                            .build())
                    .body());
            assertThat(letters.at("/letters")).hasSize(3);
            assertThat(letters.at("/letters/0/raw").asText()).isEqualTo("nothing");

            JsonNode bad = ok(send(served, "", "x\n".repeat(50)));
            assertThat(bad.at("/rejected").asInt()).isEqualTo(50);
            assertThat(bad.at("/reasons").findValuesAsText("line"))
                    .containsExactly("1", "2", "3", "4", "5", "6", "7", "8", "9", "10");
            assertThat(send(served, "", "").body())
                    .isEqualTo("{\"accepted\":0,\"rejected\":0,\"reasons\":[]}\n");

            var feeds = Objects.requireNonNull(served.feeds.get("two"));
            while (feeds.status("sent").rejected() < 53) {
                Thread.onSpinWait(); // counted when the feed rests
            }
            assertThat(feeds.status("sent").records()).isEqualTo(2_003);
        }
    }

    @Test
    void a_producer_may_send_again_and_leaves_nothing_out() throws Exception {
        try (ServedStore served = serve()) {
            JsonNode first = ok(send(served, "?producer=p&sequence=1", lines(0, 700)));
            assertThat(first.toString())
                    .isEqualTo(
                            "{\"accepted\":700,\"rejected\":0,\"repeated\":0,\"last\":700,\"reasons\":[]}");
            JsonNode again = ok(send(served, "?producer=p&sequence=1", lines(0, 700)));
            assertThat(again.toString())
                    .isEqualTo(
                            "{\"accepted\":0,\"rejected\":0,\"repeated\":700,\"last\":700,\"reasons\":[]}");
            JsonNode overlap = ok(send(served, "?producer=p&sequence=601", lines(600, 900)));
            assertThat(overlap.toString())
                    .isEqualTo(
                            "{\"accepted\":200,\"rejected\":0,\"repeated\":100,\"last\":900,\"reasons\":[]}");

            HttpResponse<String> gap = send(served, "?producer=p&sequence=902", lines(901, 902));
            assertThat(gap.statusCode()).isEqualTo(409);
            assertThat(gap.body()).contains("number 901").contains("sequence=901");
            assertThat(served.store("two").dataset("Sent").get(901L)).isNull();
            HttpResponse<String> other = send(served, "?producer=q&sequence=2", lines(901, 902));
            assertThat(other.statusCode()).isEqualTo(409);
            assertThat(other.body()).contains("number 1\"");

            // the rejected ones have numbers too
            JsonNode bad = ok(send(served, "?producer=p&sequence=901", "x\ny\n" + lines(902, 903)));
            assertThat(bad.at("/rejected").asInt()).isEqualTo(2);
            assertThat(bad.at("/last").asInt()).isEqualTo(903);
            JsonNode badAgain =
                    ok(send(served, "?producer=p&sequence=901", "x\ny\n" + lines(902, 903)));
            assertThat(badAgain.at("/rejected").asInt()).isZero();
            assertThat(badAgain.at("/repeated").asInt()).isEqualTo(3);

            // another token's producer of that name is another one
            JsonNode others = ok(send(
                    served,
                    manager,
                    "/v1/feeds/sent?producer=p&sequence=1",
                    "",
                    BodyPublishers.ofString(lines(5_000, 5_001))));
            assertThat(others.at("/accepted").asInt()).isEqualTo(1);
            for (String wrong : List.of(
                    "?producer=p",
                    "?sequence=1",
                    "?producer=p&sequence=0",
                    "?producer=p&sequence=x",
                    "?producer=a/b&sequence=1",
                    "?producer=&sequence=1")) {
                assertThat(send(served, wrong, lines(0, 1)).statusCode())
                        .as(wrong)
                        .isEqualTo(400);
            }
        }
    }

    @Test
    void a_body_may_be_one_array() throws Exception {
        String array = "[\n" + lines(0, 3).strip().replace("}\n", "},\n") + ",\n 7,{\"id\":9}]";
        try (ServedStore served = serve()) {
            for (int round = 0; round < 2; round++) {
                JsonNode answer = ok(send(
                        served,
                        sender,
                        "/v1/feeds/sent?producer=p&sequence=1",
                        "application/json",
                        BodyPublishers.ofString(array)));
                assertThat(answer.at("/accepted").asInt()).isEqualTo(round == 0 ? 3 : 0);
                assertThat(answer.at("/rejected").asInt()).isEqualTo(round == 0 ? 2 : 0);
                assertThat(answer.at("/repeated").asInt()).isEqualTo(round == 0 ? 0 : 5);
                assertThat(answer.at("/last").asInt()).isEqualTo(5);
            }
            JsonNode none = ok(send(
                    served,
                    sender,
                    "/v1/feeds/sent",
                    "application/json",
                    BodyPublishers.ofString("[]")));
            assertThat(none.at("/accepted").asInt()).isZero();
            assertThat(count(served.store("two"), "Sent")).isEqualTo(3);
        }
    }

    @Test
    void producers_are_known_after_a_restart() throws Exception {
        try (ServedStore served = serve()) {
            ok(send(served, "?producer=p&sequence=1", lines(0, 10)));
        }
        Gate gate = Gate.of(List.of(sender.kept()), false);
        try (ServedStore served = ServedStore.open(directory, HttpOptions.defaults(), gate)) {
            Objects.requireNonNull(served.feeds.get("two")).startKept();
            JsonNode again = ok(send(served, "?producer=p&sequence=1", lines(0, 12)));
            assertThat(again.at("/accepted").asInt()).isEqualTo(2);
            assertThat(again.at("/repeated").asInt()).isEqualTo(10);
            Map<String, ?> row = Objects.requireNonNull(served.store("two")
                    .dataset("_feeds")
                    .get("sent", sender.kept().name() + "/p"));
            assertThat(row.get("records")).isEqualTo(12L);
        }
    }

    @Test
    void refuses_what_it_must() throws Exception {
        Files.writeString(directory.resolve("empty.json"), "");
        try (ServedStore served = serve()) {
            String path = "/v1/feeds/sent";
            String type = "application/x-ndjson";
            BodyPublisher body = BodyPublishers.ofString(lines(0, 1));
            assertThat(served.post(path, lines(0, 1)).statusCode()).isEqualTo(401);
            assertThat(send(served, reader, path, type, body).statusCode()).isEqualTo(403);
            assertThat(send(served, otherStore, path, type, body).statusCode()).isEqualTo(404);
            assertThat(send(served, sender, "/v1/feeds/other", type, body).statusCode())
                    .isEqualTo(403);
            assertThat(send(served, manager, "/v1/feeds/other", type, body).statusCode())
                    .isEqualTo(404);
            HttpResponse<String> form =
                    send(served, sender, path, "application/x-www-form-urlencoded", body);
            assertThat(form.statusCode()).isEqualTo(415);
            assertThat(form.body()).contains("Content-Type: application/x-ndjson");
            assertThat(send(served, sender, path, "text/csv", body).statusCode())
                    .isEqualTo(415);
            HttpResponse<String> latin =
                    send(served, sender, path, type + "; charset=iso-8859-1", body);
            assertThat(latin.statusCode()).isEqualTo(415);
            assertThat(latin.body()).contains("records are UTF-8, not 'iso-8859-1'");
            assertThat(send(served, sender, path, type + "; charset=\"UTF-8\"", body)
                            .statusCode())
                    .isEqualTo(200);
            byte[] large = new byte
                    [HttpOptions.defaults().bodyBytesMax() > Integer.MAX_VALUE / 2
                            ? 1
                            : (int) HttpOptions.defaults().bodyBytesMax() + 1];
            assertThat(send(served, sender, path, type, BodyPublishers.ofByteArray(large))
                            .statusCode())
                    .isEqualTo(413);
            String file = JSON.formatted("filed", "Filed")
                    .replace("{ kind: http }", "{ kind: file, path: empty.json }");
            assertThat(define(served, "filed", file).statusCode()).isEqualTo(200);
            HttpResponse<String> filed = send(served, manager, "/v1/feeds/filed", type, body);
            assertThat(filed.statusCode()).isEqualTo(409);

            var feeds = Objects.requireNonNull(served.feeds.get("two"));
            feeds.pause("sent");
            HttpResponse<String> paused = send(served, sender, path, type, body);
            assertThat(paused.statusCode()).isEqualTo(409);
            assertThat(paused.body()).contains("feed sent is paused").contains("resume");
            feeds.resume("sent");
            assertThat(send(served, sender, path, type, body).statusCode()).isEqualTo(200);
            assertThat(count(served.store("two"), "Sent")).isEqualTo(1);
        }
    }

    @Test
    void rows_of_csv_come_with_their_header() throws Exception {
        try (ServedStore served = serve()) {
            assertThat(define(served, "rows", CSV).statusCode()).isEqualTo(200);
            String path = "/v1/feeds/rows";
            JsonNode first = ok(send(
                    served,
                    manager,
                    path,
                    "text/csv; charset=utf-8",
                    BodyPublishers.ofString("id,name\n1,one\n2,\"of two\nlines\"\nx,bad\n")));
            assertThat(first.at("/accepted").asInt()).isEqualTo(2);
            assertThat(first.at("/reasons/0/line").asInt()).isEqualTo(5);
            JsonNode turned = ok(
                    send(served, manager, path, "", BodyPublishers.ofString("name,id\nthree,3\n")));
            assertThat(turned.at("/accepted").asInt()).isEqualTo(1);
            Map<String, ?> three =
                    Objects.requireNonNull(served.store("two").dataset("Rows").get(3L));
            assertThat(three.get("name")).isEqualTo("three");
            HttpResponse<String> wrong =
                    send(served, manager, path, "", BodyPublishers.ofString("name\nfour\n"));
            assertThat(wrong.statusCode()).isEqualTo(400);
            assertThat(wrong.body()).contains("header");
            // a quote that is never closed cuts its record; those behind it keep their numbers
            String broken = "id,name\n4,\"open\n5,five\n6,six\n";
            JsonNode cut = ok(send(
                    served,
                    manager,
                    path + "?producer=p&sequence=1",
                    "",
                    BodyPublishers.ofString(broken)));
            assertThat(cut.at("/accepted").asInt()).isEqualTo(2);
            assertThat(cut.at("/last").asInt()).isEqualTo(3);
            JsonNode again = ok(send(
                    served,
                    manager,
                    path + "?producer=p&sequence=1",
                    "",
                    BodyPublishers.ofString(broken + "7,seven\n")));
            assertThat(again.at("/accepted").asInt()).isEqualTo(1);
            assertThat(again.at("/repeated").asInt()).isEqualTo(3);
        }
    }

    private HttpResponse<String> sendPacked(ServedStore served, String coding, byte[] body)
            throws Exception {
        return served.send(served.request("/v1/feeds/sent")
                .header("Authorization", "Bearer " + sender.text())
                .header("Content-Encoding", coding)
                .POST(BodyPublishers.ofByteArray(body))
                .build());
    }

    private static byte[] gzip(byte[] text) throws Exception {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(text);
        }
        return packed.toByteArray();
    }

    @Test
    void a_body_may_be_packed_within_bounds() throws Exception {
        try (ServedStore served = serve()) {
            byte[] packed = gzip(lines(0, 3_000).getBytes(StandardCharsets.UTF_8));
            assertThat(ok(sendPacked(served, "gzip", packed)).at("/accepted").asInt())
                    .isEqualTo(3_000);
            byte[] cut = Arrays.copyOf(packed, packed.length / 2);
            assertThat(sendPacked(served, "gzip", cut).body()).contains("it ends too early");
            assertThat(sendPacked(served, "gzip", new byte[0]).body()).doesNotContain("null");
            assertThat(sendPacked(served, "gzip", cut).statusCode()).isEqualTo(400);
            byte[] none = "{\"id\":4000,\"name\":\"n\"}".getBytes(StandardCharsets.UTF_8);
            assertThat(sendPacked(served, "gzip", none).statusCode()).isEqualTo(400);
            assertThat(sendPacked(served, "identity", none).statusCode()).isEqualTo(200);
            assertThat(sendPacked(served, "br", none).statusCode()).isEqualTo(415);
            HttpResponse<String> bomb = sendPacked(served, "gzip", gzip(new byte[8 << 20]));
            assertThat(bomb.statusCode()).isEqualTo(413);
            assertThat(bomb.body()).contains("100 times");
            assertThat(count(served.store("two"), "Sent")).isEqualTo(3_001);
        }
    }

    @Test
    void a_body_may_be_packed_by_zstd_within_bounds() throws Exception {
        try (ServedStore served = serve()) {
            byte[] text = lines(0, 3_000).getBytes(StandardCharsets.UTF_8);
            byte[] packed = Zstd.compress(text);
            assertThat(ok(sendPacked(served, "zstd", packed)).at("/accepted").asInt())
                    .isEqualTo(3_000);
            byte[] cut = Arrays.copyOf(packed, packed.length / 2);
            HttpResponse<String> half = sendPacked(served, "zstd", cut);
            assertThat(half.statusCode()).as(half.body()).isEqualTo(400);
            assertThat(half.body()).contains("not zstd");
            byte[] none = "{\"id\":4000,\"name\":\"n\"}".getBytes(StandardCharsets.UTF_8);
            assertThat(sendPacked(served, "zstd", none).statusCode()).isEqualTo(400);
            HttpResponse<String> bomb =
                    sendPacked(served, "ZSTD", Zstd.compress(new byte[8 << 20]));
            assertThat(bomb.statusCode()).isEqualTo(413);
            assertThat(bomb.body()).contains("100 times");
            assertThat(count(served.store("two"), "Sent")).isEqualTo(3_000);
        }
    }

    @Test
    void a_window_that_would_take_much_memory_is_refused() throws Exception {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (ZstdOutputStreamNoFinalizer out = new ZstdOutputStreamNoFinalizer(packed)) {
            out.setLong(27);
            out.write(lines(0, 100).getBytes(StandardCharsets.UTF_8));
            out.flush(); // the length is not known before: the frame tells the whole window
        }
        try (ServedStore served = serve()) {
            HttpResponse<String> wide = sendPacked(served, "zstd", packed.toByteArray());
            assertThat(wide.statusCode()).as(wide.body()).isEqualTo(400);
            assertThat(wide.body()).contains("not zstd");
            ok(send(served, "", lines(500, 501)));
            assertThat(count(served.store("two"), "Sent")).isEqualTo(1);
        }
    }

    @Test
    void a_client_that_leaves_in_the_middle_has_sent_nothing() throws Exception {
        try (ServedStore served = serve()) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), served.port())) {
                OutputStream out = socket.getOutputStream();
                out.write("""
                    POST /v1/feeds/sent HTTP/1.1\r
                    Host: localhost:%d\r
                    Authorization: Bearer %s\r
                    Content-Type: application/x-ndjson\r
                    Content-Length: 1000\r
                    \r
                    %s\
                    """.formatted(served.port(), sender.text(), lines(0, 3))
                        .getBytes(StandardCharsets.US_ASCII));
                out.flush();
                while (served.server.requestCount() != 1) {
                    Thread.onSpinWait();
                }
            }
            while (served.server.requestCount() != 0) {
                Thread.onSpinWait();
            }
            ok(send(served, "", lines(5, 6)));
            assertThat(count(served.store("two"), "Sent")).isEqualTo(1);
        }
    }

    @Test
    void many_clients_send_at_once() throws Exception {
        try (ServedStore served = serve()) {
            int clients = 16;
            int requests = 20;
            List<Thread> threads = IntStream.range(0, clients)
                    .mapToObj(client -> Thread.ofPlatform().start(() -> {
                        for (int i = 0; i < requests; i++) {
                            int from = (client * requests + i) * 10;
                            try {
                                ok(send(
                                        served,
                                        client % 2 == 0
                                                ? ""
                                                : "?producer=c%d&sequence=%d"
                                                        .formatted(client, i * 10 + 1),
                                        lines(from, from + 10)));
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                        }
                    }))
                    .toList();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(count(served.store("two"), "Sent"))
                    .isEqualTo((long) clients * requests * 10);
            var status = Objects.requireNonNull(served.feeds.get("two")).status("sent");
            assertThat(status.state()).isIn(FeedState.RUNNING, FeedState.WAITING);
            assertThat(status.rejected()).isZero();
        }
    }
}
