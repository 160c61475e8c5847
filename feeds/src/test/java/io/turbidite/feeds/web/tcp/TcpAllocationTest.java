package io.turbidite.feeds.web.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import io.turbidite.feeds.web.tcp.TcpFixture.Client;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/** What a line costs in heap that comes over a connection: less than its own bytes. */
class TcpAllocationTest {
    private static final int RECORD_COUNT = 10_000;
    private static final int ROUNDS = 6;

    /** It is some 60; without spare arrays it is more than 1,700. */
    private static final long BYTES_A_RECORD_MAX = 200;

    @TempDir
    private Path directory;

    private static long allocatedBytes() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
    }

    @Test
    void linesAreNotCopiedOntoTheHeap() throws Exception {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (int i = 0; i < RECORD_COUNT; i++) {
            text.writeBytes("{\"id\":%d,\"name\":\"%s\"}\n"
                    .formatted(i, "n".repeat(500))
                    .getBytes(StandardCharsets.UTF_8));
        }
        byte[] bytes = text.toByteArray();
        long[] costs = new long[ROUNDS];
        try (TcpFixture served = TcpFixture.open(directory);
                TcpServer server = served.serve(TcpFixture.LINES);
                Client client = Client.of(server)) {
            for (int round = 0; round < ROUNDS; round++) {
                long before = allocatedBytes();
                client.send(bytes).hear((round + 1L) * RECORD_COUNT);
                costs[round] = (allocatedBytes() - before) / RECORD_COUNT;
            }
        }
        Arrays.sort(costs); // the first ones load classes
        assertThat(costs[0])
                .as("bytes a record, all rounds: %s", Arrays.toString(costs))
                .isLessThan(BYTES_A_RECORD_MAX);
    }
}
