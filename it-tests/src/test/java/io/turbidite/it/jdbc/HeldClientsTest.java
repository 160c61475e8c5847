package io.turbidite.it.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.StoreServer;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Clients that say something else than connections of JDBC do: they are let go, others are not. */
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class HeldClientsTest {
    private static final int HELLO = 1;
    private static final int SESSION = 7;
    private static final int IN = 8;
    private static final int CANCEL = 9;

    @TempDir
    Path directory;

    private Store store;
    private StoreServer server;

    @BeforeEach
    void hold() {
        store = Store.open(directory);
        store.createDataset(DatasetSpec.named("T").field("id", "int64").primaryKey("id"))
                .upsert(Map.of("id", 1L));
        server = StoreServer.start(store);
    }

    /** Whatever came before, connections are answered, and nobody is left. */
    @AfterEach
    void others_are_served() throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:turbidite:" + directory);
                ResultSet rows = connection.createStatement().executeQuery("select id from T")) {
            assertThat(rows.next()).isTrue();
        }
        while (server.sessionCount() > 0) {
            Thread.onSpinWait();
        }
        server.close();
        store.close();
    }

    private interface Writer {
        void write(DataOutputStream to) throws IOException;
    }

    private static byte[] bytes(Writer writer) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        writer.write(new DataOutputStream(bytes));
        return bytes.toByteArray();
    }

    private static byte[] frame(int kind, byte[] payload) throws IOException {
        return bytes(to -> {
            to.writeInt(1 + payload.length);
            to.writeByte(kind);
            to.write(payload);
        });
    }

    private static byte[] message(Writer writer) throws IOException {
        byte[] body = bytes(writer);
        return bytes(to -> {
            to.writeInt(body.length);
            to.write(body);
        });
    }

    private static byte[] greeting(int version) throws IOException {
        return message(to -> {
            to.writeByte(1);
            to.writeLong(0x5455_5242_4A44_4243L);
            to.writeShort(version);
            to.writeByte(0);
            to.writeLong(1_000);
        });
    }

    /** A client that has begun a conversation. */
    private SocketChannel talking() throws IOException {
        SocketChannel channel =
                SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve("SOCKET")));
        send(channel, frame(HELLO, bytes(to -> {
            to.writeLong(0x5455_5242_534F_434BL);
            to.writeShort(1);
        })));
        send(channel, frame(SESSION, new byte[0]));
        return channel;
    }

    /** What was sent before the server let go may not be taken. */
    private static void send(SocketChannel channel, byte[] frame) {
        try {
            ByteBuffer left = ByteBuffer.wrap(frame);
            while (left.hasRemaining()) {
                channel.write(left);
            }
        } catch (IOException gone) {
            assertThat(gone).hasMessageContaining("pipe");
        }
    }

    /** All that comes until the server lets go. */
    private static String rest(SocketChannel channel) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        ByteBuffer some = ByteBuffer.allocate(1 << 12);
        try {
            while (channel.read(some.clear()) >= 0) {
                all.write(some.array(), 0, some.position());
            }
        } catch (IOException reset) {
            assertThat(reset).hasMessageContaining("reset");
        }
        return all.toString(StandardCharsets.UTF_8);
    }

    private static void readUntil(SocketChannel channel, String text) throws IOException {
        StringBuilder all = new StringBuilder();
        ByteBuffer some = ByteBuffer.allocate(1 << 12);
        while (all.indexOf(text) < 0) {
            assertThat(channel.read(some.clear())).isPositive();
            all.append(new String(some.array(), 0, some.position(), StandardCharsets.ISO_8859_1));
        }
    }

    private String said(byte[]... messages) throws IOException {
        try (SocketChannel channel = talking()) {
            for (byte[] message : messages) {
                send(channel, frame(IN, message));
            }
            return rest(channel);
        }
    }

    @Test
    void random_bytes_end_a_conversation() throws IOException {
        Random random = new Random(42);
        for (int round = 0; round < 200; round++) {
            byte[] noise = new byte[1 + random.nextInt(2_000)];
            random.nextBytes(noise);
            try (SocketChannel channel = talking()) {
                if (round % 2 == 0) {
                    send(channel, frame(IN, greeting(1)));
                }
                if (round % 4 < 2) {
                    // a length that is right, and nonsense behind it
                    send(channel, frame(IN, message(to -> {
                        to.writeByte(2 + noise.length % 9);
                        to.write(noise);
                    })));
                } else {
                    send(channel, frame(IN, noise));
                }
                channel.shutdownOutput();
                assertThat(rest(channel)).isNotNull();
            }
        }
    }

    @Test
    void lengths_are_bounded_and_take_no_memory() throws IOException {
        assertThat(said(bytes(to -> to.writeInt(Integer.MAX_VALUE)))).contains("may have 1 to");
        assertThat(said(bytes(to -> to.writeInt(-1)))).contains("may have 1 to");
        byte[] hello = greeting(1);
        assertThat(said(hello, bytes(to -> to.writeInt((32 << 20) + 1)))).contains("may have 1 to");
        for (int count : new int[] {Integer.MAX_VALUE, -1, 1_000}) {
            byte[] run = message(to -> {
                to.writeByte(3);
                to.writeInt(1);
                to.writeInt(0);
                to.writeByte(0);
                to.writeInt(8);
                to.writeBytes("values 1");
                to.writeInt(count);
            });
            assertThat(said(hello, run)).contains("a count of " + count);
        }
        byte[] deep = message(to -> {
            to.writeByte(3);
            to.writeInt(1);
            to.writeInt(0);
            to.writeByte(0);
            to.writeInt(0);
            to.writeInt(1);
            for (int i = 0; i < 5_000; i++) {
                to.writeByte(21);
                to.writeInt(1);
            }
            to.writeByte(0);
        });
        assertThat(said(hello, deep)).contains("values in values");
        assertThat(said(hello, message(to -> to.writeByte(99)))).contains("a request of kind 99");
    }

    @Test
    void another_version_is_told() throws IOException {
        assertThat(said(greeting(2))).contains("speaks version 1 of JDBC's messages, not 2");
        assertThat(said(message(to -> to.write(new byte[20])))).contains("greets in no way");
    }

    @Test
    void half_a_message_holds_nobody_up() throws Exception {
        List<SocketChannel> open = new ArrayList<>();
        try {
            for (int i = 0; i < 31; i++) {
                SocketChannel channel = talking();
                open.add(channel);
                send(channel, frame(IN, greeting(1)));
                send(channel, frame(IN, bytes(to -> {
                    to.writeInt(500_000);
                    to.writeByte(3);
                })));
            }
            try (Connection connection =
                    DriverManager.getConnection("jdbc:turbidite:" + directory)) {
                assertThat(connection.isValid(1)).isTrue();
            }
        } finally {
            for (SocketChannel channel : open) {
                channel.close();
            }
        }
    }

    @Test
    void what_nobody_reads_waits_in_the_socket() throws Exception {
        byte[] endless = message(to -> {
            to.writeByte(3);
            to.writeInt(1);
            to.writeInt(0);
            to.writeByte(0);
            byte[] text = "select count(*) from (values 1) a".getBytes(StandardCharsets.UTF_8);
            to.writeInt(text.length);
            to.write(text);
            to.writeInt(0);
        });
        try (SocketChannel channel = talking()) {
            send(channel, frame(IN, greeting(1)));
            for (int i = 0; i < 100; i++) {
                send(channel, frame(CANCEL, bytes(to -> to.writeInt(7))));
                send(channel, frame(IN, endless));
            }
            readUntil(channel, "open results");
        }
        try (SocketChannel channel = talking()) {
            send(channel, frame(CANCEL, new byte[3]));
            assertThat(rest(channel)).doesNotContain("open results");
        }
    }
}
