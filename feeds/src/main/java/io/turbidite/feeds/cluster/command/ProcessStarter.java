package io.turbidite.feeds.cluster.command;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.serve.SocketClient;
import io.turbidite.ops.cluster.ClusterIdentity;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Starts the processes of a cluster, and waits until they serve. What it has started it ends when
 * not all come up, or it is asked to
 * stop. <em>Confined to one thread</em>, but for who asks it to stop.
 */
final class ProcessStarter {
    private static final long WAIT_SECONDS = 120;
    private static final long LOOK_MILLIS = 200;

    /** Of a log, to be searched for the last error. */
    private static final int LOG_BYTES = 64 << 10;

    private final Console console;
    private final ClusterDirectory cluster;
    private final AtomicBoolean stopped = new AtomicBoolean();

    private final Map<String, Process> started = new ConcurrentSkipListMap<>();

    /** Where each one's log began: what is before was said by processes of earlier starts. */
    private final Map<String, Long> logStarts = new HashMap<>();

    ProcessStarter(Console console, ClusterDirectory cluster) {
        this.console = console;
        this.cluster = cluster;
    }

    /**
     * Starts the controller, and each node behind the one before.
     *
     * @throws InvalidRequestException if a process of the cluster runs
     * @throws StoreFailedException with the words of the process that did not come up; those that
     *     were started are ended
     * @throws CancellationException if the user has asked to stop; they are ended too
     */
    void startAll() {
        for (String process : cluster.processes()) {
            ProcessFile.read(cluster.of(process)).ifPresent(running -> {
                throw new InvalidRequestException(
                        "'%s' of the cluster in %s runs, as process %d; ./turbidite cluster stop ends all"
                                .formatted(process, cluster.path(), running.pid()));
            });
        }
        try (Interrupts.Watch _ = console.interrupts().watch(this::stop)) {
            startEach();
        }
    }

    /** Ends what was started now: who waits for one of them sees it go. */
    private void stop() {
        stopped.set(true);
        started.values().forEach(Process::destroy);
    }

    private void startEach() {
        try {
            Path controller = cluster.of(ClusterIdentity.CONTROLLER);
            start(ClusterIdentity.CONTROLLER, List.of("controller"));
            await(ClusterIdentity.CONTROLLER, () -> SocketClient.isServed(controller));
            for (String node : cluster.nodes()) {
                asked(List.of("add", node));
                start(node, List.of("node", node));
            }
            await(
                    cluster.nodes().getLast(),
                    () -> ask(List.of("status", "--dir", "."), quiet()) == 0);
            checkNotStopped();
        } catch (RuntimeException | Error e) {
            started.values().forEach(Process::destroy);
            new Cleanup()
                    .addAll(started.values(), process -> ProcessFile.end(process.toHandle()))
                    .runAfter(e);
            if (stopped.get()) {
                var cancelled = new CancellationException("the start was stopped");
                cancelled.initCause(e);
                throw cancelled;
            }
            throw e;
        }
    }

    private static OutputStream quiet() {
        return OutputStream.nullOutputStream();
    }

    private void start(String process, List<String> command) {
        Path own = cluster.of(process);
        List<String> words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + cluster.memory(),
                "-XX:+UseSerialGC",
                "-XX:+ExitOnOutOfMemoryError",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dturbidite.home=" + console.home(),
                "-cp",
                System.getProperty("java.class.path"),
                "io.turbidite.feeds.command.Main",
                "cluster"));
        words.addAll(command);
        words.addAll(List.of("--dir", cluster.path().toAbsolutePath().toString()));
        try {
            logStarts.put(process, Files.exists(log(own)) ? Files.size(log(own)) : 0);
            Process made = new ProcessBuilder(words)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log(own).toFile()))
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .start();
            started.put(process, made);
            checkNotStopped();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (!process.equals(ClusterIdentity.CONTROLLER)) {
            // the next change needs it
            await(process, () -> serves(process));
        }
    }

    private static Path log(Path own) {
        return own.resolve("output.log");
    }

    private boolean serves(String node) {
        ByteArrayOutputStream told = new ByteArrayOutputStream();
        ask(List.of("status", "--dir", "."), told);
        return told.toString(StandardCharsets.UTF_8)
                .lines()
                .anyMatch(line -> line.startsWith("node %s serves".formatted(node)));
    }

    private void asked(List<String> arguments) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code = ask(arguments, quiet(), err);
        if (code != 0) {
            throw new StoreFailedException(
                    err.toString(StandardCharsets.UTF_8).strip().replaceFirst("^turbidite: ", ""),
                    null);
        }
    }

    private int ask(List<String> arguments, OutputStream out) {
        return ask(arguments, out, quiet());
    }

    private int ask(List<String> arguments, OutputStream out, OutputStream err) {
        return SocketClient.run(
                        cluster.of(ClusterIdentity.CONTROLLER),
                        new SocketClient.Request(console.directory().toString(), false, arguments),
                        out,
                        err)
                .orElseThrow(() -> new StoreFailedException(
                        "the controller ended: " + lastWords(ClusterIdentity.CONTROLLER), null));
    }

    private void await(String process, BooleanSupplier isThere) {
        long begun = console.clock().monotonicNanos();
        while (true) {
            // first: another process may answer in the place of one that has ended
            checkAlive();
            if (isThere.getAsBoolean()) {
                return;
            }
            if (console.clock().monotonicNanos() - begun
                    >= TimeUnit.SECONDS.toNanos(WAIT_SECONDS)) {
                throw new StoreFailedException(
                        "'%s' does not serve after %d s; see %s"
                                .formatted(process, WAIT_SECONDS, log(cluster.of(process))),
                        null);
            }
            pause();
        }
    }

    private void checkNotStopped() {
        if (stopped.get()) {
            throw new CancellationException("the start was stopped");
        }
    }

    private void checkAlive() {
        started.forEach((name, made) -> {
            if (!made.isAlive()) {
                throw new StoreFailedException(
                        "'%s' did not start: %s".formatted(name, lastWords(name)), null);
            }
        });
    }

    private void pause() {
        try {
            // ends early if a process does
            var _ = started.values().iterator().next().waitFor(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreFailedException("the start was interrupted", e);
        }
    }

    /** What a process said last of what is wrong, since it was started. */
    private String lastWords(String process) {
        Path log = log(cluster.of(process));
        try {
            return new String(
                            lastBytes(log, logStarts.getOrDefault(process, 0L)),
                            StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> line.startsWith("turbidite: "))
                    .reduce((_, last) -> last)
                    .map(line -> line.substring("turbidite: ".length()))
                    .orElse("see " + log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] lastBytes(Path log, long start) throws IOException {
        try (SeekableByteChannel channel = Files.newByteChannel(log)) {
            channel.position(Math.max(start, channel.size() - LOG_BYTES));
            return Channels.newInputStream(channel).readNBytes(LOG_BYTES);
        }
    }
}
