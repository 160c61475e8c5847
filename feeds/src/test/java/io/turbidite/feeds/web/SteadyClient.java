package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Sends records over one connection of HTTP and one of TCP, and checks each answer. <em>Confined to
 * one thread.</em>
 */
final class SteadyClient implements AutoCloseable {
    private static final int POSTED = 3;

    /** Within it every answer comes, or the server hangs. */
    private static final int HANGING_MILLIS = 30_000;

    private final String token;
    private final Socket http;
    private final BufferedReader httpIn;
    private final Socket tcp;
    private final BufferedReader tcpIn;
    private long posted;
    private long lines;

    SteadyClient(int httpPort, int tcpPort, String token) throws IOException {
        this.token = token;
        http = connect(httpPort);
        httpIn = reader(http);
        tcp = connect(tcpPort);
        tcpIn = reader(tcp);
        write(tcp, "{\"token\":\"" + token + "\"}\n");
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(HANGING_MILLIS);
        socket.setTcpNoDelay(true);
        return socket;
    }

    private static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    private static void write(Socket socket, String text) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    /** Records over HTTP that were taken. */
    long postedCount() {
        return posted;
    }

    /** Records over TCP that were taken. */
    long lineCount() {
        return lines;
    }

    /** Sends for some time. */
    void spend(long millis, Latencies to) throws IOException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (long now = System.nanoTime(); now < end; ) {
            round();
            long done = System.nanoTime();
            to.add(done - now);
            now = done;
        }
    }

    /** One request of either kind, answered rightly. */
    void round() throws IOException {
        post();
        write(tcp, "{\"id\":%d,\"name\":\"steady\"}\n".formatted(lines));
        lines++;
        String said = hear(tcpIn);
        while (said.equals("{\"acked\":%d}".formatted(lines - 1))) {
            said = hear(tcpIn); // that of the first line, or the one before once more
        }
        assertThat(said).isEqualTo("{\"acked\":%d}".formatted(lines));
    }

    private static String hear(BufferedReader in) throws IOException {
        return Objects.requireNonNull(in.readLine(), "the server has closed the connection");
    }

    private void post() throws IOException {
        StringBuilder body = new StringBuilder();
        for (int i = 0; i < POSTED; i++) {
            body.append("{\"id\":%d,\"name\":\"steady\"}\n".formatted(posted + i));
        }
        write(
                http,
                "POST /v1/feeds/posts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s"
                        .formatted(token, body.length(), body));
        String status = hear(httpIn);
        int length = 0;
        for (String line = hear(httpIn); !line.isEmpty(); line = hear(httpIn)) {
            String lower = line.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(lower.substring(15).strip());
            }
        }
        char[] answer = new char[length];
        for (int read = 0; read < length; ) {
            int more = httpIn.read(answer, read, length - read);
            assertThat(more).as("bytes of the answer").isPositive();
            read += more;
        }
        assertThat(status).as(new String(answer)).isEqualTo("HTTP/1.1 200 OK");
        assertThat(new String(answer)).contains("\"accepted\":" + POSTED + ",\"rejected\":0");
        posted += POSTED;
    }

    @Override
    public void close() throws IOException {
        try (http) {
            tcp.close();
        }
    }
}
