package io.turbidite.feeds.cluster.command;

import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.door.ClusterDoor;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.serve.CommandHandler;
import io.turbidite.feeds.serve.ServeOptions;
import io.turbidite.feeds.serve.SocketServer;

import picocli.CommandLine;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs commands of a cluster for other processes of the same user, by a socket in the controller's
 * directory. <em>Thread-safe.</em>
 */
final class DoorServer implements AutoCloseable {
    /** What it runs for others; {@code add} is asked for by {@code start} alone. */
    private static final List<String> SERVED = List.of("status", "sql", "load", "add");

    private static final int OUT_BUFFER_BYTES = 32 << 10;

    private final ClusterDoor door;
    private final Path home;
    private final SocketServer server;

    private DoorServer(ClusterDoor door, Path directory, Path home) throws IOException {
        this.door = door;
        this.home = home;
        this.server =
                SocketServer.start(directory, ServeOptions.defaults(), this::run, Clock.system());
    }

    /**
     * Starts to serve.
     *
     * @param directory of the controller, whose lock the caller holds
     */
    static DoorServer start(ClusterDoor door, Path directory, Path home) {
        try {
            return new DoorServer(door, directory, home);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private int run(CommandHandler.Request request) {
        try (PrintStream out = print(request.out());
                PrintStream err = print(request.err())) {
            List<String> arguments = request.arguments();
            if (arguments.isEmpty() || !SERVED.contains(arguments.getFirst())) {
                err.println("turbidite: the controller runs %s for others, no such command"
                        .formatted(String.join(", ", SERVED)));
                return ExitCode.USAGE;
            }
            Console console = new Console(
                    InputStream.nullInputStream(),
                    out,
                    err,
                    request.terminal(),
                    Path.of(request.directory()),
                    home,
                    interrupts(request),
                    Clock.system());
            return run(arguments, console);
        }
    }

    private int run(List<String> arguments, Console console) {
        if (arguments.getFirst().equals("add")) {
            try {
                return ClusterAccess.told(() -> {
                    arguments.subList(1, arguments.size()).forEach(door::addNode);
                    return ExitCode.OK;
                });
            } catch (RuntimeException e) {
                return Failures.report(e, console.err(), false);
            }
        }
        boolean debug = arguments.contains("--debug");
        CommandLine line = ClusterCommand.of(new ClusterAccess(console, door));
        line.setOut(new PrintWriter(console.out(), true, StandardCharsets.UTF_8))
                .setExpandAtFiles(false)
                .setParameterExceptionHandler((e, _) -> Failures.report(e, console.err(), debug))
                .setExecutionExceptionHandler(
                        (e, _, _) -> Failures.report(e, console.err(), debug));
        int code = line.execute(arguments.toArray(String[]::new));
        console.out().flush();
        return code;
    }

    private static Interrupts interrupts(CommandHandler.Request request) {
        return stop -> {
            request.departure().listen(stop);
            return new Interrupts.Watch() {
                @Override
                public boolean interrupted() {
                    return request.departure().isGone();
                }

                @Override
                public void close() {
                    request.departure().forget();
                }
            };
        };
    }

    private static PrintStream print(OutputStream to) {
        return new PrintStream(
                new BufferedOutputStream(to, OUT_BUFFER_BYTES), false, StandardCharsets.UTF_8);
    }

    /** Stops what runs for others, takes the socket away. */
    @Override
    public void close() {
        server.close();
    }
}
