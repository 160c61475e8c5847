package io.turbidite.it.fuzz;

import io.turbidite.core.time.Clock;
import io.turbidite.feeds.serve.ServeOptions;
import io.turbidite.feeds.serve.SocketServer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What a client sends is the input; the server must greet the next client after it. */
final class SocketFrames implements Decoder.Run {
    private static final byte KIND_HELLO = 1;

    private final UnixDomainSocketAddress address;

    private SocketFrames(UnixDomainSocketAddress address) {
        this.address = address;
    }

    static SocketFrames create() {
        try {
            Path directory = Files.createTempDirectory("fuzz");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                directory.resolve(SocketServer.SOCKET).toFile().delete();
                directory.toFile().delete();
            }));
            ServeOptions options = new ServeOptions(8, 56, 1_000, 1_000, 1_000, 64 << 10);
            SocketServer server =
                    SocketServer.start(directory, options, request -> 0, Clock.system());
            Runtime.getRuntime().addShutdownHook(new Thread(server::close));
            return new SocketFrames(
                    UnixDomainSocketAddress.of(directory.resolve(SocketServer.SOCKET)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] hello() {
        return ByteBuffer.allocate(15)
                .putInt(11)
                .put(KIND_HELLO)
                .putLong(0x5455_5242_534F_434BL)
                .putShort((short) 1)
                .array();
    }

    @Override
    public List<byte[]> seeds() {
        byte[] run = {0, 0, 0, 8, 2, 0, 0, 1, '/', 0, 1, 'v'};
        ByteBuffer both = ByteBuffer.allocate(15 + run.length).put(hello()).put(run);
        return List.of(hello(), both.array());
    }

    @Override
    public void decode(byte[] input) {
        try {
            send(input);
            send(new byte[0]);
        } catch (IOException e) {
            throw new UncheckedIOException("the server is gone", e);
        }
    }

    private void send(byte[] bytes) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(address);
            try {
                channel.write(ByteBuffer.wrap(bytes));
                channel.shutdownOutput();
                ByteBuffer answer = ByteBuffer.allocate(1 << 10);
                while (channel.read(answer.clear()) >= 0) {
                    answer.flip(); // what it says does not matter here
                }
            } catch (IOException closedByTheServer) {
                return;
            }
        }
    }
}
