package io.turbidite.feeds.web.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;

/** What bad clients send, and what becomes of them (R17), without a network. */
@Timeout(60)
class TcpAbuseTest {
    private static final TcpOptions OPTIONS = new TcpOptions(2, 1, 1_000, 1_000, 1_000, 4 << 20);

    @TempDir
    private Path directory;

    private final EventLoopGroup loop =
            new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private TcpFixture fixture;
    private TcpServer server;
    private @Nullable EmbeddedChannel connected;
    private final StringBuilder heard = new StringBuilder();

    @BeforeEach
    void open() {
        fixture = TcpFixture.open(directory);
        server = new TcpServer(fixture.parts(OPTIONS, null), loop);
    }

    @AfterEach
    void close() {
        if (connected != null) {
            connected.finishAndReleaseAll();
        }
        server.close();
        fixture.close();
    }

    private EmbeddedChannel channel() {
        return Objects.requireNonNull(connected);
    }

    private EmbeddedChannel connect(TcpDoor door) {
        return connect(door, new EmbeddedChannel());
    }

    private EmbeddedChannel connectFrom(String address) {
        return connect(TcpFixture.LINES, new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress(address, 50_000);
            }
        });
    }

    private EmbeddedChannel connect(TcpDoor door, EmbeddedChannel fresh) {
        fresh.freezeTime();
        fresh.config().setAutoRead(false);
        server.accept(fresh, door);
        fresh.pipeline().fireChannelActive();
        fresh.runPendingTasks();
        connected = fresh;
        return fresh;
    }

    private void send(byte[] bytes) {
        channel().writeInbound(Unpooled.wrappedBuffer(bytes));
        channel().runPendingTasks();
    }

    private void send(String text) {
        send(text.getBytes(StandardCharsets.UTF_8));
    }

    private void pass(long millis) {
        channel().advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel().runScheduledPendingTasks();
        channel().runPendingTasks();
    }

    private String heard() {
        channel().runPendingTasks();
        for (Object piece = channel().readOutbound();
                piece != null;
                piece = channel().readOutbound()) {
            ByteBuf bytes = (ByteBuf) piece;
            heard.append(bytes.toString(StandardCharsets.UTF_8));
            bytes.release();
        }
        return heard.toString();
    }

    /** Waits for what the feed says. */
    private void hear(String part) {
        TcpFixture.await(() -> {
            channel().runScheduledPendingTasks();
            return heard().contains(part);
        });
    }

    private void assertRefused(String part) {
        assertThat(heard()).contains("{\"error\":\"").contains(part).endsWith("}\n");
        assertThat(channel().isOpen()).isFalse();
    }

    @Test
    void without_a_token_nothing_is_taken() {
        connect(TcpFixture.LOCKED);
        send("{\"id\":1}\n{\"id\":2}\n");
        assertRefused("must have a token");
        assertThat(fixture.count("Lines")).isZero();
    }

    @Test
    void a_wrong_token_and_one_that_may_only_read_are_refused() {
        connect(TcpFixture.LOCKED);
        send("{\"token\":\"%s\"}\n{\"id\":1}\n".formatted("x".repeat(43)));
        assertRefused("none of this server's");
        heard.setLength(0);
        connect(TcpFixture.LOCKED);
        send("{\"token\":\"%s\"}\n{\"id\":1}\n".formatted(fixture.reader.text()));
        assertRefused("does not allow to write");
        heard.setLength(0);
        connect(TcpFixture.ROWS);
        send("{\"token\":\"%s\"}\nid\n1\n".formatted(fixture.sender.text())); // of another feed
        assertRefused("does not allow to write");
        assertThat(fixture.count("Lines") + fixture.count("Rows")).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"token\":1}",
                "{\"sequence\":1}",
                "{\"producer\":\"p\",\"sequence\":0}",
                "{\"producer\":\"p\",\"sequence\":-1}",
                "{\"producer\":\"p\",\"sequence\":1.5}",
                "{\"producer\":\"p\",\"sequence\":9007199254740993}",
                "{\"producer\":\"p\",\"sequence\":99999999999999999999}",
                "{\"producer\":\"\"}",
                "{\"producer\":\"a/b\",\"sequence\":1}",
            })
    void a_first_line_that_is_wrong_is_refused(String first) {
        connect(TcpFixture.LINES);
        send(first + "\n{\"id\":1}\n");
        assertRefused("");
        assertThat(fixture.count("Lines")).isZero();
    }

    @Test
    void a_record_that_looks_like_a_first_line_comes_behind_an_empty_one() {
        connect(TcpFixture.LINES);
        send("\n{\"producer\":\"p\"}\n{\"id\":1,\"token\":\"t\"}\n");
        hear("\"acked\":2,\"rejected\":1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{\"tok"})
    void a_client_that_says_nothing_is_closed_where_a_token_is_needed(String start) {
        connect(TcpFixture.LOCKED);
        send(start);
        pass(990);
        assertThat(channel().isOpen()).isTrue();
        pass(20);
        assertRefused("no first line");
    }

    @Test
    void a_client_that_rests_between_lines_is_kept_and_one_that_rests_in_a_line_is_not() {
        connect(TcpFixture.LINES);
        pass(86_400_000);
        send("{\"id\":1}\n");
        hear("\"acked\":1");
        pass(86_400_000);
        assertThat(channel().isOpen()).isTrue();
        send("{\"id\":");
        for (int i = 0; i < 20; i++) {
            pass(400);
            send(" ");
        }
        assertThat(channel().isOpen()).isTrue();
        pass(500);
        pass(500);
        pass(500);
        assertRefused("does not go on");
        assertThat(heard()).contains("\"acked\":1");
    }

    @Test
    void half_a_record_is_not_taken() {
        connect(TcpFixture.LINES);
        send("{\"id\":1}\n{\"id\":2}");
        hear("\"acked\":1");
        channel().pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        assertRefused("its 8 bytes are not taken");
        assertThat(fixture.count("Lines")).isEqualTo(1);
    }

    @Test
    void bad_records_are_rejected_one_by_one() {
        connect(TcpFixture.LINES);
        String[] bad = {
            "{\"id\":" + "[".repeat(1_000) + "]".repeat(1_000) + "}",
            "{\"id\":" + "9".repeat(100_000) + "}",
            "{\"id\":1,\"id\":2}",
            "{\"id\":1,\"name\":\"\\ud800\"}",
            "{\"id\":1,\"name\":\"\0\"}",
            "\uFEFF{\"id\":1}x",
            "null",
            "{\"id\":1}{\"id\":2}",
            "GET / HTTP/1.1",
        };
        send("{\"id\":7}\n");
        for (String line : bad) {
            send(line + "\n");
        }
        send(new byte[] {'{', '"', 'i', 'd', (byte) 0xff, '\n'});
        send("{\"id\":8}\n");
        hear("\"acked\":" + (bad.length + 3));
        assertThat(heard()).contains("\"rejected\":" + (bad.length + 1));
        assertThat(channel().isOpen()).isTrue();
        assertThat(fixture.count("Lines")).isEqualTo(2);
    }

    @Test
    void a_line_that_no_record_can_be_is_rejected_and_the_feed_goes_on() throws IOException {
        server.close();
        server = new TcpServer(
                fixture.parts(new TcpOptions(2, 1, 1_000, 1_000, 1_000, 64 << 20), null), loop);
        connect(TcpFixture.LINES);
        byte[] piece = new byte[1 << 20];
        Arrays.fill(piece, (byte) 'x');
        for (int i = 0; i < 40; i++) {
            send(piece);
        }
        send("\n{\"id\":1}\n");
        hear("\"acked\":2,\"rejected\":1");
        assertThat(fixture.count("Lines")).isEqualTo(1);
    }

    @Test
    void connections_that_hold_too_much_of_unfinished_lines_are_closed() {
        connect(TcpFixture.LINES);
        byte[] piece = new byte[1 << 20];
        Arrays.fill(piece, (byte) 'x');
        for (int i = 0; i < 4; i++) {
            send(piece);
        }
        assertThat(channel().isOpen()).isTrue();
        send(piece);
        assertRefused("as many bytes as may be");
    }

    @Test
    void a_million_tiny_lines_are_one_thing_and_empty_ones_are_nothing() {
        connect(TcpFixture.LINES);
        byte[] empty = new byte[1 << 20];
        Arrays.fill(empty, (byte) '\n');
        send(empty);
        send("{\"id\":1}\n");
        hear("{\"acked\":1}");
        assertThat(server.connectionCount()).isEqualTo(1);
    }

    @Test
    void connections_beyond_the_most_are_told_so() {
        EmbeddedChannel first = connect(TcpFixture.LINES);
        EmbeddedChannel second = connect(TcpFixture.LINES);
        connect(TcpFixture.LINES);
        assertRefused("as many connections as may be");
        var _ = first.close();
        heard.setLength(0);
        connect(TcpFixture.LINES);
        send("{\"id\":1}\n");
        hear("\"acked\":1");
        second.finishAndReleaseAll();
        first.finishAndReleaseAll();
    }

    @Test
    void connections_of_a_peer_beyond_its_most_are_told_so() {
        EmbeddedChannel first = connectFrom("192.0.2.1");
        connectFrom("192.0.2.1");
        assertRefused("your address has 1 connections, as many as one may");
        assertThat(fixture.meters.counter("tcp.refused").sum()).isEqualTo(1);
        heard.setLength(0);
        EmbeddedChannel other = connectFrom("192.0.2.2");
        send("{\"id\":1}\n");
        hear("\"acked\":1");
        first.finishAndReleaseAll();
        heard.setLength(0);
        connectFrom("192.0.2.1");
        send("{\"id\":2}\n");
        hear("\"acked\":1");
        other.finishAndReleaseAll();
    }

    private static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(bytes);
        }
        return packed.toByteArray();
    }

    @Test
    void what_unpacks_to_far_more_is_refused() throws IOException {
        byte[] spaces = new byte[8 << 20];
        Arrays.fill(spaces, (byte) '\n');
        connect(TcpFixture.LINES);
        send(gzip(spaces));
        assertRefused("100 times as long");
        heard.setLength(0);
        connect(TcpFixture.LINES);
        send(Zstd.compress(spaces));
        assertRefused("100 times as long");
    }

    @Test
    void what_is_cut_damaged_or_packed_twice_is_refused() throws IOException {
        byte[] sound = gzip("{\"id\":1}\n{\"id\":2}\n".getBytes(StandardCharsets.UTF_8));
        connect(TcpFixture.LINES);
        send(Arrays.copyOf(sound, sound.length - 4));
        channel().pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        assertRefused("can't be unpacked");
        heard.setLength(0);
        connect(TcpFixture.LINES);
        byte[] damaged = sound.clone();
        damaged[sound.length - 6] ^= 1;
        send(damaged);
        assertRefused("can't be unpacked");
        heard.setLength(0);
        connect(TcpFixture.LINES);
        send(gzip(sound));
        assertRefused("packed again");
        heard.setLength(0);
        connect(TcpFixture.LINES);
        byte[] zstd = Zstd.compress("{\"id\":1}\n".getBytes(StandardCharsets.UTF_8));
        send(Arrays.copyOf(zstd, zstd.length - 2));
        channel().pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        assertRefused("can't be unpacked");
    }

    @Test
    void a_feed_that_is_paused_ends_its_connections() {
        connect(TcpFixture.LINES);
        fixture.feeds.pause("lines");
        send("{\"id\":1}\n");
        for (int i = 0; i < 3; i++) {
            pass(50);
        }
        assertRefused("paused");
        assertThat(heard()).contains("\"acked\":0");
    }
}
