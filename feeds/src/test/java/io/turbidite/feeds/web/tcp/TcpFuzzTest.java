package io.turbidite.feeds.web.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.Mutation;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.lsm.Dataset;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * R14: damaged first lines, each before two sound records. Whatever the line is, each answer is one
 * of the protocol, and the connection ends with the input. Where nothing is refused the records are
 * there, and never without the token where one is needed.
 */
class TcpFuzzTest {
    private static final int COUNT = Tier.count(100, 500, 100_000);

    /** Few connections: one that is not given back is soon missed. */
    private static final TcpOptions OPTIONS =
            new TcpOptions(16, 16, 20_000, 20_000, 20_000, 4 << 20);

    private static final List<byte[]> WORDS = List.of(
                    "{",
                    "}",
                    "\"",
                    ",",
                    ":",
                    "\n",
                    "\r\n",
                    "\\u0000",
                    "\\ud800",
                    "\0",
                    "[[[[[[",
                    "null",
                    "-1",
                    "9007199254740993",
                    "9".repeat(200),
                    "\"token\":",
                    "\"producer\":\"q\",",
                    "\"sequence\":2,",
                    "x".repeat(5_000))
            .stream()
            .map(TcpFuzzTest::bytes)
            .toList();

    @TempDir
    private Path directory;

    private TcpFixture fixture;
    private TcpServer open;
    private TcpServer locked;

    @BeforeEach
    void open() throws IOException {
        fixture = TcpFixture.open(directory);
        open = TcpServer.start(fixture.parts(OPTIONS, null), List.of(TcpFixture.LINES));
        locked = TcpServer.start(fixture.parts(OPTIONS, null), List.of(TcpFixture.LOCKED));
    }

    @AfterEach
    void close() {
        open.close();
        locked.close();
        fixture.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    @Timeout(3_600)
    void damaged_first_lines() throws IOException {
        long seed = Seeds.of("TcpFuzzTest");
        List<String> sound = List.of(
                "{\"token\":\"%s\"}",
                "{\"token\":\"%s\",\"producer\":\"p%d\",\"sequence\":1}",
                "{\"producer\":\"p%2$d\"}",
                "");
        Dataset lines = fixture.store.dataset("Lines");
        int taken = 0;
        for (int i = 0; i < COUNT; i++) {
            SplittableRandom random = new SplittableRandom(Seeds.mix(seed, i));
            String text = sound.get(i % sound.size()).formatted(fixture.sender.text(), i);
            // one in four is sound
            byte[] first = random.nextInt(4) == 0
                    ? bytes(text)
                    : Mutation.ofText(bytes(text + "\n"), WORDS, random);
            TcpDoor door = random.nextBoolean() ? TcpFixture.LINES : TcpFixture.LOCKED;
            long id = 1_000_000L + 2L * i;
            String records = "\n\n{\"id\":%d}\n{\"id\":%d}\n".formatted(id, id + 1);
            String as = "%s, round %d: %s"
                    .formatted(
                            Seeds.replay("TcpFuzzTest", seed),
                            i,
                            new String(first, StandardCharsets.UTF_8));
            boolean isRefused = isRefused(door, first, bytes(records), random, as);
            boolean isThere = lines.get(id) != null && lines.get(id + 1) != null;
            FirstLine read = firstLine(first);
            boolean isLetIn = read != null && fixture.sender.text().equals(read.token());
            assertThat(isThere && isRefused).as(as).isFalse();
            if (read == null || read.sequence() == 0) { // or they may be taken for known ones
                assertThat(isThere || isRefused).as(as).isTrue();
            }
            assertThat(isThere && door.equals(TcpFixture.LOCKED) && !isLetIn)
                    .as(as)
                    .isFalse();
            taken += isThere ? 1 : 0;
        }
        System.out.printf("TcpFuzzTest: %d of %d taken%n", taken, COUNT);
        assertThat(taken).isBetween(COUNT / 4, COUNT * 9 / 10);
    }

    /** The first line of a text; null if it is none, or wrong. */
    private static @Nullable FirstLine firstLine(byte[] sent) {
        String text = new String(sent, StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\n');
        try {
            return FirstLine.of(end < 0 ? sent : Arrays.copyOf(sent, end));
        } catch (Problem refused) {
            return null;
        }
    }

    /** Whether the server says why it takes no more, or cuts the client off for it. */
    private boolean isRefused(
            TcpDoor door, byte[] first, byte[] records, SplittableRandom random, String as)
            throws IOException {
        boolean isRefused = false;
        int answerCount = 0;
        TcpServer server = door.equals(TcpFixture.LOCKED) ? locked : open;
        try (TcpFixture.Client client = TcpFixture.Client.of(server)) {
            deliver(client, first, random);
            deliver(client, records, random);
            client.end();
            for (JsonNode line = client.hear(); line != null; line = client.hear()) {
                assertThat(line.has("acked") || line.has("error")).as(as).isTrue();
                assertThat(isRefused).as("nothing follows an error: %s", as).isFalse();
                isRefused = line.has("error");
                answerCount++;
            }
        } catch (SocketTimeoutException e) {
            throw new AssertionError("it hangs: " + as, e);
        } catch (SocketException cut) {
            return true; // it is refused while more comes
        }
        assertThat(answerCount).as(as).isPositive();
        return isRefused;
    }

    private static void deliver(TcpFixture.Client client, byte[] bytes, SplittableRandom random)
            throws IOException {
        int bound = random.nextBoolean() ? bytes.length : 1 + random.nextInt(40);
        for (int at = 0; at < bytes.length; ) {
            int count = Math.min(bytes.length - at, 1 + random.nextInt(bound));
            client.send(Arrays.copyOfRange(bytes, at, at + count));
            at += count;
        }
    }
}
