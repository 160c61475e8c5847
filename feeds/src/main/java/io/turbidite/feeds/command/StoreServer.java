package io.turbidite.feeds.command;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Failures;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.feed.Serving;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.serve.CommandHandler;
import io.turbidite.feeds.serve.NettyLibrary;
import io.turbidite.feeds.serve.ServeOptions;
import io.turbidite.feeds.serve.SocketServer;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.ops.jdbc.HolderService;

import org.jspecify.annotations.Nullable;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Lets other processes of the same user read a store that this one holds: the commands
 * {@link StoreAccess#SERVED} of {@code ./turbidite} are run here, and statements of JDBC
 * ({@code jdbc:turbidite:/path}), over a socket in the store's directory.
 *
 * <pre>{@code
 * try (Store store = Store.open(directory);
 *         StoreServer server = StoreServer.start(store)) {
 *     ...
 * }
 * }</pre>
 *
 * <p>Close it before the store. <em>Thread-safe.</em>
 */
public final class StoreServer implements AutoCloseable {
    private static final int OUT_BUFFER_BYTES = 32 << 10;

    private final Store store;
    private final Path home;
    private final @Nullable FeedManager feeds;
    private @Nullable SocketServer server;
    private @Nullable String problem;

    private StoreServer(Store store, Path home, @Nullable FeedManager feeds) {
        this.store = store;
        this.home = home;
        this.feeds = feeds;
    }

    /** Starts to serve a store that lies in a directory of the file system. */
    public static StoreServer start(Store store) {
        return start(store, Path.of("").toAbsolutePath());
    }

    /** As {@link #start(Store)}, with {@code ./turbidite feed} for the store's feeds. */
    public static StoreServer start(Store store, FeedManager feeds) {
        Path home = Path.of("").toAbsolutePath();
        return start(store, home, feeds, ServeOptions.defaults());
    }

    static StoreServer start(Store store, Path home) {
        return start(store, home, ServeOptions.defaults());
    }

    static StoreServer start(Store store, Path home, ServeOptions options) {
        return start(store, home, null, options);
    }

    static StoreServer start(
            Store store, Path home, @Nullable FeedManager feeds, ServeOptions options) {
        StoreServer started = new StoreServer(store, home, feeds);
        try {
            NettyLibrary.requireSocket();
            Path directory = Path.of(store.environment().disk().description());
            started.server = SocketServer.start(
                    directory,
                    options,
                    started::run,
                    new HolderService(
                            StoreCatalog.of(store, false), store.environment().clock()),
                    store.environment().clock());
        } catch (IOException
                | InvalidPathException
                | InvalidRequestException
                | UnsupportedOperationException e) {
            started.problem = "other processes can't reach the store meanwhile: " + e.getMessage();
        }
        return started;
    }

    /** As {@link #start(Store)}, for a feed that fills the store. */
    static Serving.Server serve(Store store, Path home) {
        return asServer(start(store, home));
    }

    /** As {@link #start(Store, FeedManager)}, for a server of stores. */
    static Serving.Server serve(Store store, FeedManager feeds, Path home) {
        return asServer(start(store, home, feeds, ServeOptions.defaults()));
    }

    private static Serving.Server asServer(StoreServer started) {
        return new Serving.Server() {
            @Override
            public Optional<String> problem() {
                return started.problem();
            }

            @Override
            public void close() {
                started.close();
            }
        };
    }

    /** Why nobody is served, if so: the store can be used as if there were no server. */
    public Optional<String> problem() {
        return Optional.ofNullable(problem);
    }

    /** Connections of JDBC that other processes have open now. */
    public int sessionCount() {
        return server == null ? 0 : server.sessionCount();
    }

    /** Commands that run for other processes now. */
    public int runningCount() {
        return server == null ? 0 : server.runningCount();
    }

    private int run(CommandHandler.Request request) {
        PrintStream out = print(request.out(), OUT_BUFFER_BYTES);
        PrintStream err = print(request.err(), OUT_BUFFER_BYTES);
        Interrupts interrupts = stop -> {
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
        try (out;
                err) {
            if (!StoreAccess.isServed(request.arguments())) {
                err.println(
                        "turbidite: the process that holds the store runs %s for others, no such command"
                                .formatted(String.join(", ", StoreAccess.SERVED)));
                return ExitCode.USAGE;
            }
            if (request.arguments().getFirst().equals("backup")
                    && !request.departure().keep()) {
                return ExitCode.FAILED; // the server says why
            }
            Path directory;
            try {
                directory = PathArgument.path("the client's directory", request.directory());
            } catch (InvalidRequestException noPath) {
                return Failures.report(noPath, err, false);
            }
            Console console = new Console(
                    InputStream.nullInputStream(),
                    out,
                    err,
                    request.terminal(),
                    directory,
                    home,
                    interrupts,
                    Clock.system());
            return Main.run(
                    request.arguments().toArray(String[]::new),
                    console,
                    StoreAccess.sharing(store, feeds));
        }
    }

    private static PrintStream print(OutputStream to, int bufferBytes) {
        return new PrintStream(
                new BufferedOutputStream(to, bufferBytes), false, StandardCharsets.UTF_8);
    }

    /** Stops what runs for others, takes the socket away. */
    @Override
    public void close() {
        if (server != null) {
            server.close();
        }
    }
}
