package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.access.Token;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.Right;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;

/** What a record costs in heap that comes in a request's body: less than its own bytes. */
class ParcelAllocationTest {
    private static final int RECORD_COUNT = 4_000;
    private static final int ROUNDS = 8;

    /** It is some 60; without spare arrays it is some 580. */
    private static final long BYTES_A_RECORD_MAX = 250;

    private static final String DEFINITION = """
        feed: sent
        dataset:
          name: Sent
          type: { id: int64, name: string }
          primaryKey: id
        source: { kind: http }
        parser: { kind: json }
        """;

    @TempDir
    private Path directory;

    private static long allocatedBytes() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
    }

    private final Token.Made sender =
            Token.make("sender", EnumSet.of(Right.WRITE, Right.MANAGE), List.of("*"), List.of("*"));

    private byte[] request() {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (int i = 0; i < RECORD_COUNT; i++) {
            body.writeBytes("{\"id\":%d,\"name\":\"%s\"}\n"
                    .formatted(i, "n".repeat(500))
                    .getBytes(StandardCharsets.UTF_8));
        }
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(
                "POST /v1/feeds/sent?store=two HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n"
                        .formatted(sender.text(), body.size())
                        .getBytes(StandardCharsets.US_ASCII));
        all.writeBytes(body.toByteArray());
        return all.toByteArray();
    }

    @Test
    void bodies_are_not_copied_onto_fresh_heap() throws Exception {
        byte[] request = request();
        long[] costs = new long[ROUNDS];
        try (ServedStore served = ServedStore.open(
                directory, HttpOptions.defaults(), Gate.of(List.of(sender.kept()), false))) {
            assertThat(served.send(served.request("/v1/feeds/sent?store=two")
                                    .header("Authorization", "Bearer " + sender.text())
                                    .PUT(BodyPublishers.ofString(DEFINITION))
                                    .build())
                            .statusCode())
                    .isEqualTo(200);
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), served.port())) {
                socket.setSoTimeout(60_000);
                OutputStream out = socket.getOutputStream();
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                for (int round = 0; round < ROUNDS; round++) {
                    long before = allocatedBytes();
                    out.write(request);
                    assertThat(in.readLine()).isEqualTo("HTTP/1.1 200 OK");
                    readRest(in);
                    costs[round] = (allocatedBytes() - before) / RECORD_COUNT;
                }
            }
        }
        Arrays.sort(costs); // the first ones load classes
        assertThat(costs[0])
                .as("bytes a record, all rounds: %s", Arrays.toString(costs))
                .isLessThan(BYTES_A_RECORD_MAX);
    }

    private static void readRest(BufferedReader in) throws Exception {
        int length = 0;
        for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
            if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                length = Integer.parseInt(line.substring(15).strip());
            }
        }
        assertThat(in.skip(length)).isEqualTo(length);
    }
}
