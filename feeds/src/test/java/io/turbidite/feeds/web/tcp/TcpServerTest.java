package io.turbidite.feeds.web.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.github.luben.zstd.Zstd;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.meter.Instrument;
import io.turbidite.core.meter.Reading;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.feeds.web.Ipv6;
import io.turbidite.feeds.web.LateClients;
import io.turbidite.feeds.web.tcp.TcpFixture.Client;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.zip.GZIPOutputStream;

/** Lines that are sent to a feed, over sockets. */
@Timeout(120)
class TcpServerTest {
    @TempDir
    private Path directory;

    private static String lines(long from, long to) {
        StringBuilder lines = new StringBuilder();
        for (long i = from; i <= to; i++) {
            lines.append("{\"id\":%d,\"name\":\"n%d\"}\n".formatted(i, i));
        }
        return lines.toString();
    }

    @Test
    void lines_without_a_first_line_are_taken_where_anybody_may_and_acknowledged()
            throws Exception {
        try (TcpFixture fixture = TcpFixture.open(directory);
                TcpServer server = fixture.serve(TcpFixture.LINES);
                Client client = Client.of(server)) {
            client.send(lines(1, 3)).hear(3);
            client.send(lines(4, 5_000)).hear(5_000);
            assertThat(fixture.count("Lines")).isEqualTo(5_000);
            assertThat(client.end().hear()).isNull();
        }
    }

    /** The bug: what was to be reached from a network of IPv4 was open to that of IPv6 too. */
    @Test
    void addresses_of_ipv4_are_not_reached_by_ipv6() throws IOException {
        Ipv6.assumeThere();
        TcpDoor door = new TcpDoor("lines", new InetSocketAddress("0.0.0.0", 0), false);
        try (TcpFixture fixture = TcpFixture.open(directory);
                TcpServer server = fixture.serve(door)) {
            int port = Objects.requireNonNull(server.addresses().get("lines")).getPort();
            Ipv6.knock("127.0.0.1", port);
            assertThatThrownBy(() -> Ipv6.knock("::1", port)).isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void what_is_rejected_is_told_by_its_line_and_acknowledged_too() throws Exception {
        try (TcpFixture fixture = TcpFixture.open(directory);
                TcpServer server = fixture.serve(TcpFixture.LINES);
                Client client = Client.of(server)) {
            client.send("{\"id\":1}\n\r\n\nno record\r\n{\"id\":2}\n").end();
            JsonNode last = client.hearLast();
            assertThat(last.path("acked").asLong()).isEqualTo(3);
            assertThat(last.path("rejected").asLong()).isEqualTo(1);
            assertThat(last.path("reasons").path(0).path("line").asLong()).isEqualTo(4);
            assertThat(fixture.count("Lines")).isEqualTo(2);
        }
    }

    /** The bug: nothing behind one was ever acknowledged, and the connection hung. */
    @Test
    void what_the_definition_leaves_out_is_acknowledged_too() throws Exception {
        String definition = TcpFixture.definition("some", "Some", "json") + "where: id > 1\n";
        try (TcpFixture fixture = TcpFixture.open(directory)) {
            fixture.feeds.start(definition, directory);
            TcpFixture.await(() -> fixture.feeds.status("some").state() == FeedState.WAITING);
            try (TcpServer server = fixture.serve(TcpFixture.door("some", true));
                    Client client = Client.of(server)) {
                client.send("{\"id\":1}\n{\"id\":2}\nno record\n{\"id\":0}\n").end();
                JsonNode last = client.hearLast();
                assertThat(last.path("acked").asLong()).isEqualTo(4);
                assertThat(last.path("dropped").asLong()).isEqualTo(2);
                assertThat(last.path("rejected").asLong()).isEqualTo(1);
            }
            assertThat(fixture.count("Some")).isEqualTo(1);
        }
    }

    @Test
    void rows_have_one_header_for_all_parcels_of_a_connection() throws Exception {
        StringBuilder rows = new StringBuilder("\uFEFFname,id\r\n");
        for (int i = 1; i <= 60_000; i++) {
            rows.append("row %d,%d\r\n".formatted(i, i));
        }
        try (TcpFixture fixture = TcpFixture.open(directory);
                TcpServer server = fixture.serve(TcpFixture.ROWS);
                Client client = Client.of(server)) {
            client.send(rows.toString()).hear(60_000);
            assertThat(fixture.count("Rows")).isEqualTo(60_000);
            assertThat(fixture.store.dataset("Rows").get(777L)).containsEntry("name", "row 777");
            client.send("\"two\nlines\",60001\n").end();
            JsonNode last = client.hearLast();
            assertThat(last.path("rejected").asLong()).isEqualTo(1); // a line is a record here
            assertThat(last.path("reasons").path(0).path("line").asLong()).isEqualTo(60_002);
        }
    }

    @Test
    void a_producer_is_taken_once_however_often_it_sends() throws Exception {
        try (TcpFixture fixture = TcpFixture.open(directory);
                TcpServer server = fixture.serve(TcpFixture.LOCKED)) {
            String token =
                    "{\"token\":\"%s\",\"producer\":\"roof\"".formatted(fixture.sender.text());
            for (int round = 0; round < 3; round++) {
                try (Client client = Client.of(server)) {
                    client.send(token + ",\"sequence\":1}\n" + lines(1, 100)).hear(100);
                }
            }
            try (Client client = Client.of(server)) { // that does not know where it stands
                client.send(token + "}\n").hear(100);
                client.send(lines(101, 110)).hear(110);
            }
            try (Client client = Client.of(server)) {
                client.send(token + ",\"sequence\":112}\n" + lines(112, 113));
                JsonNode last = client.hearLast();
                assertThat(last.path("error").asText()).contains("is number 111");
                assertThat(last.path("acked").asLong(-1)).isEqualTo(110);
            }
            fixture.feeds.pause("lines");
            fixture.feeds.resume("lines");
            try (Client client = Client.of(server)) { // what an earlier run took counts too
                client.send(token + ",\"sequence\":200}\n" + lines(200, 201));
                assertThat(client.hearLast().path("acked").asLong(-1)).isEqualTo(110);
            }
            try (Client client = Client.of(server)) { // it has been told, and sends no whole line
                client.send(token + "}\n").hear(110);
                client.send("{").end();
                JsonNode last = client.hearLast();
                assertThat(last.path("error").asText()).contains("has no end");
                assertThat(last.path("acked").asLong(-1)).isEqualTo(110);
            }
            assertThat(fixture.count("Lines")).isEqualTo(110);
            TcpFixture.await(() -> fixture.feeds.status("lines").records() == 110);
        }
    }

    /** The bug: it was told the names of all feeds. */
    @Test
    void a_client_whose_feed_is_dropped_hears_of_no_other() throws IOException {
        try (TcpFixture fixture = TcpFixture.open(directory);
                TcpServer server = fixture.serve(TcpFixture.LOCKED);
                Client client = Client.of(server)) {
            client.send("{\"token\":\"%s\"}\n".formatted(fixture.sender.text()) + lines(1, 2));
            client.hear(1);
            fixture.feeds.drop("lines");
            client.send(lines(2, 3));
            assertThat(client.hearLast().path("error").asText())
                    .contains("there is no feed 'lines'")
                    .doesNotContain("rows", "but");
        }
    }

    /** A client that keeps what was acknowledged, and a server that is started again and again. */
    @Test
    void records_of_a_producer_come_once_through_restarts_and_lost_connections() throws Exception {
        long seed = 20_261_128;
        Random random = new Random(seed);
        long total = 40_000;
        long acked = 0;
        long taken = 0;
        for (int round = 0; acked < total; round++) {
            assertThat(round).as("seed %d", seed).isLessThan(400);
            try (TcpFixture fixture = TcpFixture.open(directory);
                    TcpServer server = fixture.serve(TcpFixture.LINES)) {
                for (int connection = 0; connection < 3; connection++) {
                    long from = Math.max(1, acked + 1 - random.nextInt(50));
                    try (Client client = Client.of(server)) {
                        client.send("{\"producer\":\"p\",\"sequence\":%d}\n".formatted(from));
                        client.send(lines(from, Math.min(total, from + random.nextInt(8_000))));
                        if (random.nextInt(3) > 0) {
                            JsonNode line = client.hear();
                            acked = line == null ? acked : line.path("acked").asLong();
                        }
                    }
                }
                if (random.nextBoolean()) {
                    fixture.feeds.pause("lines");
                    fixture.feeds.resume("lines");
                }
                taken += closed(fixture, server);
            }
        }
        try (TcpFixture fixture = TcpFixture.open(directory)) {
            assertThat(fixture.count("Lines")).as("seed %d", seed).isEqualTo(total);
            assertThat(taken).as("records applied, seed %d", seed).isEqualTo(total);
        }
    }

    private static long closed(TcpFixture fixture, TcpServer server) {
        server.close();
        fixture.feeds.close();
        return fixture.feeds.list().stream()
                .filter(one -> one.name().equals("lines"))
                .findFirst()
                .orElseThrow()
                .records();
    }

    @Test
    void a_connection_outlives_a_run_of_its_feed() throws Exception {
        try (TcpFixture fixture = TcpFixture.open(directory);
                TcpServer server = fixture.serve(TcpFixture.LINES);
                Client client = Client.of(server)) {
            client.send("{\"producer\":\"p\",\"sequence\":1}\n")
                    .send(lines(1, 10))
                    .hear(10);
            fixture.feeds.retryLetters("lines"); // ends the run, and another one begins
            client.send(lines(11, 20)).hear(20);
            fixture.feeds.pause("lines");
            client.send(lines(21, 30));
            JsonNode last = client.hearLast();
            assertThat(last.path("error").asText()).contains("paused");
            assertThat(last.path("acked").asLong()).isEqualTo(20);
        }
    }

    /** The bug: a client that had to begin anew was told the last number of its life before. */
    @Test
    void who_is_forgotten_within_a_connection_has_nothing_acknowledged() throws Exception {
        try (TcpFixture fixture = TcpFixture.open(directory);
                TcpServer server = fixture.serve(TcpFixture.LINES);
                Client client = Client.of(server)) {
            client.send("{\"producer\":\"p\",\"sequence\":1}\n")
                    .send(lines(1, 10))
                    .hear(10);
            FeedDelivery.forget(
                    fixture.store,
                    "lines",
                    List.copyOf(FeedDelivery.partitions(fixture.store, "lines")));
            fixture.feeds.retryLetters("lines"); // ends the run, and another one begins
            JsonNode last = client.send(lines(11, 20)).hearLast();
            assertThat(last.path("error").asText()).contains("is number 1");
            assertThat(last.path("acked").asLong(-1)).isZero();
        }
    }

    @Test
    void what_is_packed_is_unpacked() throws Exception {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        for (long i = 0; i < 10; i++) { // members one behind the other, as cat makes them
            try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
                gzip.write(lines(i * 1_000 + 1, (i + 1) * 1_000).getBytes(StandardCharsets.UTF_8));
            }
        }
        byte[] zstd = Zstd.compress(lines(10_001, 30_000).getBytes(StandardCharsets.UTF_8));
        try (TcpFixture fixture = TcpFixture.open(directory);
                TcpServer server = fixture.serve(TcpFixture.LINES)) {
            for (byte[] bytes : List.of(packed.toByteArray(), zstd)) {
                try (Client client = Client.of(server)) {
                    client.send(new byte[] {bytes[0]});
                    Thread.sleep(20);
                    client.send(Arrays.copyOfRange(bytes, 1, bytes.length)).end();
                    JsonNode last = client.hearLast();
                    assertThat(last.has("error")).as(last.toString()).isFalse();
                }
            }
            assertThat(fixture.count("Lines")).isEqualTo(30_000);
        }
    }

    /** It is not read meanwhile, so little of what it sends is held. */
    @Test
    void a_client_that_is_faster_than_the_feed_waits() throws Exception {
        try (TcpFixture fixture = TcpFixture.open(directory);
                TcpServer server = fixture.serve(TcpFixture.LINES);
                Client client = Client.of(server)) {
            List<Long> sent = new ArrayList<>();
            Thread writer = Thread.ofPlatform().start(() -> {
                try {
                    for (long i = 0; i < 400; i++) {
                        client.send(lines(i * 1_000 + 1, (i + 1) * 1_000));
                        sent.add(i);
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            long heldMax = 0;
            JsonNode line;
            do {
                line = Objects.requireNonNull(client.hear());
                for (Instrument one : fixture.meters.instruments()) {
                    if (one instanceof Reading held && held.name().equals("tcp.bytes.held")) {
                        heldMax = Math.max(heldMax, held.value());
                    }
                }
            } while (line.path("acked").asLong() < 400_000);
            writer.join();
            assertThat(sent).hasSize(400);
            assertThat(heldMax).isLessThan(TcpConnection.READ_BYTES + (256 << 10) + (64 << 10));
            assertThat(fixture.count("Lines")).isEqualTo(400_000);
        }
    }

    /** One that was taken in by a loop on its end was never closed, and closing again hung. */
    @Test
    void a_client_that_comes_while_it_closes_is_let_go() throws Exception {
        try (TcpFixture fixture = TcpFixture.open(directory)) {
            for (int round = 0; round < 100; round++) {
                TcpServer server = fixture.serve(TcpFixture.LINES);
                InetSocketAddress at = server.addresses().values().iterator().next();
                LateClients.areLetGo(at, round % 4, server);
                assertThat(server.connectionCount()).isZero();
            }
        }
    }

    @Test
    void a_door_to_no_feed_or_at_a_port_in_use_is_refused() throws Exception {
        try (TcpFixture fixture = TcpFixture.open(directory);
                ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            TcpDoor nowhere = new TcpDoor("none", TcpFixture.LINES.at(), true);
            assertThatThrownBy(() -> fixture.serve(nowhere))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("there is no such feed");
            TcpDoor used = new TcpDoor(
                    "lines",
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), taken.getLocalPort()),
                    true);
            assertThatThrownBy(() -> fixture.serve(used))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("can't be listened at");
        }
    }
}
