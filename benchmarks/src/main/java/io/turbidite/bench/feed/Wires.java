package io.turbidite.bench.feed;

import io.turbidite.feeds.web.access.Token;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Clients that cost little: they send what they have and read what they must. */
final class Wires {
    private static final int TCP_PIECE_BYTES = 64 << 10;
    private static final int HTTP_BODY_BYTES = 1 << 20;
    private static final int WAIT_MILLIS = 120_000;

    private Wires() {}

    /** Sends all lines over one connection, and returns when the last one is acknowledged. */
    static void overTcp(InetSocketAddress at, Token.Made token, FeedTweets tweets)
            throws IOException {
        try (Socket socket = new Socket(at.getAddress(), at.getPort())) {
            socket.setSoTimeout(WAIT_MILLIS);
            BufferedReader in = new BufferedReader(
                    new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            FutureTask<String> last = new FutureTask<>(() -> {
                String line = "";
                for (String next = in.readLine(); next != null; next = in.readLine()) {
                    line = next;
                }
                return line;
            });
            Thread.ofPlatform().daemon().name("acknowledgements").start(last);
            OutputStream out = socket.getOutputStream();
            out.write("{\"token\":\"%s\"}\n"
                    .formatted(token.text())
                    .getBytes(StandardCharsets.UTF_8));
            tweets.forEachPiece(TCP_PIECE_BYTES, (bytes, length) -> out.write(bytes, 0, length));
            socket.shutdownOutput();
            String said = last.get();
            if (!said.contains("\"acked\":%d".formatted(tweets.count()))) {
                throw new IllegalStateException("the last acknowledgement is " + said);
            }
        } catch (InterruptedException | ExecutionException failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** Sends all lines in requests of up to 1 MB over one connection, one after the other. */
    static void overHttp(InetSocketAddress at, Token.Made token, FeedTweets tweets)
            throws IOException {
        try (Asker asker = Asker.open(at, token)) {
            tweets.forEachPiece(
                    HTTP_BODY_BYTES,
                    (bytes, length) -> asker.post("/v1/feeds/tweets", bytes, length));
        }
    }
}
