package io.turbidite.feeds.web.tcp;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedDefinition.FormatPart;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.source.parcel.TcpKind;
import io.turbidite.feeds.web.http.Admission;
import io.turbidite.feeds.web.http.BoundFamily;
import io.turbidite.feeds.web.http.Doorkeeper;
import io.turbidite.feeds.web.http.HttpServer;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.http.SpareBytes;
import io.turbidite.feeds.web.http.TlsFiles;
import io.turbidite.feeds.web.tcp.Sending.Producer;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Listens for lines at the doors of some feeds. Close it before their managers.
 * <em>Thread-safe.</em>
 */
public final class TcpServer implements AutoCloseable {
    /** For the connections, and again for their threads: HTTP and the stores come behind. */
    private static final long CLOSE_MILLIS = 500;

    private static final int READ_BYTES_MAX = 64 << 10;
    private static final int READS_MAX = 4;

    /** Of acknowledgements that wait for a slow client: beyond it only the last one is told. */
    private static final int UNSENT_BYTES_MAX = 32 << 10;

    private final Parts parts;
    private final EventLoopGroup loop;
    private final Executor reader =
            task -> Thread.ofPlatform().daemon().name("turbidite-tcp-files").start(task);

    /** Closes those too that a listener had taken before it was closed, and a loop begins after. */
    private final ChannelGroup connections =
            new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

    private final ChannelGroup listeners = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Map<String, InetSocketAddress> addresses = new LinkedHashMap<>();
    private final Admission admission;
    private final AtomicLong heldBytes = new AtomicLong();
    private final SpareBytes spare = new SpareBytes();
    private final Counter refused;

    /**
     * What a server is made of.
     *
     * @param managers of the feeds, by the name of their store
     * @param tls null: without
     */
    public record Parts(
            TcpOptions options,
            Map<String, FeedManager> managers,
            Doorkeeper doorkeeper,
            @Nullable TlsFiles tls,
            Meters meters) {
        public Parts {
            managers = new LinkedHashMap<>(managers);
        }
    }

    TcpServer(Parts parts, EventLoopGroup loop) {
        this.parts = parts;
        this.loop = loop;
        this.admission = new Admission(
                parts.options().connectionCountMax(),
                parts.options().connectionsPerPeerMax(),
                Problem.of(429, "there are as many connections as may be").retry(1));
        this.refused = parts.meters().counter("tcp.refused");
        parts.meters().bound("tcp.connections", parts.options().connectionCountMax());
        parts.meters().bound("tcp.bytes.held", parts.options().heldBytesMax());
        parts.meters().gauge("tcp.connections", admission::admittedCount);
        parts.meters().gauge("tcp.bytes.held", heldBytes::get);
    }

    /**
     * Starts to listen.
     *
     * @throws InvalidRequestException if there is no feed of a door's name, or it has another
     *     source
     * @throws IOException naming the address that can't be listened at
     */
    public static TcpServer start(Parts parts, List<TcpDoor> doors) throws IOException {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(
                2, new DefaultThreadFactory("turbidite-tcp", true), NioIoHandler.newFactory());
        TcpServer server = new TcpServer(parts, loop);
        try (Undo undo = Undo.of(server::close)) {
            for (TcpDoor door : doors) {
                try {
                    var _ = server.find(door.feed());
                } catch (Problem problem) {
                    throw new InvalidRequestException(
                            "--tcp %s: %s".formatted(door.feed(), problem.detail()), problem);
                }
                server.bind(door);
            }
            return undo.keep(server);
        }
    }

    private void bind(TcpDoor door) throws IOException {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loop)
                .channelFactory(BoundFamily.of(door.at()))
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(
                        ChannelOption.RECVBUF_ALLOCATOR,
                        new AdaptiveRecvByteBufAllocator(1 << 10, 4 << 10, READ_BYTES_MAX)
                                .maxMessagesPerRead(READS_MAX))
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(UNSENT_BYTES_MAX / 2, UNSENT_BYTES_MAX))
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        accept(channel, door);
                    }
                });
        var bound = bootstrap.bind(door.at()).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "%s can't be listened at: %s"
                            .formatted(
                                    HttpServer.textOf(door.at()),
                                    String.valueOf(bound.cause().getMessage())),
                    bound.cause());
        }
        listeners.add(bound.channel());
        addresses.put(door.feed(), (InetSocketAddress) bound.channel().localAddress());
    }

    /** Where it listens, with the ports that it got, by the feed's name. */
    public Map<String, InetSocketAddress> addresses() {
        return new LinkedHashMap<>(addresses);
    }

    void accept(Channel channel, TcpDoor door) {
        Problem refusal = admission.enter(channel);
        if (refusal != null && !admission.tellsRefused(parts.tls() != null)) {
            countRefused();
            var _ = channel.close();
            return;
        }
        connections.add(channel);
        if (parts.tls() != null) {
            channel.pipeline().addLast(parts.tls().context(reader).newHandler(channel.alloc()));
        }
        channel.pipeline().addLast(new Unpacker()).addLast(new TcpConnection(this, door, refusal));
    }

    /** Of all connections. */
    SpareBytes spare() {
        return spare;
    }

    TcpOptions options() {
        return parts.options();
    }

    /** Connections that are open now. */
    public int connectionCount() {
        return admission.admittedCount();
    }

    /**
     * Counts bytes that a connection holds.
     *
     * @return whether all together hold no more than they may
     */
    boolean hold(long byteCount) {
        return heldBytes.addAndGet(byteCount) <= parts.options().heldBytesMax();
    }

    /** Whether all together hold as much as they may. */
    boolean isFull() {
        return heldBytes.get() >= parts.options().heldBytesMax();
    }

    void countRefused() {
        refused.increment();
    }

    // ---- who comes in

    /** A feed and the store that it is of. */
    private record Found(String store, FeedManager manager, FeedDefinition definition) {}

    private Found find(String feed) {
        Found found = null;
        for (Map.Entry<String, FeedManager> one : parts.managers().entrySet()) {
            if (one.getValue().list().stream().noneMatch(status -> status.name().equals(feed))) {
                continue;
            }
            if (found != null) {
                throw Problem.of(
                        409,
                        "the stores %s and %s have a feed of this name"
                                .formatted(found.store(), one.getKey()));
            }
            FeedDefinition definition = one.getValue().definition(feed);
            if (definition == null) {
                throw Problem.of(409, "the definition of the feed is wrong");
            }
            found = new Found(one.getKey(), one.getValue(), definition);
        }
        if (found == null) {
            throw Problem.of(404, "there is no such feed");
        }
        String kind = found.definition().source().kind();
        if (!kind.equals(TcpKind.NAME)) {
            throw Problem.of(
                    409, "the feed has the source %s, and takes no lines by TCP".formatted(kind));
        }
        return found;
    }

    /**
     * Lets a client in.
     *
     * @param first null if it sent none
     * @param settled is run when a parcel of it is, by any thread
     * @throws Problem saying why not
     */
    Sending open(TcpDoor door, @Nullable FirstLine first, Runnable settled) {
        String token = first == null ? null : first.token();
        Doorkeeper.Caller caller =
                parts.doorkeeper().admit(token == null ? null : "Bearer " + token);
        if (token == null && !door.anybody()) {
            throw Problem.of(401, "the first line must have a token: {\"token\":\"…\"}");
        }
        Found found = find(door.feed());
        if (token != null
                && !(caller.may(Right.WRITE, "feed", door.feed())
                        && caller.may(Right.WRITE, "store", found.store()))) {
            throw Problem.of(403, "the token does not allow to write to this feed");
        }
        boolean hasHeader = found.definition().format() instanceof FormatPart.Csv(var format)
                && format.header();
        return new Sending(
                found.manager(),
                door.feed(),
                hasHeader,
                start(found.manager(), door.feed(), caller, first, settled),
                options().retryMillisMax(),
                spare);
    }

    private static Sending.Start start(
            FeedManager manager,
            String feed,
            Doorkeeper.Caller caller,
            @Nullable FirstLine first,
            Runnable settled) {
        String name = first == null ? null : first.producer();
        if (first == null || name == null) {
            return new Sending.Start(null, 0, null, settled);
        }
        Producer producer =
                new Producer(caller.name().replace("%", "%25").replace("/", "%2F"), name);
        if (first.sequence() > 0) {
            return new Sending.Start(producer, first.sequence(), null, settled);
        }
        long taken = manager.durableTo(feed, producer.owner(), name);
        if (taken < 0) {
            throw Problem.of(503, "the feed does not read now").retry(1);
        }
        return new Sending.Start(producer, taken + 1, taken, settled);
    }

    /** Listens no more, and lets its clients go; what they sent and is not durable is not told. */
    @Override
    public void close() {
        listeners.close().awaitUninterruptibly(CLOSE_MILLIS);
        connections.close().awaitUninterruptibly(CLOSE_MILLIS);
        loop.shutdownGracefully(0, CLOSE_MILLIS, TimeUnit.MILLISECONDS)
                .awaitUninterruptibly(CLOSE_MILLIS);
    }
}
