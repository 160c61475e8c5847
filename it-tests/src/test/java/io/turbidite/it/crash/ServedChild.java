package io.turbidite.it.crash;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.sim.KilledChild;
import io.turbidite.feeds.command.Main;
import io.turbidite.feeds.web.access.Token;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A process of the command {@code serve} with one store and one feed, and how to ask it.
 * <em>Confined to one thread.</em>
 */
final class ServedChild implements AutoCloseable {
    static final String OWNER = "client";
    static final ObjectMapper JSON = new ObjectMapper();

    private final KilledChild child;
    private final HttpClient client;
    private final String token;
    private final String address;

    private ServedChild(KilledChild child, HttpClient client, String token) throws IOException {
        this.child = child;
        this.client = client;
        this.token = token;
        this.address =
                "http://" + JSON.readTree(child.line()).at("/listening/0").asText();
    }

    /** A token that may do all, in a file of tokens. */
    static String makeToken(Path tokens) throws IOException {
        Token.Made made = Token.make(
                OWNER, Token.rights(List.of("read", "write")), List.of("*"), List.of("*"));
        Files.writeString(tokens, made.kept().toLine() + "\n");
        return made.text();
    }

    /**
     * Starts it in a directory that has all of it: store, definition, file of tokens. Returns when
     * it takes requests.
     */
    static ServedChild start(Path directory, HttpClient client, String token) throws IOException {
        KilledChild child = KilledChild.start(
                directory.resolve("errors"),
                Main.class,
                "serve",
                directory.resolve("store"),
                directory.resolve("feed.yaml"),
                "--tokens",
                directory.resolve("tokens"),
                "--listen",
                "127.0.0.1:0",
                "--json");
        try {
            return new ServedChild(child, client, token);
        } catch (Throwable e) {
            child.close();
            throw e;
        }
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(address + path))
                .timeout(Duration.ofSeconds(60))
                .header("Authorization", "Bearer " + token);
    }

    /** How many records the feed has taken since the process was started. */
    long taken(String feed) throws InterruptedException {
        try {
            HttpRequest request = request("/v1/feeds/" + feed).build();
            return answer(client.send(request, BodyHandlers.ofString()))
                    .at("/records")
                    .asLong();
        } catch (IOException e) {
            throw new AssertionError(child.errors(), e);
        }
    }

    /** Sends lines, of which the first one has this number. */
    CompletableFuture<HttpResponse<String>> send(String feed, long first, String lines) {
        String path = "/v1/feeds/%s?producer=p&sequence=%d".formatted(feed, first);
        HttpRequest request = request(path)
                .header("Content-Type", "application/x-ndjson")
                .POST(HttpRequest.BodyPublishers.ofString(lines))
                .build();
        return client.sendAsync(request, BodyHandlers.ofString());
    }

    /** What a good answer says. */
    JsonNode answer(HttpResponse<String> response) throws IOException {
        assertThat(response.statusCode())
                .as("%s%n%s", response.body(), child.errors())
                .isEqualTo(200);
        return JSON.readTree(response.body());
    }

    /** Where it listens, as {@code host:port}. */
    String hostAndPort() {
        return address.substring("http://".length());
    }

    /** Asks for something that ends late or never; what is said of it is not looked at. */
    CompletableFuture<HttpResponse<InputStream>> begin(String path, String body) {
        HttpRequest.Builder request = request(path);
        return client.sendAsync(
                body.isEmpty()
                        ? request.build()
                        : request.POST(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                BodyHandlers.ofInputStream());
    }

    String errors() {
        return child.errors();
    }

    /** Tells it to end (SIGTERM). */
    void terminate() {
        child.terminate();
    }

    /** See {@link KilledChild#exitCode}. */
    int exitCode(long millisMax) throws InterruptedException {
        return child.exitCode(millisMax);
    }

    void kill() {
        child.kill();
    }

    @Override
    public void close() throws IOException {
        child.close();
    }
}
