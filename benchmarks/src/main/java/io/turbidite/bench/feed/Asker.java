package io.turbidite.bench.feed;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.turbidite.feeds.web.access.Token;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Locale;

/**
 * One connection of HTTP that costs little: it asks, reads the answer, and keeps the connection.
 * <em>Confined to one thread.</em>
 */
final class Asker implements AutoCloseable {
    private static final int WAIT_MILLIS = 120_000;
    private static final int BUFFER_BYTES = 2_048;

    private final Socket socket;
    private final InputStream in;
    private final String authorization;

    private Asker(Socket socket, Token.Made token) throws IOException {
        this.socket = socket;
        this.in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
        this.authorization =
                "Host: localhost\r\nAuthorization: Bearer %s\r\n".formatted(token.text());
    }

    static Asker open(InetSocketAddress at, Token.Made token) throws IOException {
        Socket socket = new Socket(at.getAddress(), at.getPort());
        socket.setSoTimeout(WAIT_MILLIS);
        socket.setTcpNoDelay(true);
        return new Asker(socket, token);
    }

    /** The answer's body. */
    byte[] get(String path) throws IOException {
        sendGet(path);
        return readAnswer();
    }

    /** The answer as it comes, its head and the lengths of its chunks included. */
    InputStream stream(String path) throws IOException {
        sendGet(path);
        return in;
    }

    private void sendGet(String path) throws IOException {
        socket.getOutputStream()
                .write("GET %s HTTP/1.1\r\n%s\r\n"
                        .formatted(path, authorization)
                        .getBytes(US_ASCII));
    }

    void post(String path, byte[] body, int length) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write("POST %s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n"
                .formatted(path, authorization, length)
                .getBytes(US_ASCII));
        out.write(body, 0, length);
        readAnswer();
    }

    private byte[] readAnswer() throws IOException {
        String status = readLine();
        int length = 0;
        boolean isChunked = false;
        for (String line = readLine(); !line.isEmpty(); line = readLine()) {
            String lower = line.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(lower.substring(15).strip());
            }
            isChunked |= lower.equals("transfer-encoding: chunked");
        }
        byte[] body = isChunked ? readChunks() : in.readNBytes(length);
        if (!status.startsWith("HTTP/1.1 200")) {
            throw new IllegalStateException(status + ": " + new String(body, UTF_8));
        }
        return body;
    }

    private byte[] readChunks() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        while (true) {
            int length = Integer.parseInt(readLine(), 16);
            body.write(in.readNBytes(length));
            readLine();
            if (length == 0) {
                return body.toByteArray();
            }
        }
    }

    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new IOException("the connection has ended");
            }
            if (b != '\r') {
                line.append((char) b);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
