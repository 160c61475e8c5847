package io.turbidite.core.sim;

import org.jspecify.annotations.Nullable;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A JVM that a test starts to kill it. It lives for two minutes at most, so no read of what it says
 * waits for longer, and at most until it is closed. <em>Confined to one thread.</em>
 */
public final class KilledChild implements AutoCloseable {
    private static final long LIFE_SECONDS = 120;

    private final Process process;
    private final Path errors;
    private final BufferedReader lines;
    private final Thread watch;

    private KilledChild(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
        this.lines = process.inputReader(StandardCharsets.UTF_8);
        this.watch = Thread.ofPlatform().daemon().start(() -> {
            try {
                TimeUnit.SECONDS.sleep(LIFE_SECONDS);
                process.toHandle().destroyForcibly();
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /**
     * Starts {@code main} on the class path of the test.
     *
     * @param errors the file that takes its standard error; what an earlier child wrote there goes
     */
    public static KilledChild start(Path errors, Class<?> main, Object... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-Xshare:auto",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return new KilledChild(
                new ProcessBuilder(command).redirectError(errors.toFile()).start(), errors);
    }

    /** The next line of its standard output; null behind the last one of a child that has ended. */
    public @Nullable String lineOrEnd() throws IOException {
        return lines.readLine();
    }

    /** The next line of its standard output, which must come. */
    public String line() throws IOException {
        String line = lineOrEnd();
        if (line == null) {
            throw new AssertionError("the child has ended by itself: " + errors());
        }
        return line;
    }

    /** What it wrote to its standard error. */
    public String errors() {
        try {
            return Files.readString(errors);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Kills it (SIGKILL); lines that it had written can still be read. */
    public void kill() {
        // through the handle: Process.destroyForcibly would close the pipe that is being read
        if (!process.toHandle().destroyForcibly()) {
            throw new AssertionError("the child has ended before it was killed: " + errors());
        }
    }

    /** Tells it to end (SIGTERM); nothing happens if it has. */
    public void terminate() {
        var _ = process.toHandle().destroy();
    }

    /**
     * The code that it ends with.
     *
     * @return negative if it lives on for so long
     */
    public int exitCode(long millisMax) throws InterruptedException {
        return process.waitFor(millisMax, TimeUnit.MILLISECONDS) ? process.exitValue() : -1;
    }

    /** Ends it, if it lives, and waits until it is gone. */
    @Override
    public void close() throws IOException {
        watch.interrupt();
        process.toHandle().destroyForcibly();
        boolean isInterrupted = false;
        for (boolean isOver = false; !isOver; ) {
            try {
                process.waitFor();
                isOver = true;
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        lines.close();
    }
}
