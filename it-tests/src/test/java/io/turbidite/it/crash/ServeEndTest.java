package io.turbidite.it.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.ops.Query;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The command {@code serve} is told to end while clients hang: one with half a head, one with half
 * a body, one that follows events, one whose statement counts for hours, and one that takes nothing
 * of its answer.
 */
@Timeout(300)
class ServeEndTest {
    private static final int RECORD_COUNT = 3_000;
    private static final long END_MILLIS_MAX = 10_000;

    /** What a shell says of a process that SIGTERM has ended. */
    private static final int TERMINATED = 128 + 15;

    @TempDir
    Path directory;

    private final HttpClient client = HttpClient.newHttpClient();
    private final List<AutoCloseable> hanging = new ArrayList<>();
    private String token = "";

    @BeforeEach
    void makeStore() throws IOException {
        Store.open(directory.resolve("store"), StoreOptions.defaults()).close();
        token = ServedChild.makeToken(directory.resolve("tokens"));
        Files.writeString(directory.resolve("feed.yaml"), """
                feed: f
                dataset: { name: D, type: { id: int64, text: string }, primaryKey: id }
                mode: insert
                source: { kind: http }
                parser: { kind: json }
                """);
    }

    @AfterEach
    void letGo() throws Exception {
        client.shutdownNow();
        for (AutoCloseable one : hanging) {
            one.close();
        }
    }

    @Test
    void told_to_end_it_ends_well_in_ten_seconds_whoever_hangs() throws Exception {
        try (ServedChild child = ServedChild.start(directory, client, token)) {
            fill(child);
            CompletableFuture<HttpResponse<InputStream>> counting = hang(child);
            long start = System.nanoTime();
            child.terminate();
            int code = child.exitCode(60_000);
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            assertThat(code).as(child.errors()).isZero();
            assertThat(millis).as(child.errors()).isLessThan(END_MILLIS_MAX);
            assertThat(child.errors()).contains("ended");
            assertThat(counting).as("the statement is cut").failsWithin(10, TimeUnit.SECONDS);
        }
        try (Store store = Store.open(directory.resolve("store"), StoreOptions.defaults())) {
            assertThat(Query.on(store.dataset("D")).run().toList()).hasSize(RECORD_COUNT);
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    @Test
    void told_so_twice_it_ends_at_once() throws Exception {
        try (ServedChild child = ServedChild.start(directory, client, token)) {
            fill(child);
            CompletableFuture<HttpResponse<InputStream>> counting = hang(child);
            assertThat(counting).isNotDone();
            child.terminate(); // who counts has four seconds from now on
            int code = child.exitCode(200);
            while (code < 0) {
                child.terminate();
                code = child.exitCode(200);
            }
            assertThat(code).as(child.errors()).isEqualTo(TERMINATED);
            assertThat(child.errors()).doesNotContain("ended");
        }
        try (Store store = Store.open(directory.resolve("store"), StoreOptions.defaults())) {
            assertThat(Query.on(store.dataset("D")).run().toList()).hasSize(RECORD_COUNT);
        }
    }

    private static void fill(ServedChild child) throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int id = 0; id < RECORD_COUNT; id++) {
            lines.append("{\"id\":%d,\"text\":\"text of %d\"}%n".formatted(id, id));
        }
        var said = child.answer(child.send("f", 1, lines.toString()).get(60, TimeUnit.SECONDS));
        assertThat(said.at("/accepted").asInt()).isEqualTo(RECORD_COUNT);
    }

    /** Returns what the longest one is told. */
    private CompletableFuture<HttpResponse<InputStream>> hang(ServedChild child) throws Exception {
        String head = "POST /v1/feeds/f HTTP/1.1\r\nHost: localhost\r\n";
        String authorized = head + "Authorization: Bearer " + token + "\r\n";
        send(child, head);
        send(child, authorized + "Content-Length: 1000\r\n\r\n{\"id\":");
        String rows = "{\"statement\":\"select a.text from D a cross join D b\"}";
        send(
                child,
                authorized.replace("/v1/feeds/f", "/v1/stores/store/sql")
                        + "Content-Length: %d\r\n\r\n%s".formatted(rows.length(), rows));
        HttpResponse<InputStream> events = child.begin("/v1/events", "").get(60, TimeUnit.SECONDS);
        assertThat(events.statusCode()).isEqualTo(200);
        assertThat(events.body().read()).isPositive(); // it streams
        hanging.add(events.body());
        CompletableFuture<HttpResponse<InputStream>> counting = child.begin(
                "/v1/stores/store/sql",
                "{\"statement\":\"select count(*) as n from D a cross join D b cross join D c"
                        + " where a.id + b.id < c.id\"}");
        // all are there before the process is told to end
        TimeUnit.MILLISECONDS.sleep(500);
        assertThat(counting).isNotDone();
        return counting;
    }

    /** Says something and then nothing more. */
    private void send(ServedChild child, String text) throws IOException {
        String[] at = child.hostAndPort().split(":", 2);
        Socket socket = new Socket(at[0], Integer.parseInt(at[1]));
        hanging.add(socket);
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
    }
}
