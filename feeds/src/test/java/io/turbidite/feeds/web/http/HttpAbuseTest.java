package io.turbidite.feeds.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What bad clients send, and what becomes of them (R17), without a network. */
class HttpAbuseTest {
    private static final String HOST = "Host: localhost\r\n";

    private final Token.Made token =
            Token.make("tester", EnumSet.of(Right.READ), List.of("*"), List.of("*"));
    private final EventLoopGroup loop =
            new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final HttpOptions options = new HttpOptions(
            4, 2, 1, 1, 2_048, 10_000, 1_000, 60_000, 1_000, 64 << 10, 1 << 20, 60_000);
    private final Meters meters = new Meters();
    private HttpServer server;
    private EmbeddedChannel channel;

    @BeforeEach
    void open() {
        server = new HttpServer(
                new HttpServer.Parts(
                        options,
                        List.of(
                                Route.light(
                                        "GET",
                                        "/ok",
                                        Right.NONE,
                                        exchange -> exchange.answer(200, Map.of("ok", true))),
                                Route.light("GET", "/error", Right.NONE, exchange -> {
                                    throw new InternalError("a fault in a mapped file");
                                }),
                                Route.light(
                                        "GET",
                                        "/read/{store}",
                                        Right.READ,
                                        exchange -> exchange.answer(
                                                200,
                                                Map.of("by", exchange.caller().name()))),
                                Route.of(
                                        "POST",
                                        "/body",
                                        Right.NONE,
                                        exchange -> exchange.answer(
                                                200,
                                                Map.of(
                                                        "bytes",
                                                        exchange.body().readAllBytes().length)))),
                        exchange -> {
                            throw Problem.of(404, "no file");
                        },
                        Gate.of(List.of(token.kept()), false),
                        List.of("named.example"),
                        null,
                        meters,
                        Clock.system()),
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 8470)),
                loop);
        channel = connect();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
        server.close();
    }

    private EmbeddedChannel connect() {
        return connect(new EmbeddedChannel());
    }

    private EmbeddedChannel connectFrom(String address) {
        return connect(new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress(address, 50_000);
            }
        });
    }

    private EmbeddedChannel connect(EmbeddedChannel fresh) {
        fresh.freezeTime();
        fresh.config().setAutoRead(false);
        server.accept(fresh);
        fresh.runPendingTasks();
        return fresh;
    }

    private void send(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
        channel.runPendingTasks();
    }

    private String received() {
        StringBuilder all = new StringBuilder();
        for (Object piece = channel.readOutbound(); piece != null; piece = channel.readOutbound()) {
            ByteBuf bytes = (ByteBuf) piece;
            all.append(bytes.toString(StandardCharsets.UTF_8));
            bytes.release();
        }
        return all.toString();
    }

    /** The code of what came, and whether the connection goes on. */
    private String outcome(String request) {
        send(request);
        String answer = received();
        return answer.isEmpty() ? "nothing" : answer.substring(9, 12);
    }

    /** It would wait for ever: the thread of its request ends by the error. */
    @Test
    void an_error_of_the_jvm_is_answered_and_the_next_request_too() {
        send("GET /error HTTP/1.1\r\nHost: localhost:8470\r\n\r\n");
        assertThat(received())
                .startsWith("HTTP/1.1 500 ")
                .contains("internal error: InternalError")
                .doesNotContain("mapped file");
        send("GET /ok HTTP/1.1\r\nHost: localhost:8470\r\n\r\n");
        assertThat(received()).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void a_sound_request_is_answered_and_the_connection_goes_on() {
        assertThat(outcome("GET /ok HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo("200");
        assertThat(outcome("GET /ok HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo("200");
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void a_head_is_answered_without_its_body() {
        send("HEAD /ok HTTP/1.1\r\n" + HOST + "\r\n");
        assertThat(received())
                .startsWith("HTTP/1.1 200")
                .contains("content-length: 12")
                .endsWith("\r\n\r\n");
        assertThat(outcome("GET /ok HTTP/1.1\r\n" + HOST + "\r\n")).isEqualTo("200");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "GET /ok HTTP/1.1\r\nHost: loc"})
    void a_slow_head_is_not_waited_for(String begun) {
        send(begun);
        assertThat(channel.isOpen()).isTrue();
        channel.advanceTimeBy(1_001, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        assertThat(received()).startsWith("HTTP/1.1 408");
        channel.advanceTimeBy(1_001, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        assertThat(channel.isOpen()).isFalse();
    }

    /** A byte before each pause that is allowed would hold a request for ever. */
    @Test
    @Timeout(60)
    void a_body_that_comes_byte_by_byte_is_not_waited_for() {
        beginBody();
        String answer = received();
        // another thread asks for each piece; a wait counts from then on
        for (int i = 0; i < 5_000 && answer.isEmpty(); i++) {
            LockSupport.parkNanos(1_000_000);
            channel.runPendingTasks();
            channel.advanceTimeBy(25, TimeUnit.SECONDS);
            send("x");
            answer = received();
        }
        assertThat(answer)
                .startsWith("HTTP/1.1 408")
                .containsPattern(
                        "the body brought \\d+ bytes in (75|100)000 ms, which is less than 1000 a");
    }

    @Test
    @Timeout(60)
    void a_body_that_comes_slowly_but_steadily_is_taken() {
        beginBody();
        for (int i = 0; i < 3; i++) {
            channel.advanceTimeBy(22, TimeUnit.SECONDS);
            send("x".repeat(3_000));
        }
        assertThat(awaitAnswer()).startsWith("HTTP/1.1 200").contains("\"bytes\":9000");
    }

    /**
     * Sends the head of a request with 9,000 bytes; returns when its body is waited for, of which
     * 100 is the sign: the task that asks for it may have run within {@link #send} already.
     */
    private void beginBody() {
        send("POST /body HTTP/1.1\r\n" + HOST
                + "Expect: 100-continue\r\nContent-Length: 9000\r\n\r\n");
        assertThat(awaitAnswer()).isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
    }

    private String awaitAnswer() {
        String answer = received();
        while (answer.isEmpty()) {
            channel.runPendingTasks();
            answer = received();
        }
        return answer;
    }

    /** Netty's FlowControlHandler did not read on where a head came in pieces. */
    @Test
    void requests_that_come_in_pieces_on_one_connection_are_all_answered() {
        String request = "GET /ok HTTP/1.1\r\n" + HOST + "\r\n";
        for (int pieceBytes : new int[] {1, 2, 7, 20, 60}) {
            String all = request.repeat(5);
            for (int at = 0; at < all.length(); at += pieceBytes) {
                send(all.substring(at, Math.min(all.length(), at + pieceBytes)));
            }
            assertThat(received().split("HTTP/1.1 200", -1))
                    .as("pieces of %d", pieceBytes)
                    .hasSize(6);
        }
        assertThat(channel.isOpen()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "400|GET /ok/.. HTTP/1.1",
                "400|GET /ok/%2e%2e HTTP/1.1",
                "400|GET /ok/%2E%2e/x HTTP/1.1",
                "400|GET //ok HTTP/1.1",
                "400|GET /ok/%00 HTTP/1.1",
                "400|GET /ok/%zz HTTP/1.1",
                "400|GET /ok/% HTTP/1.1",
                "400|GET /ok/%ff HTTP/1.1",
                "400|GET /ok\\x HTTP/1.1",
                "400|GET http://localhost/ok HTTP/1.1",
                "400|GET /ok?token=abc HTTP/1.1",
                "400|GET /ok?access_token=abc HTTP/1.1",
                "400|GET /ok?a=1&a=2 HTTP/1.1",
                "404|GET /none HTTP/1.1",
                "404|GET /ok/ HTTP/1.1",
                "404|POST /none HTTP/1.1",
                "405|POST /ok HTTP/1.1",
                "501|TRACE /ok HTTP/1.1",
                "505|GET /ok HTTP/2.0",
                "401|GET /read/a HTTP/1.1"
            })
    void a_wrong_first_line_is_refused(String code, String line) {
        assertThat(outcome(line + "\r\n" + HOST + "\r\n")).isEqualTo(code);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "421|X: y",
                "421|Host: evil.example",
                "421|Host: localhost.evil.example",
                "421|Host: localhost;Host: localhost",
                "421|Host:",
                "200|Host: LOCALHOST:9000",
                "200|Host: 127.0.0.1:8470",
                "200|Host: [::1]:8470",
                "200|Host: named.example",
                "403|Host: localhost:1;Origin: http://evil.example",
                "403|Host: localhost:1;Origin: null",
                "403|Host: localhost:1;Origin: http://localhost:2",
                "200|Host: localhost:1;Origin: http://localhost:1",
                "403|Host: localhost;Sec-Fetch-Site: cross-site",
                "200|Host: localhost;Sec-Fetch-Site: same-origin",
                "417|Host: localhost;Expect: tea",
                "400|Host: localhost;Content-Length: 5;Transfer-Encoding: chunked",
                "400|Host: localhost;Content-Length: 5;Content-Length: 6",
                "400|Host: localhost;Content-Length: -1",
                "413|Host: localhost;Content-Length: 2147483647",
                "413|Host: localhost;Content-Length: 9223372036854775807",
                "401|Host: localhost;Authorization: Bearer wrong",
                "401|Host: localhost;Authorization: Basic dGVzdA=="
            })
    void headers_are_checked(String code, String headers) {
        assertThat(outcome("GET /ok HTTP/1.1\r\n" + headers.replace(";", "\r\n") + "\r\n\r\n"))
                .isEqualTo(code);
    }

    @Test
    void a_token_lets_in_and_is_told_from_others() {
        String request = "GET /read/a HTTP/1.1\r\n" + HOST + "Authorization: Bearer %s\r\n\r\n";
        send(request.formatted(token.text()));
        assertThat(received()).startsWith("HTTP/1.1 200").contains("\"by\":\"tester\"");
        assertThat(outcome(request.formatted(token.text() + "x"))).isEqualTo("401");
        assertThat(outcome(request.formatted("x".repeat(1_000)))).isEqualTo("401");
    }

    @Test
    void what_is_too_long_is_refused_before_it_is_read() {
        assertThat(outcome("GET /" + "x".repeat(3_000) + " HTTP/1.1\r\n")).isEqualTo("414");
        channel = connect();
        assertThat(outcome("GET /ok HTTP/1.1\r\n" + HOST + "X: " + "x".repeat(3_000) + "\r\n\r\n"))
                .isEqualTo("431");
        channel = connect();
        assertThat(outcome("GET /ok HTTP/1.1\r\n" + HOST + "X: y\r\n".repeat(600) + "\r\n"))
                .isEqualTo("431");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\0\0\0\0\r\n\r\n", "\u0016\u0003\u0001\u0002\r\n\r\n", "x\r\n\r\n"})
    void what_is_no_http_is_refused(String rubbish) {
        assertThat(outcome(rubbish)).isEqualTo("400");
    }

    @Test
    void thousands_of_requests_in_one_packet_are_answered_one_after_the_other() {
        int count = 3_000;
        send(("GET /ok HTTP/1.1\r\n" + HOST + "\r\n").repeat(count));
        assertThat(received().split("HTTP/1.1 200", -1)).hasSize(count + 1);
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void one_connection_too_many_is_told_so() {
        for (int i = 0; i < options.connectionCountMax() - 1; i++) {
            EmbeddedChannel other = connect();
            assertThat(other.isOpen()).isTrue();
        }
        EmbeddedChannel tooMany = connect();
        ByteBuf answer = tooMany.readOutbound();
        assertThat(answer.toString(StandardCharsets.UTF_8)).startsWith("HTTP/1.1 503");
        answer.release();
    }

    @ParameterizedTest
    @CsvSource({"192.0.2.1, 192.0.2.1, 192.0.2.2", "2001:db8::1, 2001:db8::2, 2001:db8:0:1::1"})
    void one_connection_too_many_of_a_peer_is_told_so(String one, String same, String other) {
        EmbeddedChannel first = connectFrom(one);
        connectFrom(same);
        var _ = channel.close(); // there is room for four
        EmbeddedChannel tooMany = connectFrom(one);
        ByteBuf answer = tooMany.readOutbound();
        assertThat(answer.toString(StandardCharsets.UTF_8))
                .startsWith("HTTP/1.1 429")
                .containsIgnoringCase("retry-after: 1")
                .contains("your address has 2 connections, as many as one may");
        answer.release();
        assertThat(meters.scope("route", "none")
                        .scope("code", "429")
                        .counter("http.requests")
                        .sum())
                .isEqualTo(1);
        for (int i = 0; i < options.connectionCountMax() - 1; i++) {
            assertThat(connectFrom(one).isOpen()).as("told why, in its time").isTrue();
        }
        assertThat(connectFrom(one).isOpen()).as("one more is told nothing").isFalse();
        assertThat(connectFrom(other).outboundMessages())
                .as("who is refused takes no place of others")
                .isEmpty();
        var _ = first.close();
        assertThat(connectFrom(one).outboundMessages())
                .as("there is room again")
                .isEmpty();
    }

    @Test
    void connections_of_this_machine_are_no_peers() {
        for (int i = 0; i < options.connectionCountMax() - 1; i++) {
            assertThat(connectFrom(i == 0 ? "::1" : "127.0.0.1").outboundMessages())
                    .isEmpty();
        }
    }

    @Test
    void peers_that_have_gone_take_no_room() {
        PeerCounts peers = new PeerCounts(1);
        EmbeddedChannel one = connectFrom("192.0.2.1");
        assertThat(peers.enter(one)).isNull();
        assertThat(peers.peerCount()).isEqualTo(1);
        var _ = one.close();
        one.runPendingTasks();
        assertThat(peers.peerCount()).isZero();
    }
}
