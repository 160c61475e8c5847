package io.turbidite.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Main;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Ctrl-C in the middle of a run: what was accepted is committed, the summary is printed, exit 130.
 */
class InterruptTest {
    /** Some seconds of work: the child is interrupted long before. */
    private static final int ROWS = 1_000_000;

    private static final int SIGINT = 2;

    private static final String FEED = """
            feed: numbers
            dataset:
              name: Numbers
              type: { id: int64, name: string }
              primaryKey: id
              indexes:
                - { name: by_name, kind: btree, on: name }
            source: { kind: file, path: numbers.csv }
            parser: { kind: csv }
            """;

    @TempDir
    private Path directory;

    @Test
    void an_interrupted_run_commits_sums_up_and_goes_on_later()
            throws IOException, InterruptedException {
        Path feed = Files.writeString(directory.resolve("numbers.yaml"), FEED);
        try (BufferedWriter rows = Files.newBufferedWriter(directory.resolve("numbers.csv"))) {
            rows.write("id,name\n");
            for (int i = 0; i < ROWS; i++) {
                rows.write(i + ",name " + i % 1_000 + "\n");
            }
        }
        Path store = directory.resolve("store");
        Process child = start(feed, store);
        try {
            readUntil(child.getErrorStream(), " records");

            // the running feed answers the questions of other processes
            Said second = run("inspect", store.toString());
            assertThat(second.err()).isEmpty();
            assertThat(second.code()).isZero();
            Said count = run("query", store.toString(), "Numbers", "--count");
            assertThat(count.out()).matches("\\{\"count\":\\d+}\n");

            interrupt(child);
            String out = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(child.exitValue()).isEqualTo(isIntIgnored() ? 143 : 130);
            assertThat(out.lines()).hasSize(1);
            Matcher records = Pattern.compile("\"records\":(\\d+),").matcher(out);
            assertThat(records.find()).isTrue();
            long accepted = Long.parseLong(records.group(1));
            assertThat(accepted).isBetween(1L, ROWS - 1L);

            assertThat(run("query", store.toString(), "Numbers", "--count").out())
                    .isEqualTo("{\"count\":%d}\n".formatted(accepted));
            assertThat(run("verify", store.toString()).code()).isZero();
        } finally {
            child.destroyForcibly();
        }
    }

    private static Process start(Path feed, Path store) throws IOException {
        return new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-Dturbidite.terminal=true",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "run",
                        feed.toString(),
                        "--store",
                        store.toString(),
                        "--json"))
                .start();
    }

    /** The bar on standard error tells that the feed is under way. */
    private static void readUntil(InputStream stream, String wanted) throws IOException {
        StringBuilder read = new StringBuilder();
        while (read.indexOf(wanted) < 0) {
            int next = stream.read();
            assertThat(next).as("the child said: %s", read).isNotNegative();
            read.append((char) next);
        }
    }

    /** A shell's background jobs ignore SIGINT, and so do their children; SIGTERM does the same. */
    private static boolean isIntIgnored() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .anyMatch(line -> {
                    long mask = Long.parseUnsignedLong(line.substring(7).strip(), 16);
                    return (mask >>> (SIGINT - 1) & 1) != 0;
                });
    }

    private static void interrupt(Process child) throws IOException, InterruptedException {
        new ProcessBuilder("kill", isIntIgnored() ? "-TERM" : "-INT", Long.toString(child.pid()))
                .inheritIO()
                .start()
                .waitFor();
    }

    private record Said(int code, String out, String err) {}

    private static Said run(String... args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code = Main.run(
                args,
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        return new Said(
                code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }
}
