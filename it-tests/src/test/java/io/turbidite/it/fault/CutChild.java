package io.turbidite.it.fault;

import org.jspecify.annotations.Nullable;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The parent's end of a {@link CutWriter}. What the child says is read by a thread of its own, so
 * that an acknowledgement counts from the moment it is out. <em>Confined to one thread</em>
 * otherwise.
 */
final class CutChild implements AutoCloseable {
    /** A child that says nothing for so long hangs. */
    private static final int SILENCE_SECONDS_MAX = 60;

    private final Process process;
    private final Writer orders;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final Thread reader;
    private final List<String> refusals = new ArrayList<>();
    private volatile long acknowledged;

    private CutChild(Process process) {
        this.process = process;
        this.orders = process.outputWriter(StandardCharsets.UTF_8);
        this.reader = new Thread(this::read, "child's lines");
        reader.start();
    }

    static CutChild start(Map<String, String> environment) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xshare:auto",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        CutWriter.class.getName()))
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().putAll(environment);
        return new CutChild(builder.start());
    }

    private void read() {
        try (BufferedReader in = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (!line.isEmpty() && Character.isDigit(line.charAt(0))) {
                    acknowledged = Long.parseLong(line);
                }
                lines.add(line);
            }
        } catch (IOException killed) {
            lines.add("ended " + killed);
        }
        lines.add("ended");
    }

    /** Has it open the store and commit; returns when it is open, or has refused to. */
    void write(Path directory, CutHistory history, long seed, long count)
            throws IOException, InterruptedException {
        acknowledged = history.number();
        refusals.clear();
        orders.write("%s %d %d %d%n".formatted(directory, seed, history.number(), count));
        orders.flush();
        String line = next();
        if (line.startsWith("refused")) {
            refusals.add(line);
        } else if (!line.equals("open")) {
            throw new AssertionError(line);
        }
    }

    /** Number of the last commit that is known to be acknowledged by now. */
    long acknowledged() {
        return acknowledged;
    }

    /** Why writes were refused since {@link #write}. */
    List<String> refusals() {
        return refusals;
    }

    /** Waits for {@code count} acknowledgements, or for the end of its writing. */
    void await(long count) throws InterruptedException {
        for (long i = 0; i < count; i++) {
            String line = next();
            note(line);
            if (line.equals("closed")) {
                throw new AssertionError("closed before its time: " + refusals);
            }
        }
    }

    /** Until it has closed the store. */
    void awaitClosed() throws InterruptedException {
        for (String line = next(); !line.equals("closed"); line = next()) {
            note(line);
        }
    }

    private void note(String line) {
        if (line.startsWith("wrong") || line.startsWith("ended")) {
            throw new AssertionError(line + "; " + refusals);
        }
        if (line.startsWith("refused")) {
            refusals.add(line);
        }
    }

    private String next() throws InterruptedException {
        @Nullable String line = lines.poll(SILENCE_SECONDS_MAX, TimeUnit.SECONDS);
        if (line == null) {
            throw new AssertionError("silent for %d s".formatted(SILENCE_SECONDS_MAX));
        }
        return line;
    }

    /** Through the handle: Process.destroyForcibly would close the pipe and lose lines. */
    void kill() throws InterruptedException {
        process.toHandle().destroyForcibly();
        process.waitFor();
        reader.join();
    }

    @Override
    public void close() throws IOException {
        try {
            orders.close();
        } catch (IOException deadAlready) {
            process.toHandle().destroyForcibly();
        }
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.toHandle().destroyForcibly();
                process.waitFor();
            }
            reader.join();
        } catch (InterruptedException e) {
            throw new AssertionError("the child was not awaited", e);
        }
    }
}
