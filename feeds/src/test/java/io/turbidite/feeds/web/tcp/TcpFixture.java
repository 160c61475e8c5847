package io.turbidite.feeds.web.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.meter.Meters;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.http.TlsFiles;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/** A store with a feed of JSON and one of CSV, and a server of doors to them. */
final class TcpFixture implements AutoCloseable {
    static final TcpDoor LINES = door("lines", true);
    static final TcpDoor ROWS = door("rows", true);
    static final TcpDoor LOCKED = door("lines", false);

    final Token.Made sender =
            Token.make("sender", EnumSet.of(Right.WRITE), List.of("*"), List.of("lines"));
    final Token.Made reader =
            Token.make("reader", EnumSet.of(Right.READ), List.of("*"), List.of("*"));
    final Store store;
    final FeedManager feeds;
    final Meters meters = new Meters();

    private TcpFixture(Path directory) {
        store = Store.open(directory, StoreOptions.defaults());
        feeds = FeedManager.open(store);
        feeds.startKept();
        if (feeds.list().isEmpty()) {
            feeds.start(definition("lines", "Lines", "json"), directory);
            feeds.start(definition("rows", "Rows", "csv"), directory);
        }
        await(() -> feeds.list().stream().allMatch(one -> one.state() == FeedState.WAITING));
    }

    static TcpFixture open(Path directory) {
        return new TcpFixture(directory);
    }

    static String definition(String feed, String dataset, String parser) {
        return """
        feed: %s
        dataset:
          name: %s
          type: { id: int64, name: "string?" }
          primaryKey: id
        source: { kind: tcp }
        parser: { kind: %s }
        """.formatted(feed, dataset, parser);
    }

    static TcpDoor door(String feed, boolean anybody) {
        return new TcpDoor(
                feed, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), anybody);
    }

    TcpServer.Parts parts(TcpOptions options, @Nullable TlsFiles tls) {
        return new TcpServer.Parts(
                options,
                Map.of("one", feeds),
                Gate.of(List.of(sender.kept(), reader.kept()), false),
                tls,
                meters);
    }

    TcpServer serve(TcpDoor... doors) throws IOException {
        return TcpServer.start(parts(TcpOptions.defaults(), null), List.of(doors));
    }

    long count(String dataset) {
        long count = 0;
        try (ReadView view = store.dataset(dataset).openView()) {
            for (int p = 0; p < view.partitionCount(); p++) {
                try (RecordCursor rows = view.scan(p, KeyRange.all(), FilterPredicate.none())) {
                    while (rows.next()) {
                        count++;
                    }
                }
            }
        }
        return count;
    }

    /** Waits until something is so, and fails if it is not soon. */
    static void await(BooleanSupplier until) {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!until.getAsBoolean()) {
            assertThat(System.nanoTime()).as("it takes too long").isLessThan(end);
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    public void close() {
        feeds.close();
        store.close();
    }

    /** A client over a socket. */
    static final class Client implements AutoCloseable {
        private final Socket socket;
        private final OutputStream out;
        private final BufferedReader in;

        Client(Socket socket) throws IOException {
            this.socket = socket;
            socket.setSoTimeout(30_000);
            out = socket.getOutputStream();
            in = new BufferedReader(
                    new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        }

        static Client of(TcpServer server) throws IOException {
            InetSocketAddress at = server.addresses().values().iterator().next();
            return new Client(new Socket(at.getAddress(), at.getPort()));
        }

        Client send(String text) throws IOException {
            return send(text.getBytes(StandardCharsets.UTF_8));
        }

        Client send(byte[] bytes) throws IOException {
            out.write(bytes);
            out.flush();
            return this;
        }

        Client end() throws IOException {
            socket.shutdownOutput();
            return this;
        }

        /** The next line; null at the end. */
        @Nullable
        JsonNode hear() throws IOException {
            String line = in.readLine();
            return line == null ? null : new ObjectMapper().readTree(line);
        }

        /** Waits until so many are acknowledged. */
        JsonNode hear(long acked) throws IOException {
            while (true) {
                JsonNode line = Objects.requireNonNull(hear(), "the connection has ended");
                assertThat(line.has("error")).as(line.toString()).isFalse();
                if (line.path("acked").asLong() >= acked) {
                    return line;
                }
            }
        }

        /** The last line there is. */
        JsonNode hearLast() throws IOException {
            JsonNode last = null;
            for (JsonNode line = hear(); line != null; line = hear()) {
                last = line;
            }
            return Objects.requireNonNull(last, "there is no line");
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
