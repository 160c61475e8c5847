package io.turbidite.bench.feed;

import io.turbidite.feeds.web.access.Token;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends tweets over one connection, a packet every 5 ms, each with a record of its own at its end
 * that was not there before. What falls behind is sent as fast as it goes: times count from when a
 * packet should have gone. <em>Confined to one thread.</em>
 */
final class PacedSender implements AutoCloseable {
    static final long STEP_NANOS = 5_000_000;

    private static final int BUFFER_BYTES = 1 << 16;

    private final Socket socket;
    private final FeedTweets tweets;

    PacedSender(InetSocketAddress at, Token.Made token, FeedTweets tweets) throws IOException {
        this.tweets = tweets;
        this.socket = new Socket(at.getAddress(), at.getPort());
        socket.setTcpNoDelay(true);
        socket.getOutputStream()
                .write("{\"token\":\"%s\"}\n"
                        .formatted(token.text())
                        .getBytes(StandardCharsets.UTF_8));
    }

    /** The key of the last record of packet {@code index}: no tweet has it. */
    static long markOf(int index) {
        return -1L - index;
    }

    /**
     * Sends packets; behind the last tweet the first one comes again.
     *
     * @param size tweets of a packet
     * @param startNanos when the first one goes, by {@link System#nanoTime}
     */
    void send(int count, int size, long startNanos) throws IOException {
        Packets packets = new Packets(count, size, startNanos);
        while (packets.sent < count) {
            tweets.forEachLine(packets::add);
        }
    }

    private final class Packets {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(BUFFER_BYTES);
        private final int count;
        private final int size;
        private final long startNanos;
        private int held;
        private int sent;

        Packets(int count, int size, long startNanos) {
            this.count = count;
            this.size = size;
            this.startNanos = startNanos;
        }

        void add(long id, byte[] line) throws IOException {
            if (sent == count) {
                return;
            }
            bytes.writeBytes(line);
            bytes.write('\n');
            held++;
            if (held == size) {
                bytes.writeBytes(
                        "{\"id\":%d,\"a0\":0,\"a1\":0,\"a2\":0,\"a3\":0,\"created\":0,\"message\":\"the last one of its packet\"}\n"
                                .formatted(markOf(sent))
                                .getBytes(StandardCharsets.UTF_8));
                send();
            }
        }

        private void send() throws IOException {
            long at = startNanos + sent * STEP_NANOS;
            for (long left = at - System.nanoTime(); left > 0; left = at - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            OutputStream out = socket.getOutputStream();
            bytes.writeTo(out);
            bytes.reset();
            held = 0;
            sent++;
            passOverAnswers();
        }
    }

    /** Acknowledgements that nobody reads would fill the connection. */
    private void passOverAnswers() throws IOException {
        InputStream in = socket.getInputStream();
        in.skipNBytes(in.available());
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
