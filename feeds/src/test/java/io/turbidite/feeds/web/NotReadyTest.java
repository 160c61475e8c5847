package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvent.FeedChanged;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.health.Finding;
import io.turbidite.feeds.health.Findings;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.tcp.TcpDoor;
import io.turbidite.feeds.web.tcp.TcpOptions;
import io.turbidite.feeds.web.tcp.TcpServer;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;

/** What clients are told while a store takes no writes: why, and when to come again. */
@Timeout(60)
class NotReadyTest {
    private static final String FEED = """
        feed: %1$s
        dataset:
          name: Of_%1$s
          type: { id: int64 }
          primaryKey: id
        source: { kind: %1$s }
        parser: { kind: json }
        """;

    private static final InetSocketAddress ANYWHERE =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** A store of a simulated disk, served. */
    private static final class Served implements AutoCloseable {
        final SimDisk disk = new SimDisk(1, Profile.STRICT);
        private final Token.Made token =
                Token.make("all", EnumSet.allOf(Right.class), List.of("*"), List.of("*"));
        private final Tasks tasks = ThreadTasks.create("test");
        final Store store = Store.open(
                disk,
                tasks,
                Clock.system(),
                StoreOptions.defaults()
                        .withLog(
                                64 << 20,
                                LogOptions.defaults()
                                        .withDurability(Durability.SYNC)
                                        .withSegmentBytes(256 << 10, 16, 2 << 10, 64 << 10)));
        final FeedManager feeds = FeedManager.open(store);
        private final WebServer web;
        private final TcpServer lines;
        private final HttpClient client = HttpClient.newHttpClient();

        Served() throws IOException {
            Gate gate = Gate.of(List.of(token.kept()), true);
            feeds.start(FEED.formatted("http"), Path.of(""));
            feeds.start(FEED.formatted("tcp"), Path.of(""));
            NotReadyTest.await(this, "http", FeedState.WAITING);
            NotReadyTest.await(this, "tcp", FeedState.WAITING);
            web = WebServer.start(
                    new ServedStores(Map.of("one", store), Map.of("one", feeds)),
                    new WebServer.Options(
                            List.of(ANYWHERE),
                            List.of(),
                            HttpOptions.defaults(),
                            gate,
                            null,
                            FilesRoot.none()),
                    Clock.system());
            lines = TcpServer.start(
                    new TcpServer.Parts(
                            TcpOptions.defaults(),
                            Map.of("one", feeds),
                            gate,
                            null,
                            new Meters(Clock.system())),
                    List.of(new TcpDoor("tcp", ANYWHERE, true)));
        }

        HttpResponse<String> ready() throws Exception {
            return client.send(
                    HttpRequest.newBuilder(ServedStore.uri(web, "/health/ready"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }

        HttpResponse<String> post(String line) throws Exception {
            return client.send(
                    HttpRequest.newBuilder(ServedStore.uri(web, "/v1/feeds/http"))
                            .header("Authorization", "Bearer " + token.text())
                            .POST(BodyPublishers.ofString(line))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }

        /** The last line that a client hears that sends one record. */
        String send(String line) throws IOException {
            InetSocketAddress at = lines.addresses().values().iterator().next();
            try (Socket socket = new Socket(at.getAddress(), at.getPort())) {
                socket.getOutputStream().write(line.getBytes(StandardCharsets.UTF_8));
                socket.shutdownOutput();
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                return in.lines().toList().getLast();
            }
        }

        void write() {
            store.dataset("Of_http").upsert(Map.of("id", 77L));
        }

        @Override
        public void close() {
            disk.clearFaults();
            lines.close();
            web.close();
            client.close();
            feeds.close();
            try {
                store.close();
            } catch (StorageException failed) {
                assertThat(failed.getMessage()).contains("injected");
            }
            tasks.close();
        }
    }

    private static void refuses(HttpResponse<String> ready, String why) throws Exception {
        assertThat(ready.statusCode()).isEqualTo(503);
        assertThat(ready.headers().firstValue("retry-after")).contains("10");
        JsonNode told = ServedStore.json(ready.body());
        assertThat(told.at("/ready").asBoolean(true)).isFalse();
        assertThat(told.at("/reasons/0/store").asText()).isEqualTo("one");
        assertThat(told.at("/reasons/0/reason").asText()).contains(why);
    }

    private static void refusesRecords(HttpResponse<String> answer, String why) throws Exception {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
        assertThat(answer.headers().firstValue("retry-after")).contains("10");
        assertThat(answer.headers().firstValue("content-type"))
                .contains("application/problem+json");
        assertThat(ServedStore.json(answer.body()).at("/detail").asText()).contains(why);
    }

    private static void takes(Served served, int id) throws Exception {
        assertThat(served.ready().body()).isEqualTo("{\"ready\":true,\"reasons\":[]}\n");
        assertThat(served.ready().headers().firstValue("retry-after")).isEmpty();
        assertThat(served.post("{\"id\":%d}\n".formatted(id)).body()).contains("\"accepted\":1");
        assertThat(served.send("{\"id\":%d}\n".formatted(id))).isEqualTo("{\"acked\":1}");
    }

    @Test
    void aServerIsNotReadyUntilAllFeedsAreStarted() throws Exception {
        try (WebServer web = WebServer.startUnready(
                        new ServedStores(Map.of(), Map.of()),
                        new WebServer.Options(
                                List.of(ANYWHERE),
                                List.of(),
                                HttpOptions.defaults(),
                                Gate.of(List.of(), true),
                                null,
                                FilesRoot.none()),
                        Clock.system());
                HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest ask = HttpRequest.newBuilder(ServedStore.uri(web, "/health/ready"))
                    .build();
            HttpResponse<String> before = client.send(ask, HttpResponse.BodyHandlers.ofString());
            assertThat(before.statusCode()).isEqualTo(503);
            assertThat(before.body()).contains("not all feeds are started yet");
            assertThat(before.headers().firstValue("Retry-After")).hasValue("1");
            web.hasStarted();
            assertThat(client.send(ask, HttpResponse.BodyHandlers.ofString()).statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void a_store_that_has_failed_says_so_to_everybody() throws Exception {
        try (Served served = new Served()) {
            takes(served, 1);
            served.disk.fault(FaultScript.with(Fault.EIO)
                    .on(OperationKind.WRITE, OperationKind.SYNC)
                    .forever());
            assertThatThrownBy(served::write).isInstanceOf(StoreFailedException.class);

            String why = "the store takes no writes since a failure";
            refuses(served.ready(), why);
            refusesRecords(served.post("{\"id\":2}\n"), why);
            JsonNode first = ServedStore.json(served.send("{\"id\":2}\n"));
            assertThat(first.at("/acked").asLong()).isZero();
            assertThat(first.at("/error").asText())
                    .as("the bug: only that it had ended")
                    .contains("before all of it was durable", why);
            assertThat(first.at("/retry").asLong()).isPositive();
            await(served, "tcp", FeedState.FAILED);
            JsonNode second = ServedStore.json(served.send("{\"id\":2}\n"));
            assertThat(second.at("/acked").asLong()).isZero();
            assertThat(second.at("/error").asText()).contains(why);
        }
    }

    @Test
    void a_full_disk_is_told_until_it_has_space_again() throws Exception {
        try (Served served = new Served()) {
            takes(served, 1);
            served.disk.fault(FaultScript.with(Fault.ENOSPC)
                    .on(OperationKind.CREATE)
                    .named(name -> name.startsWith("data/"))
                    .forever());
            assertThatThrownBy(() -> served.store.dataset("Of_http").flush())
                    .isInstanceOf(StorageIoException.class);
            while (served.ready().statusCode() == 200) {
                Thread.onSpinWait(); // who flushed may know before the event is there
            }

            refuses(served.ready(), "no space on disk: flush");
            refusesRecords(served.post("{\"id\":2}\n"), "no space on disk: flush");
            assertThat(Findings.of(served.store))
                    .filteredOn(one -> one.what().startsWith("the store takes no writes"))
                    .extracting(Finding::advice)
                    .containsExactly("make space on the disk; the store goes on by itself");
            assertThat(served.send("{\"id\":2}\n"))
                    .as("the log has space, and lines wait for more where it has none")
                    .isEqualTo("{\"acked\":1}");

            hasSpaceAgain(served);
            takes(served, 3);
        }
    }

    @Test
    void a_log_without_space_for_its_next_segment_is_told_until_it_has_some() throws Exception {
        try (Served served = new Served()) {
            takes(served, 1);
            fillLog(served);

            String why = "writes are accepted again when there is room";
            refuses(served.ready(), why);
            refusesRecords(served.post("{\"id\":2}\n"), why);

            hasSpaceAgain(served);
            takes(served, 3);
        }
    }

    @Test
    void a_feed_that_works_again_has_no_cause_any_more() throws Exception {
        try (Served served = new Served()) {
            takes(served, 1);
            fillLog(served);
            assertThat(served.send("{\"id\":2}\n")).contains("error");
            assertThat(served.store.events().recent())
                    .anyMatch(event -> event instanceof FeedChanged changed
                            && changed.after().equals("retrying")
                            && String.valueOf(changed.cause()).contains("log segment"));

            hasSpaceAgain(served);
            await(served, "tcp", FeedState.WAITING);
            assertThat(served.feeds.status("tcp").cause())
                    .as("the bug: that of the failure which is over")
                    .isNull();
        }
    }

    /** Writes until the log would need a segment more, for which there is no space. */
    private static void fillLog(Served served) {
        served.disk.fault(FaultScript.with(Fault.ENOSPC)
                .on(OperationKind.CREATE)
                .named(name -> name.startsWith("log/"))
                .forever());
        assertThatThrownBy(() -> {
                    while (true) {
                        served.write();
                    }
                })
                .isInstanceOf(StorageIoException.class)
                .hasMessageContaining("log segment");
    }

    private static void hasSpaceAgain(Served served) throws Exception {
        served.disk.clearFaults();
        while (served.ready().statusCode() != 200) {
            Thread.sleep(1);
        }
    }

    private static void await(Served served, String feed, FeedState state) {
        while (served.feeds.status(feed).state() != state) {
            Thread.onSpinWait();
        }
    }
}
