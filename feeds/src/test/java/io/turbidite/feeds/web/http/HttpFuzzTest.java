package io.turbidite.feeds.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.Mutation;
import io.turbidite.feeds.web.access.Gate;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * R14: damaged heads and bodies behind a sound request, in pieces. The sound one is answered; each
 * answer has a status that is meant for clients; when the client sends no more the connection ends.
 * Heads are taken by one thread: there a connection that the server ends was told so, and all of
 * its memory is free.
 */
class HttpFuzzTest {
    private static final int COUNT = Tier.count(300, 3_000, 1_000_000);

    /** Of one input on its loop: heads have 2 KiB at most, bodies are handed on. */
    private static final long BYTES_MAX = 8 << 20;

    private static final int BODY_COUNT = Tier.count(100, 600, 200_000);
    private static final int HANG_MILLIS = 20_000;
    private static final String HOST = "Host: localhost\r\n";
    private static final String GET = "GET /ok HTTP/1.1\r\n" + HOST + "\r\n";
    private static final String POST =
            "POST /body HTTP/1.1\r\n" + HOST + "Content-Length: 5\r\n\r\nhello";

    private static final List<String> SOUND = List.of(
            GET,
            POST,
            "HEAD /ok?a=1&b=%20 HTTP/1.1\r\n" + HOST + "Origin: http://localhost\r\n\r\n" + GET,
            "GET /read/a HTTP/1.1\r\n" + HOST + "Authorization: Bearer " + "x".repeat(43)
                    + "\r\n\r\n",
            "POST /body HTTP/1.1\r\n" + HOST
                    + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc" + GET,
            "POST /body HTTP/1.1\r\n" + HOST
                    + "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\na\r\n0123456789\r\n0\r\n"
                    + "Trailer: x\r\n\r\n"
                    + GET,
            "POST /body HTTP/1.0\r\n" + HOST + "Connection: keep-alive\r\n\r\n" + POST.repeat(3));

    private static final List<byte[]> WORDS = List.of(
                    "\r\n",
                    "\r\n\r\n",
                    "\n",
                    "\0",
                    ":",
                    " ",
                    "%2e%2e",
                    "%",
                    "/",
                    "?",
                    "&a=1&a=1",
                    "HTTP/1.0",
                    "HTTP/9.9",
                    "Content-Length: 7\r\n",
                    "Content-Length: 99999999999999999999\r\n",
                    "Content-Length: -1\r\n",
                    "Transfer-Encoding: chunked\r\n",
                    "Transfer-Encoding: identity\r\n",
                    "Expect: 100-continue\r\n",
                    "Connection: close\r\n",
                    "Connection: upgrade\r\nUpgrade: websocket\r\n",
                    "Content-Encoding: gzip\r\n",
                    "ffffffff\r\n",
                    "0\r\n\r\n",
                    "x".repeat(3_000),
                    GET)
            .stream()
            .map(HttpFuzzTest::bytes)
            .toList();

    private static final Pattern ANSWER = Pattern.compile(
            "HTTP/1\\.1 (\\d{3}) [A-Za-z -]*\r\n((?:[^\r\n]+\r\n)*)\r\n", Pattern.CASE_INSENSITIVE);

    /** Those of docs; 500 is none. */
    private static final Set<Integer> STATUSES = Set.of(
            100, 200, 400, 401, 403, 404, 405, 408, 413, 414, 415, 417, 421, 429, 431, 501, 503,
            505);

    private @Nullable HttpServer opened;

    @AfterEach
    void close() {
        if (opened != null) {
            opened.close();
        }
    }

    private static HttpServer.Parts parts(Route body) {
        return new HttpServer.Parts(
                // so few connections that one which is not given back is soon missed
                new HttpOptions(
                        16, 16, 8, 1, 2_048, 10_000, 20_000, 60_000, 20_000, 64 << 10, 1 << 20,
                        60_000),
                List.of(
                        Route.light(
                                "GET",
                                "/ok",
                                Right.NONE,
                                exchange -> exchange.answer(200, Map.of("ok", true))),
                        Route.light(
                                "GET",
                                "/read/{store}",
                                Right.READ,
                                exchange -> exchange.answer(200, Map.of("ok", true))),
                        body),
                exchange -> {
                    throw Problem.of(404, "no file");
                },
                Gate.of(List.of(), false),
                List.of("named.example"),
                null,
                new Meters(),
                Clock.system());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Control characters as numbers. */
    private static String shown(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            text.append(b < ' ' ? "\\%02x".formatted(b & 0xFF) : (char) b);
        }
        return text.toString();
    }

    /** An input in one piece or in some, and how it is told in an error. */
    private record Input(List<byte[]> pieces, String as) {
        static Input of(String test, int round) {
            long seed = Seeds.of(test);
            SplittableRandom random = new SplittableRandom(Seeds.mix(seed, round));
            byte[] damaged = Mutation.ofText(bytes(SOUND.get(round % SOUND.size())), WORDS, random);
            List<byte[]> pieces = new ArrayList<>();
            int bound = random.nextBoolean() ? Math.max(1, damaged.length) : 40;
            for (int at = 0; at < damaged.length; ) {
                int count = Math.min(damaged.length - at, 1 + random.nextInt(bound));
                pieces.add(Arrays.copyOfRange(damaged, at, at + count));
                at += count;
            }
            return new Input(
                    pieces,
                    "%s, round %d: %s".formatted(Seeds.replay(test, seed), round, shown(damaged)));
        }
    }

    /** Returns how many refusals are among the answers. */
    private static int check(String heard, String as) {
        assertThat(heard).as(as).startsWith("HTTP/1.1 200 OK\r\n");
        List<Integer> codes = ANSWER.matcher(heard)
                .results()
                .map(answer -> Integer.valueOf(answer.group(1)))
                .toList();
        assertThat(codes).as(as).isSubsetOf(STATUSES);
        return (int) codes.stream().filter(code -> code >= 400).count();
    }

    /** All on this thread: an error of the loop shows as an end that nobody was told of. */
    @Test
    @Timeout(3_600)
    void damaged_heads() {
        HttpServer server = new HttpServer(
                parts(Route.light(
                        "POST",
                        "/body",
                        Right.NONE,
                        exchange -> exchange.answer(200, Map.of("ok", true)))),
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 8470)),
                new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()));
        opened = server;
        int refusedCount = 0;
        int endedCount = 0;
        for (int i = 0; i < COUNT; i++) {
            Input input = Input.of("HttpFuzzTest#damaged_heads", i);
            EmbeddedChannel channel = new EmbeddedChannel();
            channel.freezeTime();
            channel.config().setAutoRead(false);
            server.accept(channel);
            List<ByteBuf> sent = new ArrayList<>();
            send(channel, bytes(GET), sent);
            long before = allocated();
            input.pieces().forEach(piece -> send(channel, piece, sent));
            assertThat(allocated() - before).as(input.as).isLessThan(BYTES_MAX);
            String heard = hear(channel);
            if (!channel.isOpen()) {
                endedCount++;
            }
            boolean isTold = lastHead(heard).contains("connection: close");
            assertThat(channel.isOpen() || isTold).as(input.as).isTrue();
            channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            channel.runPendingTasks();
            heard += hear(channel);
            assertThat(channel.isOpen()).as("it hangs: %s", input.as).isFalse();
            refusedCount += check(heard, input.as);
            channel.finishAndReleaseAll();
            assertThat(sent).as(input.as).allMatch(piece -> piece.refCnt() == 0);
        }
        System.out.printf(
                "HttpFuzzTest: %d inputs, %d refusals, %d connections ended by the server%n",
                COUNT, refusedCount, endedCount);
        assertThat(refusedCount).isGreaterThan(COUNT / 4);
    }

    private static void send(EmbeddedChannel channel, byte[] bytes, List<ByteBuf> sent) {
        channel.runPendingTasks();
        if (channel.isOpen()) {
            ByteBuf piece = Unpooled.wrappedBuffer(bytes);
            sent.add(piece);
            channel.writeInbound(piece);
            channel.runPendingTasks();
        }
    }

    private static String hear(EmbeddedChannel channel) {
        StringBuilder heard = new StringBuilder();
        for (ByteBuf piece = channel.readOutbound();
                piece != null;
                piece = channel.readOutbound()) {
            heard.append(piece.toString(StandardCharsets.ISO_8859_1));
            piece.release();
        }
        return heard.toString();
    }

    private static String lastHead(String heard) {
        return ANSWER.matcher(heard)
                .results()
                .map(MatchResult::group)
                .reduce("", (before, last) -> last)
                .toLowerCase(Locale.ROOT);
    }

    /** Bodies are taken by other threads, so over sockets. */
    @Test
    @Timeout(3_600)
    void damaged_bodies() throws IOException {
        HttpServer server = HttpServer.start(
                parts(Route.of(
                        "POST",
                        "/body",
                        Right.NONE,
                        exchange -> exchange.answer(
                                200, Map.of("bytes", exchange.body().readAllBytes().length)))),
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)));
        opened = server;
        InetSocketAddress at = server.addresses().getFirst();
        int refusedCount = 0;
        for (int i = 0; i < BODY_COUNT; i++) {
            Input input = Input.of("HttpFuzzTest#damaged_bodies", i);
            ByteArrayOutputStream heard = new ByteArrayOutputStream();
            try (Socket socket = new Socket(at.getAddress(), at.getPort())) {
                socket.setSoTimeout(HANG_MILLIS);
                socket.getOutputStream().write(bytes(POST));
                while (!heard.toString(StandardCharsets.ISO_8859_1).contains("{\"bytes\":5}")) {
                    int b = socket.getInputStream().read();
                    assertThat(b).as(input.as).isNotNegative();
                    heard.write(b);
                }
                try {
                    for (byte[] piece : input.pieces()) {
                        socket.getOutputStream().write(piece);
                    }
                    socket.shutdownOutput();
                    socket.getInputStream().transferTo(heard);
                } catch (SocketException cut) {
                    refusedCount++; // while more comes
                }
            } catch (SocketTimeoutException e) {
                throw new AssertionError("it hangs: " + input.as, e);
            }
            refusedCount += check(heard.toString(StandardCharsets.ISO_8859_1), input.as);
        }
        System.out.printf("HttpFuzzTest: %d bodies, %d refusals%n", BODY_COUNT, refusedCount);
        assertThat(refusedCount).isGreaterThan(BODY_COUNT / 4);
    }

    private static long allocated() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean())
                .getCurrentThreadAllocatedBytes();
    }
}
