package io.turbidite.it.fault;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Commands of the machine, bounded in time. */
final class Shell {
    private static final int SECONDS_MAX = 60;

    /** How a command ended, with what it printed. */
    record Result(int exit, String output) {
        boolean isDone() {
            return exit == 0;
        }
    }

    private Shell() {}

    static Result run(String... command) throws IOException, InterruptedException {
        Path output = Files.createTempFile("command", ".txt");
        try {
            Process process = new ProcessBuilder(List.of(command))
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
                process.toHandle().destroyForcibly();
                process.waitFor();
                return new Result(-1, "no end after %d s".formatted(SECONDS_MAX));
            }
            return new Result(
                    process.exitValue(),
                    Files.readString(output, StandardCharsets.UTF_8).strip());
        } finally {
            Files.delete(output);
        }
    }

    static void must(String... command) throws IOException, InterruptedException {
        Result result = run(command);
        if (!result.isDone()) {
            throw new IOException("%s: %s".formatted(String.join(" ", command), result.output()));
        }
    }

    /** Whether there is a command of that name. */
    static boolean has(String command) throws IOException, InterruptedException {
        return run("sh", "-c", "command -v " + command).isDone();
    }

    static boolean isRoot() throws IOException, InterruptedException {
        return "0".equals(run("id", "-u").output());
    }
}
