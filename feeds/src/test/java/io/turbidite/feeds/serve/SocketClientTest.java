package io.turbidite.feeds.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StoreFailedException;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

@Timeout(60)
class SocketClientTest {
    @TempDir
    private Path directory;

    private static byte[] answer() throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        DataOutputStream data = new DataOutputStream(answer);
        byte[] row = "{\"id\":1}\n".getBytes(StandardCharsets.UTF_8);
        data.writeInt(1 + row.length);
        data.writeByte(FrameLayout.OUT);
        data.write(row);
        data.writeInt(1 + Integer.BYTES);
        data.writeByte(FrameLayout.EXIT);
        data.writeInt(0);
        return answer.toByteArray();
    }

    /** Has one client answered with these bytes, and then nothing. */
    private int ask(byte[] answer, ByteArrayOutputStream out) throws Exception {
        Path socket = directory.resolve(SocketServer.SOCKET);
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            Thread holder = Thread.ofPlatform().start(() -> {
                try (SocketChannel client = server.accept()) {
                    DataInputStream from = new DataInputStream(Channels.newInputStream(client));
                    for (int frame = 0; frame < 2; frame++) {
                        byte[] request = new byte[from.readInt()];
                        from.readFully(request); // what is left unread would end it as broken
                    }
                    ByteBuffer bytes = ByteBuffer.wrap(answer);
                    while (bytes.hasRemaining()) {
                        client.write(bytes);
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            try {
                return SocketClient.run(
                                directory,
                                new SocketClient.Request("/", false, List.of("query")),
                                out,
                                out)
                        .orElseThrow();
            } finally {
                holder.join();
            }
        } finally {
            assertThat(socket.toFile().delete()).isTrue();
        }
    }

    private static String told(Throwable failure) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code =
                Failures.report(failure, new PrintStream(err, true, StandardCharsets.UTF_8), false);
        assertThat(code).isEqualTo(ExitCode.FAILED);
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void a_refusal_says_itself_what_to_do() throws Exception {
        byte[] why = "the process lets go; run it again".getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream refusal = new ByteArrayOutputStream();
        DataOutputStream data = new DataOutputStream(refusal);
        data.writeInt(1 + why.length);
        data.writeByte(FrameLayout.REFUSED);
        data.write(why);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertThatThrownBy(() -> ask(refusal.toByteArray(), out))
                .satisfies(e -> assertThat(told(e).lines())
                        .containsExactly("turbidite: the process lets go; run it again"));
        assertThatThrownBy(() -> ask(new byte[0], out))
                .satisfies(e -> assertThat(told(e).lines())
                        .hasSize(2)
                        .last()
                        .asString()
                        .startsWith("  run the command again: "));
    }

    @Test
    void an_answer_that_is_cut_anywhere_is_no_answer() throws Exception {
        byte[] whole = answer();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertThat(ask(whole, out)).isZero();
        assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("{\"id\":1}\n");
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> ask(cut, new ByteArrayOutputStream()))
                    .as("cut at %d", length)
                    .isInstanceOf(StoreFailedException.class)
                    .hasMessageContaining("ended before it had answered");
        }
    }
}
