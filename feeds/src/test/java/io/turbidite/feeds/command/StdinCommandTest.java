package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Store;
import io.turbidite.ops.Query;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/** Processes that run a feed of standard input, which are stopped, killed, or left at its end. */
@Timeout(300)
class StdinCommandTest {
    private static final int KILLS = Tier.count(1, 3, 30);

    private static final String NOTE =
            "note: piped reads standard input, which cannot be read again";
    private static final String FEED = """
            feed: piped
            dataset:
              name: D
              type: { id: int64 }
              primaryKey: id
            source: { kind: stdin }
            parser: { kind: json }
            mode: insert
            store: { durability: sync }
            """;

    @TempDir
    private Path directory;

    private long written;

    @BeforeEach
    void write() throws IOException {
        Files.writeString(directory.resolve("piped.yaml"), FEED);
    }

    private Path store() {
        return directory.resolve("store");
    }

    /** Returns when the process has the store: who asks earlier would open it himself. */
    private Process start() throws Exception {
        Files.deleteIfExists(directory.resolve("err"));
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx256m",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "run",
                        directory.resolve("piped.yaml").toString(),
                        "--store",
                        store().toString()))
                .redirectOutput(directory.resolve("out").toFile())
                .redirectError(directory.resolve("err").toFile())
                .start();
        while (!said("err").contains(NOTE)) {
            assertThat(process.isAlive()).as(said("err")).isTrue();
            TimeUnit.MILLISECONDS.sleep(10); // the test has its time
        }
        return process;
    }

    private String said(String what) throws IOException {
        return Files.readString(directory.resolve(what));
    }

    private void feed(Writer into, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            into.write("{\"id\":%d}\n".formatted(written++));
        }
        into.flush();
    }

    /** How many records the process has taken by now, as it says itself. */
    private long asked() {
        Command.Result result = Command.run("query", store(), "D", "--count");
        return result.code() == 0 ? result.json().path("count").asLong() : 0;
    }

    private long awaitCount(Process process, long least) throws Exception {
        long count = asked();
        while (count < least) {
            assertThat(process.isAlive()).as(said("err")).isTrue();
            TimeUnit.MILLISECONDS.sleep(20); // the test has its time
            count = asked();
        }
        return count;
    }

    @Test
    void the_end_of_the_input_ends_it_and_it_says_at_its_start_that_it_cant_go_back()
            throws Exception {
        Process process = start();
        try (Writer into = process.outputWriter(StandardCharsets.UTF_8)) {
            feed(into, 3);
            into.write("{\"id\":");
        }
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(said("err")).isZero();
        assertThat(said("out")).contains("piped: 3 records in ", "1 rejected");
        process = start();
        process.getOutputStream().close();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(said("err")).isZero();
        assertThat(said("out")).contains("piped: 0 more records in ").doesNotContain("again");
    }

    @Test
    void a_signal_ends_it_at_a_batch_while_the_pipe_is_quiet() throws Exception {
        Process process = start();
        try (Writer into = process.outputWriter(StandardCharsets.UTF_8)) {
            feed(into, 100);
            awaitCount(process, 100);
            process.toHandle().destroy(); // SIGTERM
            assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(process.exitValue()).as(said("err")).isEqualTo(143);
        assertThat(said("out"))
                .contains("100 records before it was stopped")
                .doesNotContain("again");
        assertThat(asked()).isEqualTo(100);
    }

    @Test
    void what_it_told_to_be_taken_stays_when_it_is_killed() throws Exception {
        long seed = Seeds.of("StdinCommandTest");
        String as = Seeds.replay("StdinCommandTest", seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int kill = 0; kill < KILLS; kill++) {
            long before = kill == 0 ? 0 : asked();
            Process process = start();
            long told;
            try (Writer into = process.outputWriter(StandardCharsets.UTF_8)) {
                feed(into, random.nextInt(1, 2_000));
                told = awaitCount(process, before + 1);
                feed(into, random.nextInt(1, 2_000));
                told = Math.max(told, asked());
                process.toHandle().destroyForcibly();
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            } catch (IOException broken) {
                throw new AssertionError(as + said("err"), broken);
            }
            assertThat(asked()).as(as).isBetween(told, written);
            try (Store store = Store.open(store())) {
                assertThat(store.verify().errors()).as(as).isEmpty();
                assertThat(store.dataset("_feeds").get("piped", "stdin"))
                        .as(as)
                        .containsEntry("records", asked(store));
            }
        }
    }

    private static long asked(Store store) {
        var counted = Query.on(store.dataset("D")).count().run().toList().getFirst();
        return (Long) Objects.requireNonNull(counted.get("count"));
    }
}
