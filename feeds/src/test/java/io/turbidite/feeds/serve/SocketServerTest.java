package io.turbidite.feeds.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.time.Clock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** R17: what clients may do, and what becomes of those that do something else. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class SocketServerTest {
    private static final ServeOptions OPTIONS =
            new ServeOptions(3, 2, 10_000, 10_000, 10_000, 64 << 10);

    @TempDir
    private Path directory;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
        assertThat(directory.resolve(SocketServer.SOCKET)).doesNotExist();
    }

    private SocketServer start(ServeOptions options, CommandHandler handler) throws IOException {
        SocketServer server = SocketServer.start(directory, options, handler, Clock.system());
        opened.add(server);
        return server;
    }

    /** Prints its arguments and where it is; the exit code is their number. */
    private static int echo(CommandHandler.Request request) {
        try {
            String said = request.directory() + request.terminal() + request.arguments();
            request.out().write(said.getBytes(StandardCharsets.UTF_8));
            request.err().write("done".getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            return 99;
        }
        return request.arguments().size();
    }

    /** A client that says what it likes. */
    private static final class RawClient implements AutoCloseable {
        final SocketChannel channel;
        final DataOutputStream out;
        final DataInputStream in;

        RawClient(Path directory) throws IOException {
            channel = SocketChannel.open(
                    UnixDomainSocketAddress.of(directory.resolve(SocketServer.SOCKET)));
            // a frame goes out as one, so that the server's answer to its head can't meet its tail
            out = new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(channel)));
            in = new DataInputStream(Channels.newInputStream(channel));
        }

        RawClient hello(int version) throws IOException {
            out.writeInt(1 + FrameLayout.HELLO_PAYLOAD_BYTES);
            out.writeByte(FrameLayout.HELLO);
            out.writeLong(FrameLayout.MAGIC);
            out.writeShort(version);
            out.flush();
            return this;
        }

        RawClient run(String... texts) throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream data = new DataOutputStream(bytes);
            data.writeByte(FrameLayout.RUN);
            data.writeByte(0);
            for (String text : texts) {
                data.writeUTF(text);
            }
            out.writeInt(bytes.size());
            out.write(bytes.toByteArray());
            out.flush();
            return this;
        }

        /** The next frame's kind and payload; kind -1 at the end of the connection. */
        String next() {
            try {
                out.flush();
                int length = in.readInt();
                int kind = in.readUnsignedByte();
                byte[] payload = in.readNBytes(length - 1);
                return kind + ":" + new String(payload, StandardCharsets.UTF_8);
            } catch (IOException ended) {
                return "end";
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private RawClient client() throws IOException {
        RawClient client = new RawClient(directory);
        opened.add(client);
        return client;
    }

    private OptionalInt ask(ByteArrayOutputStream out, ByteArrayOutputStream err, String... args) {
        return SocketClient.run(
                directory, new SocketClient.Request("/here", true, List.of(args)), out, err);
    }

    @Test
    void a_command_is_run_with_its_output_and_exit_code() throws IOException {
        start(OPTIONS, SocketServerTest::echo);
        for (int i = 0; i < 10; i++) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteArrayOutputStream err = new ByteArrayOutputStream();
            assertThat(ask(out, err, "query", "späß", "")).hasValue(3);
            assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("/heretrue[query, späß, ]");
            assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("done");
        }
    }

    @Test
    void megabytes_of_output_come_whole_and_in_order() throws IOException {
        byte[] much = new byte[5_000_000];
        for (int i = 0; i < much.length; i++) {
            much[i] = (byte) ((i * 31) >>> 3);
        }
        start(OPTIONS, request -> {
            try {
                request.out().write(much);
                return 0;
            } catch (IOException e) {
                return 1;
            }
        });
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertThat(ask(out, out)).hasValue(0);
        assertThat(out.toByteArray()).isEqualTo(much);
    }

    @Test
    void only_the_owner_may_open_the_socket() throws IOException {
        start(OPTIONS, SocketServerTest::echo);
        Path socket = directory.resolve(SocketServer.SOCKET);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                .isEqualTo("rw-------");
        try (Stream<Path> names = Files.list(directory)) {
            assertThat(names).containsExactly(socket);
        }
    }

    @Test
    void what_a_killed_process_left_is_replaced() throws IOException {
        Path socket = directory.resolve(SocketServer.SOCKET);
        ServerSocketChannel killed = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        killed.bind(UnixDomainSocketAddress.of(socket));
        killed.close(); // the file stays
        Files.createDirectory(directory.resolve("socket-123"));
        assertThat(socket).exists();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertThat(ask(out, out, "x")).isEmpty();
        start(OPTIONS, SocketServerTest::echo);
        assertThat(ask(out, out, "x")).hasValue(1);
        assertThat(directory.resolve("socket-123")).doesNotExist();
    }

    @Test
    void where_nobody_serves_there_is_no_answer() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertThat(ask(out, out, "x")).isEmpty();
    }

    @Test
    void a_long_path_is_reached_too() throws IOException {
        Path deep = directory;
        while (deep.toString().length() < 150) {
            deep = deep.resolve("a-rather-long-name");
        }
        Files.createDirectories(deep);
        try (SocketServer server =
                SocketServer.start(deep, OPTIONS, SocketServerTest::echo, Clock.system())) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            OptionalInt code = SocketClient.run(
                    deep, new SocketClient.Request("/", false, List.of("a")), out, out);
            assertThat(code).hasValue(1);
            assertThat(server.connectionCount()).isBetween(0, 1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, (64 << 10) + 1, 1 << 30})
    void a_frame_of_no_possible_length_ends_the_connection(int length) throws IOException {
        start(OPTIONS, SocketServerTest::echo);
        RawClient client = client();
        client.out.writeInt(length);
        client.out.write(new byte[64]);
        assertThat(client.next()).isEqualTo("end");
        RawClient late = client().hello(FrameLayout.VERSION);
        assertThat(late.next()).startsWith(FrameLayout.HELLO + ":");
        late.out.writeInt(length);
        late.out.write(new byte[64]);
        assertThat(late.next()).isEqualTo("end");
    }

    @Test
    void another_version_is_told_which_one_is_spoken() throws IOException {
        start(OPTIONS, SocketServerTest::echo);
        RawClient client = client().hello(77);
        assertThat(client.next())
                .startsWith(FrameLayout.REFUSED + ":")
                .contains("version 1", "not 77");
        assertThat(client.next()).isEqualTo("end");
    }

    @Test
    void what_is_no_conversation_ends_the_connection() throws IOException {
        start(OPTIONS, SocketServerTest::echo);
        RawClient stranger = client();
        stranger.out.writeBytes("\0\0\0\5GET /");
        assertThat(stranger.next()).isEqualTo("end");
        RawClient hasty = client().run("/", "x");
        assertThat(hasty.next()).isEqualTo("end");
        RawClient broken = client().hello(FrameLayout.VERSION);
        broken.out.writeInt(4);
        broken.out.write(new byte[] {FrameLayout.RUN, 0, 0, 9}); // a text that is not there
        assertThat(broken.next()).startsWith(FrameLayout.HELLO + ":");
        assertThat(broken.next()).isEqualTo("end");
    }

    @Test
    void who_says_nothing_is_let_go() throws IOException {
        start(new ServeOptions(3, 2, 10_000, 200, 10_000, 64 << 10), SocketServerTest::echo);
        RawClient silent = client();
        RawClient halfway = client().hello(FrameLayout.VERSION);
        RawClient slow = client();
        slow.out.writeShort(0); // half a length
        slow.out.flush();
        assertThat(silent.next()).contains("no command came in time");
        assertThat(silent.next()).isEqualTo("end");
        assertThat(halfway.next()).startsWith(FrameLayout.HELLO + ":");
        assertThat(halfway.next()).contains("no command came in time");
        assertThat(slow.next()).contains("no command came in time");
    }

    @Test
    void one_more_than_may_run_waits_and_one_more_than_may_wait_is_told_so() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        SocketServer server = start(OPTIONS, request -> awaited(release) == 0 ? 7 : 8);
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < OPTIONS.connectionCountMax(); i++) {
            RawClient client = client().hello(FrameLayout.VERSION).run("/", "x");
            assertThat(client.next()).startsWith(FrameLayout.HELLO + ":");
            clients.add(client);
        }
        while (server.runningCount() < OPTIONS.commandCountMax()) {
            Thread.onSpinWait();
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < 200; i++) {
            assertThatThrownBy(() -> ask(out, out, "x"))
                    .isInstanceOf(StoreFailedException.class)
                    .hasMessageContaining("busy: 3 commands run there and 2 wait");
        }
        release.countDown();
        for (RawClient client : clients) {
            assertThat(client.next()).isEqualTo(FrameLayout.EXIT + ":\0\0\0\7");
            assertThat(client.next()).isEqualTo("end");
        }
    }

    @Test
    void who_waited_too_long_is_told_so() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        SocketServer server = start(
                new ServeOptions(1, 2, 300, 10_000, 10_000, 64 << 10), request -> awaited(release));
        RawClient first = client().hello(FrameLayout.VERSION).run("/", "x");
        assertThat(first.next()).startsWith(FrameLayout.HELLO + ":");
        while (server.runningCount() < 1) {
            Thread.onSpinWait();
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertThatThrownBy(() -> ask(out, out, "x"))
                .hasMessageContaining("waited for 300 ms behind 1 others");
        release.countDown();
        assertThat(first.next()).startsWith(FrameLayout.EXIT + ":");
        assertThat(ask(out, out, "x")).hasValue(0);
    }

    @Test
    void a_command_that_throws_is_told_with_its_cause() throws IOException {
        start(OPTIONS, request -> {
            throw new IllegalStateException("on purpose");
        });
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < 2 * OPTIONS.connectionCountMax(); i++) {
            assertThatThrownBy(() -> ask(out, out, "x"))
                    .isInstanceOf(StoreFailedException.class)
                    .hasMessageContaining("on purpose");
        }
    }

    @Test
    void a_client_that_takes_its_output_too_late_is_told_why_it_was_cut() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        start(new ServeOptions(3, 2, 10_000, 10_000, 500, 64 << 10), request -> {
            try {
                while (true) {
                    request.out().write(new byte[10_000]);
                }
            } catch (IOException e) {
                return 1;
            } finally {
                ended.countDown();
            }
        });
        RawClient client = client().hello(FrameLayout.VERSION).run("/", "x");
        ended.await();
        String last = "";
        for (String next = client.next(); !next.equals("end"); next = client.next()) {
            last = next;
        }
        assertThat(last).startsWith(FrameLayout.REFUSED + ":").contains("not taken for 500 ms");
    }

    @Test
    void only_the_clock_tells_how_long_a_client_took_nothing() throws Exception {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(0, 1));
        var _ = channel.write(channel.alloc().buffer(8).writeLong(0)); // never flushed
        assertThat(channel.isWritable()).isFalse();
        long millisMax = 300;
        ClientOutput output = new ClientOutput(channel, millisMax, Clock.system());
        AtomicBoolean over = new AtomicBoolean();
        Thread waker = Thread.ofPlatform().start(() -> {
            while (!over.get()) {
                output.changed();
            }
        });
        long startNanos = Clock.system().monotonicNanos();
        try {
            assertThatThrownBy(() -> output.stream(FrameLayout.OUT).write(1))
                    .isInstanceOf(IOException.class);
        } finally {
            over.set(true);
            waker.join();
        }
        assertThat(Clock.system().monotonicNanos() - startNanos)
                .isGreaterThanOrEqualTo(millisMax * 1_000_000);
        channel.releaseOutbound();
        var _ = channel.finishAndReleaseAll();
    }

    @Test
    void who_talks_on_while_the_command_runs_is_let_go() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        start(OPTIONS, request -> {
            request.departure().listen(gone::countDown);
            return awaited(gone);
        });
        RawClient client = client().hello(FrameLayout.VERSION).run("/", "x").run("/", "x");
        assertThat(client.next()).startsWith(FrameLayout.HELLO + ":");
        assertThat(client.next()).isEqualTo("end");
        gone.await();
    }

    private static int awaited(CountDownLatch latch) {
        try {
            latch.await();
            return 0;
        } catch (InterruptedException e) {
            return 1;
        }
    }

    @Test
    void a_client_that_reads_nothing_holds_a_bounded_amount_and_ends_its_command()
            throws Exception {
        AtomicLong taken = new AtomicLong();
        CountDownLatch ended = new CountDownLatch(1);
        start(new ServeOptions(3, 2, 10_000, 10_000, 500, 64 << 10), request -> {
            try {
                byte[] piece = new byte[10_000];
                while (true) {
                    request.out().write(piece);
                    taken.addAndGet(piece.length);
                }
            } catch (IOException e) {
                return 1;
            } finally {
                ended.countDown();
            }
        });
        RawClient client = client().hello(FrameLayout.VERSION).run("/", "x");
        ended.await();
        // what the server holds, and the system's socket buffers
        assertThat(taken.get()).isBetween(1L, 2_000_000L);
        assertThat(client.channel.isOpen()).isTrue();
    }

    @Test
    void a_client_that_dies_stops_its_command() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch started = new CountDownLatch(1);
        start(OPTIONS, request -> {
            request.departure().listen(told::countDown);
            started.countDown();
            return awaited(told);
        });
        RawClient client = new RawClient(directory).hello(FrameLayout.VERSION).run("/", "x");
        started.await();
        client.close();
        told.await();
    }

    @Test
    void a_server_that_closes_ends_conversations() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch told = new CountDownLatch(1);
        SocketServer server = SocketServer.start(
                directory,
                OPTIONS,
                request -> {
                    request.departure().listen(told::countDown);
                    started.countDown();
                    return awaited(told);
                },
                Clock.system());
        RawClient client = client().hello(FrameLayout.VERSION).run("/", "x");
        started.await();
        server.close();
        assertThat(client.next()).startsWith(FrameLayout.HELLO + ":");
        assertThat(client.next()).startsWith(FrameLayout.REFUSED + ":").contains("lets go of it");
        assertThat(client.next()).isEqualTo("end");
        assertThat(server.connectionCount()).isZero();
    }

    @Test
    void a_server_that_closes_lets_a_command_end_that_is_kept() throws Exception {
        CountDownLatch started = new CountDownLatch(2);
        CountDownLatch ending = new CountDownLatch(1);
        SocketServer server = SocketServer.start(
                directory,
                OPTIONS,
                request -> {
                    if (request.arguments().contains("keep")) {
                        assertThat(request.departure().keep()).isTrue();
                    }
                    started.countDown();
                    return awaited(ending);
                },
                Clock.system());
        RawClient kept = client().hello(FrameLayout.VERSION).run("/", "keep");
        RawClient other = client().hello(FrameLayout.VERSION).run("/", "x");
        started.await();
        Thread closing = Thread.ofPlatform().start(server::close);
        assertThat(other.next()).startsWith(FrameLayout.HELLO + ":");
        assertThat(other.next()).startsWith(FrameLayout.REFUSED + ":");
        ending.countDown();
        assertThat(kept.next()).startsWith(FrameLayout.HELLO + ":");
        assertThat(kept.next()).startsWith(FrameLayout.EXIT + ":");
        assertThat(kept.next()).isEqualTo("end");
        closing.join();
    }

    @Test
    void many_clients_after_one_another_leave_nothing_behind() throws Exception {
        SocketServer server = start(OPTIONS, SocketServerTest::echo);
        for (int i = 0; i < 300; i++) {
            try (RawClient client = new RawClient(directory)) {
                switch (i % 3) {
                    case 0 -> {
                        client.out.writeByte(1);
                        client.out.flush();
                    }
                    case 1 -> client.hello(FrameLayout.VERSION);
                    default -> client.hello(FrameLayout.VERSION).run("/", "x");
                }
            } catch (IOException refused) {
                assertThat(refused).hasMessageContaining("pipe");
            }
        }
        while (server.connectionCount() > 0) {
            Thread.onSpinWait();
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        OptionalInt code = OptionalInt.empty();
        while (code.isEmpty()) {
            try {
                code = ask(out, out, "x");
            } catch (StoreFailedException busy) {
                assertThat(busy).hasMessageContaining("busy");
            }
        }
        assertThat(code).hasValue(1);
    }
}
