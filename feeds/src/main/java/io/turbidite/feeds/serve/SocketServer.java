package io.turbidite.feeds.serve;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.ChannelMatcher;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.turbidite.core.Undo;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.jdbc.HolderConversation;
import io.turbidite.ops.jdbc.HolderService;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

/**
 * Takes commands on a socket in a store's directory and runs each on a thread of its own.
 *
 * <p>The socket is made in a directory that only its owner can enter, given mode 0600, and moved to
 * its place, so that nobody else can connect at any moment. What lies there from a process that was
 * killed is replaced: whoever starts a server holds the store's lock.
 *
 * <p><em>Thread-safe.</em> Memory: a connection holds at most one incoming frame and {@link
 * ServeOptions#unsentBytesMax} of output.
 */
public final class SocketServer implements AutoCloseable {
    /** The socket's name in the store's directory. */
    public static final String SOCKET = "SOCKET";

    private static final String DRAFT_PREFIX = "socket-";
    private static final String DRAFT = "s";
    private static final Logger LOG = LoggerFactory.getLogger(SocketServer.class);
    private static final long CLOSE_SECONDS = 30;

    /** For clients to take the reason why they are let go. */
    private static final long FAREWELL_MILLIS = 1_000;

    /** How often a command that waits looks whether its client is still there. */
    private static final long LOOK_MILLIS = 50;

    private final Path socket;
    private final ServeOptions options;
    private final CommandHandler handler;
    private final @Nullable HolderService service;
    private final Clock clock;
    private volatile boolean closing;
    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("turbidite-serve", true), NioIoHandler.newFactory());
    private final ExecutorService commands = Executors.newThreadPerTaskExecutor(
            Thread.ofPlatform().daemon().name("turbidite-command-", 0).factory());

    /** Closes those too that were taken before, and begin after, it was told to close. */
    private final ChannelGroup connections =
            new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

    private final ChannelGroup listeners = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final AtomicInteger connectionCount = new AtomicInteger();
    private final AtomicInteger sessionCount = new AtomicInteger();

    /**
     * A command whose client has gone may take a moment to end: commands are counted on their own.
     */
    private final Semaphore admission;

    private final Connection.Runner runner = new Connection.Runner() {
        @Override
        public void run(CommandHandler.Request request, ClientOutput output) {
            execute(request, output);
        }

        @Override
        public IntConsumer talk(SessionInput input, ClientOutput output, Departure departure) {
            return converse(input, output, departure);
        }
    };

    private SocketServer(
            Path socket,
            ServeOptions options,
            CommandHandler handler,
            @Nullable HolderService service,
            Clock clock) {
        this.socket = socket;
        this.options = options;
        this.handler = handler;
        this.service = service;
        this.clock = clock;
        this.admission = new Semaphore(options.commandCountMax(), true);
    }

    /**
     * Starts to serve.
     *
     * @param directory of the store, whose lock the caller holds
     * @throws IOException if there can't be a socket
     */
    public static SocketServer start(
            Path directory, ServeOptions options, CommandHandler handler, Clock clock)
            throws IOException {
        return start(directory, options, handler, null, clock);
    }

    /**
     * As {@link #start(Path, ServeOptions, CommandHandler, Clock)}.
     *
     * @param service answers conversations of JDBC; null: they are refused
     */
    public static SocketServer start(
            Path directory,
            ServeOptions options,
            CommandHandler handler,
            @Nullable HolderService service,
            Clock clock)
            throws IOException {
        SocketServer server =
                new SocketServer(directory.resolve(SOCKET), options, handler, service, clock);
        try (Undo undo = Undo.of(server::close)) {
            server.bind(directory);
            return undo.keep(server);
        }
    }

    private void bind(Path directory) throws IOException {
        deleteDrafts(directory);
        Path draft = Files.createTempDirectory(directory, DRAFT_PREFIX);
        try (SocketPath path = SocketPath.of(draft, DRAFT)) {
            ServerBootstrap bootstrap = new ServerBootstrap()
                    .group(loop)
                    .channel(NioServerDomainSocketChannel.class)
                    .option(ChannelOption.SO_BACKLOG, 2 * options.connectionCountMax())
                    .childOption(
                            ChannelOption.WRITE_BUFFER_WATER_MARK,
                            new WriteBufferWaterMark(
                                    options.unsentBytesMax() / 2, options.unsentBytesMax()))
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            accept(channel);
                        }
                    });
            var bound = bootstrap.bind(path.address()).awaitUninterruptibly();
            if (!bound.isSuccess()) {
                throw new IOException("the socket could not be bound", bound.cause());
            }
            listeners.add(bound.channel());
            Files.setPosixFilePermissions(
                    draft.resolve(DRAFT), PosixFilePermissions.fromString("rw-------"));
            Files.move(
                    draft.resolve(DRAFT),
                    socket,
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        } finally {
            deleteDraft(draft);
        }
    }

    private void accept(Channel channel) {
        connections.add(channel);
        boolean admitted = connectionCount.incrementAndGet() <= options.connectionCountMax();
        channel.closeFuture().addListener(closed -> connectionCount.decrementAndGet());
        channel.pipeline()
                .addLast(new LengthFieldBasedFrameDecoder(
                        FrameLayout.LENGTH_BYTES + FrameLayout.LENGTH_MAX,
                        FrameLayout.LENGTH_OFFSET,
                        FrameLayout.LENGTH_BYTES,
                        0,
                        FrameLayout.LENGTH_BYTES))
                .addLast(new Connection(options, runner, admitted, clock));
    }

    /** Has a conversation on a thread of its own, unless there are as many as may be. */
    private IntConsumer converse(SessionInput input, ClientOutput output, Departure departure) {
        HolderService answering = service;
        if (answering == null) {
            output.refuse("the process that holds the store serves commands alone");
            return _ -> {};
        }
        if (sessionCount.incrementAndGet() > options.sessionCountMax()) {
            sessionCount.decrementAndGet();
            output.refuse(
                    "the process that holds the store is busy: %d connections of JDBC are open there; close one"
                            .formatted(options.sessionCountMax()));
            return _ -> {};
        }
        HolderConversation conversation =
                answering.conversation(new SessionClient(input, output, departure));
        commands.execute(() -> converse(conversation, output));
        return conversation::cancel;
    }

    private void converse(HolderConversation conversation, ClientOutput output) {
        try {
            conversation.run();
            sessionCount.decrementAndGet(); // before the client knows that it may connect again
            output.exit(0);
        } catch (IOException e) {
            sessionCount.decrementAndGet();
            LOG.info("a connection of JDBC of another process ends: {}", e.toString());
            output.refuse(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            sessionCount.decrementAndGet();
            LOG.warn("a connection of JDBC of another process failed", e);
            output.refuse("the connection failed in the process that holds the store: " + e);
        }
    }

    /** Runs a command on a thread of its own, as soon as no more run than may. */
    private void execute(CommandHandler.Request request, ClientOutput output) {
        commands.execute(() -> {
            if (admit(request, output)) {
                runAdmitted(request, output);
            }
        });
    }

    private void runAdmitted(CommandHandler.Request request, ClientOutput output) {
        try {
            int code = handler.run(request);
            admission.release(); // before the client knows that it may ask again
            output.exit(code);
        } catch (RuntimeException | Error e) {
            admission.release();
            LOG.warn("a command of another process failed: {}", request.arguments(), e);
            output.refuse("the command failed in the process that holds the store: " + e);
        }
    }

    /** Waits until it may run; false if the client has gone or was refused. */
    private boolean admit(CommandHandler.Request request, ClientOutput output) {
        long startNanos = clock.monotonicNanos();
        long waitNanos = TimeUnit.MILLISECONDS.toNanos(options.waitMillisMax());
        try {
            while (!admission.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                if (closing || request.departure().isGone()) {
                    return false;
                }
                if (clock.monotonicNanos() - startNanos >= waitNanos) {
                    output.refuse(
                            "the process that holds the store is busy: the command waited for %d ms behind %d others; try again"
                                    .formatted(options.waitMillisMax(), options.commandCountMax()));
                    return false;
                }
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false; // the server closes, and says so to all
        }
    }

    private static void deleteDrafts(Path directory) throws IOException {
        List<Path> left;
        try (Stream<Path> paths = Files.list(directory)) {
            left = paths.filter(path -> String.valueOf(path.getFileName()).startsWith(DRAFT_PREFIX))
                    .toList();
        }
        for (Path draft : left) {
            deleteDraft(draft);
        }
    }

    private static void deleteDraft(Path draft) throws IOException {
        Files.deleteIfExists(draft.resolve(DRAFT));
        Files.deleteIfExists(draft);
    }

    /** Connections that are open now. */
    public int connectionCount() {
        return connectionCount.get();
    }

    /** Conversations of JDBC that are open now. */
    public int sessionCount() {
        return sessionCount.get();
    }

    /**
     * Commands that run now, without those that wait, those of clients that have just gone
     * included.
     */
    public int runningCount() {
        return options.commandCountMax() - admission.availablePermits();
    }

    /** Stops commands that run, lets clients go, takes the socket away. */
    @Override
    public void close() {
        try {
            Files.deleteIfExists(socket);
        } catch (IOException left) {
            // the next server replaces it, and clients of it are refused by the system
        }
        closing = true;
        listeners.close().awaitUninterruptibly();
        letGo(SocketServer::isToGo);
        commands.shutdown();
        try {
            boolean ended = commands.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
            if (!ended) {
                commands.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        // those that ended have said how, and close by themselves
        var _ = connections.newCloseFuture().awaitUninterruptibly(FAREWELL_MILLIS);
        letGo(channel -> true);
        loop.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    private void letGo(ChannelMatcher which) {
        for (Channel connection : connections) {
            if (which.matches(connection)) {
                ClientOutput.refuse(
                        connection,
                        "the process that holds the store lets go of it, so that the command was ended; run it again");
            }
        }
        var _ = connections.newCloseFuture(which).awaitUninterruptibly(FAREWELL_MILLIS);
        connections.close(which).awaitUninterruptibly();
    }

    private static boolean isToGo(Channel channel) {
        Connection connection = channel.pipeline().get(Connection.class);
        return connection == null || connection.isToGo();
    }
}
