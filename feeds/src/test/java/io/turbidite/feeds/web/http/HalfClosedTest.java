package io.turbidite.feeds.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.web.access.Gate;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Clients that close the half of their connection by which they send. */
@Timeout(60)
class HalfClosedTest {
    private static final String HOST = "Host: localhost\r\n";

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch left = new CountDownLatch(1);
    private HttpServer server;

    @BeforeEach
    void open() throws IOException {
        List<Route> routes = List.of(
                Route.light(
                        "GET",
                        "/ok",
                        Right.NONE,
                        exchange -> exchange.answer(200, Map.of("ok", true))),
                Route.of("POST", "/late", Right.NONE, exchange -> {
                    int bytes = exchange.body().readAllBytes().length;
                    var _ = new CountDownLatch(1).await(300, TimeUnit.MILLISECONDS);
                    exchange.answer(200, Map.of("bytes", bytes));
                }),
                Route.of("GET", "/never", Right.NONE, exchange -> {
                    exchange.onGone(left::countDown);
                    begun.countDown();
                    var _ = left.await(50, TimeUnit.SECONDS);
                    exchange.answer(200, Map.of("gone", exchange.isGone()));
                }));
        server = HttpServer.start(
                new HttpServer.Parts(
                        HttpOptions.defaults(),
                        routes,
                        exchange -> {
                            throw Problem.of(
                                    404, "no " + exchange.header(HttpHeaderNames.HOST.toString()));
                        },
                        Gate.of(List.of(), false),
                        List.of(),
                        null,
                        new Meters(),
                        Clock.system()),
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
    }

    @AfterEach
    void close() {
        server.close();
    }

    private Socket connect() throws IOException {
        InetSocketAddress at = server.addresses().getFirst();
        return new Socket(at.getAddress(), at.getPort());
    }

    /** Sends that, and nothing more; all that comes until the server closes. */
    private String answers(String requests) throws IOException {
        try (Socket client = connect()) {
            client.getOutputStream().write(requests.getBytes(StandardCharsets.UTF_8));
            client.shutdownOutput();
            return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String post(String body) {
        return "POST /late HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s"
                .formatted(HOST, body.length(), body);
    }

    /** The bug: it got none, and its records were taken. */
    @Test
    void a_client_that_sends_no_more_gets_its_answer_and_then_the_end() throws IOException {
        assertThat(answers("GET /ok HTTP/1.1\r\n" + HOST + "\r\n"))
                .startsWith("HTTP/1.1 200 OK")
                .endsWith("{\"ok\":true}\n");
        assertThat(answers(post("12345")))
                .as("behind what tells whether it has gone")
                .startsWith("HTTP/1.1 100 Continue\r\n\r\n")
                .contains("HTTP/1.1 200 OK")
                .endsWith("{\"bytes\":5}\n");
    }

    @Test
    void what_was_sent_before_the_end_is_answered_one_after_the_other() throws IOException {
        String all = answers(post("1") + post("22") + "GET /ok HTTP/1.1\r\n" + HOST + "\r\n");
        assertThat(all.replaceAll("(?s)HTTP/1.1 100 Continue\r\n\r\n", "").split("HTTP/1.1 200 OK"))
                .hasSize(4);
        assertThat(all).containsSubsequence("{\"bytes\":1}", "{\"bytes\":2}", "{\"ok\":true}");
    }

    @Test
    void half_a_request_is_none() throws IOException {
        assertThat(answers("POST /late HTTP/1.1\r\n" + HOST + "Content-Length: 9\r\n\r\n1234"))
                .doesNotContain("200");
        assertThat(answers("GET /ok HTTP/1.1\r\nHos")).doesNotContain("200");
        assertThat(answers("")).isEmpty();
        assertThat(answers(post("1") + "GET /ok HT"))
                .contains("{\"bytes\":1}")
                .doesNotContain("ok");
    }

    @Test
    void a_client_that_has_gone_altogether_ends_its_request_within_a_second() throws Exception {
        try (Socket client = connect()) {
            client.getOutputStream()
                    .write(("GET /never HTTP/1.1\r\n" + HOST + "\r\n")
                            .getBytes(StandardCharsets.UTF_8));
            assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(left.await(20, TimeUnit.SECONDS)).isTrue();
    }
}
