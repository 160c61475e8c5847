package io.turbidite.feeds.console;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The console's files beside answers that a test makes up: states that a true store comes to once a
 * year are there at will. <em>Thread-safe.</em>
 */
final class FixtureServer implements AutoCloseable {
    static final String POLICY =
            "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    /** A listener of events. */
    private record Follower(OutputStream out) {}

    /** What a route answers with. */
    record Answer(int status, String body) {}

    private final HttpServer http;
    private final ExecutorService threads = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("console-fixture-", 0).factory());
    private final Map<String, Answer> answers = new ConcurrentHashMap<>();
    private final Map<String, Long> delays = new ConcurrentHashMap<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final List<Follower> followers = new CopyOnWriteArrayList<>();
    private final AtomicLong numbers = new AtomicLong();

    private FixtureServer(HttpServer http) {
        this.http = http;
    }

    /** Starts at a port; 0 is any that is free. */
    static FixtureServer start(int port) throws IOException {
        FixtureServer server = new FixtureServer(HttpServer.create(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 16));
        server.http.createContext("/", server::answer);
        server.http.setExecutor(server.threads);
        server.http.start();
        return server;
    }

    int port() {
        return http.getAddress().getPort();
    }

    URI page(String view) {
        return URI.create("http://127.0.0.1:%d/#%s".formatted(port(), view));
    }

    /** What is answered from now on: a key is a method and a path, without parameters. */
    void answers(String route, int status, Object body) {
        answers.put(route, new Answer(status, body instanceof String text ? text : text(body)));
    }

    /** So long a route waits before it answers. */
    void delays(String route, long millis) {
        delays.put(route, millis);
    }

    /** Methods and paths that were asked for, with their bodies behind. */
    List<String> asked() {
        return List.copyOf(asked);
    }

    /** Tells all followers. */
    void tell(String kind, Map<String, Object> fields) {
        byte[] bytes = "id: %d\nevent: %s\ndata: %s\n\n"
                .formatted(numbers.incrementAndGet(), kind, text(fields))
                .getBytes(StandardCharsets.UTF_8);
        followers.removeIf(one -> !isTold(one, bytes));
    }

    private static boolean isTold(Follower one, byte[] bytes) {
        try {
            one.out().write(bytes);
            one.out().flush();
            return true;
        } catch (IOException gone) {
            return false;
        }
    }

    int followerCount() {
        return followers.size();
    }

    static String text(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getRawPath();
        String body;
        try (InputStream in = exchange.getRequestBody()) {
            body = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        String route = exchange.getRequestMethod() + " " + path;
        asked.add(body.isEmpty() ? route : route + " " + body);
        if (path.equals("/v1/events") && !answers.containsKey(route)) {
            follow(exchange);
            return;
        }
        LockSupport.parkNanos(delays.getOrDefault(route, 0L) * 1_000_000);
        Answer answer = answers.get(route);
        if (answer != null) {
            send(
                    exchange,
                    answer.status(),
                    answer.status() >= 400 ? "application/problem+json" : "application/json",
                    answer.body().getBytes(StandardCharsets.UTF_8));
        } else {
            sendFile(exchange, path.equals("/") ? "index.html" : path.substring(1));
        }
    }

    private void follow(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        OutputStream out = exchange.getResponseBody();
        out.write("retry: 2000\n\n".getBytes(StandardCharsets.UTF_8));
        out.flush();
        followers.add(new Follower(out));
    }

    private static void sendFile(HttpExchange exchange, String name) throws IOException {
        String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        byte[] bytes = type == null || name.startsWith("v1/") ? null : ConsoleFile.read(name);
        if (bytes == null) {
            send(
                    exchange,
                    404,
                    "application/problem+json",
                    text(Map.of(
                                    "status",
                                    404,
                                    "title",
                                    "Not Found",
                                    "detail",
                                    "there is no /" + name))
                            .getBytes(StandardCharsets.UTF_8));
        } else {
            send(exchange, 200, type, bytes);
        }
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] bytes)
            throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.getResponseHeaders().set("Content-Security-Policy", POLICY);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(bytes);
        }
    }

    /** Ends at once: clients see their connections cut. */
    @Override
    public void close() {
        http.stop(0);
        threads.shutdownNow();
    }
}
