package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPOutputStream;

/** Does to a server what it should not, drawn from a seed. <em>Confined to one thread.</em> */
final class Abuser {
    /** Ways of abuse. */
    static final int KIND_COUNT = 8;

    /** Slow connections at a time: fewer than requests that may be at work. */
    private static final int HELD_MAX = 16;

    private static final byte[] BOMB = packed(new byte[16 << 20]);

    private final Random random;
    private final int httpPort;
    private final int lockedPort;
    private final int tcpPort;
    private final String token;
    private final Deque<Socket> held = new ArrayDeque<>();
    private final BitSet played = new BitSet();
    private long turns;
    private long cuts;

    /**
     * Abuse of a server.
     *
     * @param lockedPort where the token does not let in
     * @param token for the feeds posts_bad and lines_bad
     */
    Abuser(Random random, int httpPort, int lockedPort, int tcpPort, String token) {
        this.random = random;
        this.httpPort = httpPort;
        this.lockedPort = lockedPort;
        this.tcpPort = tcpPort;
        this.token = token;
    }

    int kindsPlayed() {
        return played.cardinality();
    }

    /** Plays each kind, goes on until told to stop, and then closes whatever it holds. */
    void play(BooleanSupplier stop) throws IOException {
        try {
            while (!stop.getAsBoolean() || turns < KIND_COUNT) {
                // each kind once, however slow the machine is
                int kind = turns < KIND_COUNT ? (int) turns : random.nextInt(KIND_COUNT);
                played.set(kind);
                turns++;
                try {
                    turn(kind);
                } catch (IOException e) {
                    cuts++; // the server may cut off who abuses it
                }
            }
        } finally {
            for (Socket socket : held) {
                socket.close();
            }
            held.clear();
        }
    }

    private void turn(int kind) throws IOException {
        switch (kind) {
            case 0 -> slowHead();
            case 1 -> slowBody();
            case 2 -> halfAndLeave();
            case 3 -> floodOfConnections();
            case 4 -> bomb();
            case 5 -> wrongToken();
            case 6 -> junk();
            case 7 -> floodOfRequests();
            default -> throw new IllegalArgumentException("kind " + kind);
        }
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(30_000);
        socket.setTcpNoDelay(true);
        return socket;
    }

    private int anyPort() {
        return List.of(httpPort, lockedPort, tcpPort).get(random.nextInt(3));
    }

    private void hold(Socket socket) throws IOException {
        held.add(socket);
        if (held.size() > HELD_MAX) {
            held.remove().close();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String head(String by, String feed, String more, int length) {
        return "POST /v1/feeds/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%sContent-Length: %d\r\n\r\n"
                .formatted(feed, by, more, length);
    }

    private void slowly(Socket socket, byte[] all) throws IOException {
        OutputStream out = socket.getOutputStream();
        for (int i = 0; i < Math.min(all.length, 1 + random.nextInt(40)); i++) {
            out.write(all[i]);
        }
        hold(socket);
    }

    private void slowHead() throws IOException {
        int port = anyPort();
        String head = port == httpPort
                ? head(token, "posts_bad", "", 10)
                : "{\"token\":\"%s\",\"producer\":\"slow\"}\n".formatted(token);
        slowly(connect(port), bytes(head));
    }

    private void slowBody() throws IOException {
        boolean isHttp = random.nextBoolean();
        Socket socket = connect(isHttp ? httpPort : tcpPort);
        socket.getOutputStream()
                .write(bytes(isHttp ? head(token, "posts_bad", "", 1_000) : firstLine()));
        slowly(socket, bytes("{\"id\":1,\"name\":\"" + "x".repeat(100)));
    }

    private String firstLine() {
        return "{\"token\":\"%s\"}\n".formatted(token);
    }

    private void halfAndLeave() throws IOException {
        boolean isHttp = random.nextBoolean();
        try (Socket socket = connect(isHttp ? httpPort : tcpPort)) {
            String record = "{\"id\":2,\"name\":\"half";
            socket.getOutputStream()
                    .write(bytes(
                            isHttp
                                    ? head(token, "posts_bad", "", 100) + record
                                    : firstLine() + record));
            if (random.nextBoolean()) {
                socket.setSoLinger(true, 0); // leaves by a reset
            }
        }
    }

    private void floodOfConnections() throws IOException {
        List<Socket> all = new ArrayList<>();
        try {
            int port = anyPort();
            for (int i = 10 + random.nextInt(40); i > 0; i--) {
                all.add(connect(port));
            }
        } finally {
            for (Socket one : all) {
                one.close();
            }
        }
    }

    private void bomb() throws IOException {
        switch (random.nextInt(3)) {
            case 0 ->
                assertThat(post(token, "posts_bad", "Content-Encoding: gzip\r\n", BOMB))
                        .startsWith("HTTP/1.1 413");
            case 1 ->
                assertThat(post(token, "posts_bad", "", bytes("[".repeat(100_000))))
                        .containsAnyOf("HTTP/1.1 200", "HTTP/1.1 400")
                        .doesNotContain("\"accepted\":1");
            default -> {
                try (Socket socket = connect(tcpPort)) {
                    socket.getOutputStream().write(BOMB);
                    socket.shutdownOutput();
                    drain(socket);
                }
            }
        }
    }

    private void wrongToken() throws IOException {
        byte[] record = bytes("{\"id\":-3,\"name\":\"wrong\"}\n");
        String guess = random.nextBoolean() ? token : token.substring(1) + "x";
        if (random.nextBoolean()) {
            assertThat(post(guess, "posts", "", record))
                    .containsAnyOf("HTTP/1.1 401", "HTTP/1.1 403", "HTTP/1.1 404");
        } else {
            try (Socket socket = connect(lockedPort)) {
                socket.getOutputStream().write(bytes("{\"token\":\"%s\"}\n".formatted(guess)));
                socket.getOutputStream().write(record);
                assertThat(drain(socket)).contains("error");
            }
        }
    }

    private void junk() throws IOException {
        byte[] bytes = new byte[1 + random.nextInt(4_000)];
        random.nextBytes(bytes);
        try (Socket socket = connect(anyPort())) {
            socket.getOutputStream().write(bytes);
            socket.shutdownOutput();
            drain(socket);
        }
    }

    private void floodOfRequests() throws IOException {
        try (Socket socket = connect(httpPort)) {
            socket.getOutputStream()
                    .write(bytes("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
                            .repeat(50 + random.nextInt(200))));
            if (random.nextBoolean()) {
                socket.shutdownOutput();
                drain(socket);
            }
        }
    }

    private String post(String by, String feed, String more, byte[] body) throws IOException {
        try (Socket socket = connect(httpPort)) {
            OutputStream out = socket.getOutputStream();
            out.write(bytes(head(by, feed, "Connection: close\r\n" + more, body.length)));
            out.write(body);
            return drain(socket);
        }
    }

    private static String drain(Socket socket) throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static byte[] packed(byte[] zeros) {
        Arrays.fill(zeros, (byte) ' ');
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(to)) {
            out.write(zeros);
        } catch (IOException e) {
            throw new IllegalStateException("memory takes everything", e);
        }
        return to.toByteArray();
    }

    @Override
    public String toString() {
        return "%d turns of abuse, %d cut off".formatted(turns, cuts);
    }
}
