package io.turbidite.feeds.cluster.command;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Which process runs in a directory: its id and when it began, since ids are given again. Static,
 * without state.
 */
final class ProcessFile {
    private static final String FILE = "PROCESS";

    /** How long a process that was asked to end may take. */
    private static final long END_SECONDS = 20;

    private ProcessFile() {}

    /**
     * This process runs in the directory until the end of what is returned. The caller has what
     * keeps others out, and serves nobody yet: who sees it serve may end it by the file.
     */
    static Cleanup hold(Path directory) {
        write(directory);
        return new Cleanup().add(() -> delete(directory));
    }

    private static void write(Path directory) {
        ProcessHandle own = ProcessHandle.current();
        Path draft = directory.resolve(FILE + ".new");
        try {
            Files.writeString(draft, "%d %d%n".formatted(own.pid(), begun(own)));
            Files.move(
                    draft,
                    directory.resolve(FILE),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long begun(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    }

    /** It runs there no more. */
    static void delete(Path directory) {
        try {
            Files.deleteIfExists(directory.resolve(FILE));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The process that runs in the directory; empty: none, or one that is no more. */
    static Optional<ProcessHandle> read(Path directory) {
        try {
            String[] words = Files.readString(directory.resolve(FILE)).strip().split(" ", -1);
            long begun = Long.parseLong(words[1]);
            return ProcessHandle.of(Long.parseLong(words[0]))
                    .filter(process -> process.isAlive() && begun(process) == begun);
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            throw new InvalidRequestException(
                    "%s is damaged: end the process by hand, and delete it"
                            .formatted(directory.resolve(FILE)),
                    e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Asks a process to end, and ends it when it does not. */
    static void end(ProcessHandle process) {
        process.destroy();
        if (!hasEnded(process)) {
            process.destroyForcibly();
            if (!hasEnded(process)) {
                throw new InvalidRequestException(
                        "process %d does not end".formatted(process.pid()));
            }
        }
    }

    private static boolean hasEnded(ProcessHandle process) {
        CompletableFuture<ProcessHandle> exit = process.onExit();
        try {
            exit.get(END_SECONDS, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException _) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
