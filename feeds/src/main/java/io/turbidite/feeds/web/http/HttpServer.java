package io.turbidite.feeds.web.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.turbidite.core.StorageException;
import io.turbidite.core.Undo;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Takes requests of HTTP/1.1, checks them, and runs each on a thread of its own.
 *
 * <p>What is checked before anything is done: {@code Host} must be a name of this server, {@code
 * Origin} its own, a route there, a token one that may, a length one that is taken.
 *
 * <p><em>Thread-safe.</em> Memory: a connection holds at most one read of the network, {@link
 * RequestBody#WAITING_BYTES_MAX} and a piece of a body, and {@link HttpOptions#unsentBytesMax} and
 * a piece of an answer.
 */
public final class HttpServer implements AutoCloseable {
    /** What pages from here may do: nothing beyond their own origin. */
    static final String CONTENT_POLICY =
            "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

    private static final Logger LOG = LoggerFactory.getLogger(HttpServer.class);
    private static final int PIECE_BYTES_MAX = 64 << 10;

    /** So long requests that are at work may go on when the server ends. */
    private static final long CLOSE_WORK_MILLIS = 4_000;

    /** So long its end takes at most, whatever hangs: the stores are to be closed behind it. */
    private static final long CLOSE_MILLIS = 5_000;

    /** Of that for the connections and their threads. */
    private static final long CLOSE_LOOP_MILLIS = 500;

    private static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "DELETE");

    private final HttpOptions options;
    private final List<Route> routes;
    private final Route.Action otherwise;
    private final Doorkeeper doorkeeper;
    private final HttpMeters meters;
    private final Clock clock;
    private final HostNames hosts;
    private final @Nullable TlsFiles tls;
    private final EventLoopGroup loop;
    private final ExecutorService requests = Executors.newThreadPerTaskExecutor(
            Thread.ofPlatform().daemon().name("turbidite-request-", 0).factory());

    /** Closes those too that a listener had taken before it was closed, and a loop begins after. */
    private final ChannelGroup connections =
            new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

    private final ChannelGroup listeners = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Admission doorway;
    private final Semaphore admission;
    private final Semaphore pushes;
    private volatile boolean closing;

    /**
     * What a server is made of.
     *
     * @param routes the first that fits is taken
     * @param otherwise answers {@code GET}s that no route fits
     * @param hostNames further names of the server, for {@code Host}
     * @param tls null: without
     */
    public record Parts(
            HttpOptions options,
            List<Route> routes,
            Route.Action otherwise,
            Doorkeeper doorkeeper,
            Collection<String> hostNames,
            @Nullable TlsFiles tls,
            Meters meters,
            Clock clock) {}

    HttpServer(Parts parts, Collection<InetSocketAddress> listens, EventLoopGroup loop) {
        this.options = parts.options();
        this.routes = List.copyOf(parts.routes());
        this.otherwise = parts.otherwise();
        this.doorkeeper = parts.doorkeeper();
        this.loop = loop;
        this.tls = parts.tls();
        this.clock = parts.clock();
        this.doorway = new Admission(
                options.connectionCountMax(),
                options.connectionsPerPeerMax(),
                Problem.of(503, "the server has as many connections as it may").retry(1));
        this.admission = new Semaphore(options.requestCountMax());
        this.pushes = new Semaphore(options.streamCountMax());
        this.meters = new HttpMeters(parts.meters(), parts.clock(), this);
        parts.meters().bound("http.connections", parts.options().connectionCountMax());
        parts.meters().bound("http.requests", parts.options().requestCountMax());
        parts.meters().bound("http.streams", parts.options().streamCountMax());
        this.hosts = new HostNames(
                listens.stream().map(InetSocketAddress::getHostString).toList(),
                parts.hostNames(),
                listens.stream()
                        .anyMatch(at ->
                                at.getAddress() != null && at.getAddress().isAnyLocalAddress()));
    }

    /**
     * Starts to listen.
     *
     * @param listens addresses; port 0 means any that is free
     * @throws IOException naming the address that can't be listened at
     */
    public static HttpServer start(Parts parts, List<InetSocketAddress> listens)
            throws IOException {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(
                2, new DefaultThreadFactory("turbidite-http", true), NioIoHandler.newFactory());
        HttpServer server = new HttpServer(parts, listens, loop);
        try (Undo undo = Undo.of(server::close)) {
            for (InetSocketAddress at : listens) {
                server.bind(at);
            }
            return undo.keep(server);
        }
    }

    private void bind(InetSocketAddress at) throws IOException {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loop)
                .channelFactory(BoundFamily.of(at))
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
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
        var bound = bootstrap.bind(at).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "%s can't be listened at: %s"
                            .formatted(textOf(at), String.valueOf(bound.cause().getMessage())),
                    bound.cause());
        }
        listeners.add(bound.channel());
    }

    /** An address as a browser takes it. */
    public static String textOf(InetSocketAddress at) {
        String host = at.getHostString();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + at.getPort();
    }

    /** Where it listens, with the ports that it got. */
    public List<InetSocketAddress> addresses() {
        List<InetSocketAddress> addresses = new ArrayList<>();
        listeners.forEach(channel -> addresses.add((InetSocketAddress) channel.localAddress()));
        return addresses;
    }

    void accept(Channel channel) {
        Problem refusal = doorway.enter(channel);
        if (refusal != null && !doorway.tellsRefused(tls != null)) {
            noteRefused(refusal.code());
            var _ = channel.close();
            return;
        }
        connections.add(channel);
        if (tls != null) {
            channel.pipeline().addLast(tls.context(requests).newHandler(channel.alloc()));
        }
        channel.pipeline()
                .addLast(new StrictDecoder(options))
                .addLast(new HttpResponseEncoder())
                .addLast(new HttpConnection(this, refusal));
    }

    /** Refuses a request of two lengths, which proxies and servers read differently. */
    private static final class StrictDecoder extends HttpRequestDecoder {
        StrictDecoder(HttpOptions options) {
            super(new HttpDecoderConfig()
                    .setMaxInitialLineLength(options.headBytesMax())
                    .setMaxHeaderSize(options.headBytesMax())
                    .setMaxChunkSize(PIECE_BYTES_MAX));
        }

        @Override
        protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
            throw new IllegalArgumentException("a request has one length");
        }
    }

    HttpOptions options() {
        return options;
    }

    boolean isClosing() {
        return closing;
    }

    /** Connections that are open now. */
    public int connectionCount() {
        return doorway.admittedCount();
    }

    /** Requests that are at work now. */
    public int requestCount() {
        return options.requestCountMax() - admission.availablePermits();
    }

    /** Event streams that are open now. */
    public int streamCount() {
        return options.streamCountMax() - pushes.availablePermits();
    }

    boolean reservePush() {
        return pushes.tryAcquire();
    }

    void releasePush() {
        pushes.release();
    }

    // ---- a request, on the loop

    /**
     * Checks a request and has it done.
     *
     * @param bodyBytesMax is told how long a body may be, if otherwise than the options say
     */
    void begin(Exchange exchange, LongConsumer bodyBytesMax) {
        meters.begin(exchange);
        try {
            check(exchange.head());
            Route route = routeOf(exchange);
            exchange.matched(route.template());
            Doorkeeper.Caller caller =
                    doorkeeper.admit(exchange.header(HttpHeaderNames.AUTHORIZATION.toString()));
            exchange.calledBy(caller);
            checkRight(exchange, route);
            route.checkParameters(exchange.parameterNames());
            long bytesMax =
                    route.bodyBytesMax() < 0 ? options.bodyBytesMax() : route.bodyBytesMax();
            bodyBytesMax.accept(bytesMax);
            if (HttpUtil.getContentLength(exchange.head(), 0L) > bytesMax) {
                throw BodyBounds.tooLarge(bytesMax);
            }
            if (route.isLight()) {
                run(route, exchange);
            } else {
                dispatch(route, exchange);
            }
        } catch (Problem problem) {
            exchange.answer(problem);
        }
    }

    private void check(HttpRequest head) {
        HttpVersion version = head.protocolVersion();
        if (!version.equals(HttpVersion.HTTP_1_1) && !version.equals(HttpVersion.HTTP_1_0)) {
            throw Problem.of(505, "this server speaks HTTP/1.1");
        }
        if (!METHODS.contains(head.method().name())) {
            throw Problem.of(501, "this server knows the methods " + new TreeSet<>(METHODS));
        }
        HttpHeaders headers = head.headers();
        List<String> named = headers.getAll(HttpHeaderNames.HOST);
        if (named.size() != 1 || !hosts.has(named.getFirst())) {
            throw Problem.of(421, "the header Host does not name this server")
                    .advise("start it with --host-name NAME for each further name that it has");
        }
        List<String> origins = headers.getAll(HttpHeaderNames.ORIGIN);
        if (!origins.isEmpty()
                && (origins.size() > 1 || !isOwn(origins.getFirst(), named.getFirst()))) {
            throw Problem.of(403, "a page of another site may ask nothing here");
        }
        String site = headers.get("Sec-Fetch-Site");
        boolean navigates = "navigate".equals(headers.get("Sec-Fetch-Mode"))
                && head.method().name().equals("GET");
        if (site != null && site.equals("cross-site") && !navigates) {
            throw Problem.of(403, "a page of another site may ask nothing here");
        }
        String expected = headers.get(HttpHeaderNames.EXPECT);
        if (expected != null && !expected.equalsIgnoreCase("100-continue")) {
            throw Problem.of(417, "this server meets no expectation but 100-continue");
        }
    }

    private static boolean isOwn(String origin, String host) {
        String text = origin.toLowerCase(Locale.ROOT);
        String own = host.toLowerCase(Locale.ROOT);
        return text.equals("http://" + own) || text.equals("https://" + own);
    }

    private Route routeOf(Exchange exchange) {
        String method = exchange.method().equals("HEAD") ? "GET" : exchange.method();
        Set<String> others = new TreeSet<>();
        for (Route route : routes) {
            Map<String, String> names = new LinkedHashMap<>();
            if (route.matches(exchange.segments(), names)) {
                if (route.method().equals(method)) {
                    exchange.names().putAll(names);
                    return route;
                }
                others.add(route.method());
            }
        }
        if (!others.isEmpty()) {
            throw Problem.of(
                            405,
                            "%s is no method of %s".formatted(exchange.method(), exchange.path()))
                    .advise("it takes " + String.join(", ", others));
        }
        if (!method.equals("GET")) {
            throw Problem.of(404, "there is no " + exchange.path());
        }
        return Route.light("GET", "/", Right.NONE, otherwise).withAnyParameters();
    }

    private static void checkRight(Exchange exchange, Route route) {
        if (route.right() == Right.NONE) {
            return;
        }
        for (String kind : List.of("store", "feed")) {
            String name = exchange.names().get(kind);
            if (name != null) {
                exchange.require(route.right(), kind, name);
                return;
            }
        }
        exchange.require(route.right(), "", "");
    }

    private void dispatch(Route route, Exchange exchange) {
        if (closing) {
            throw Problem.of(503, "the server is ending").retry(5);
        }
        if (!admission.tryAcquire()) {
            throw Problem.of(
                            429,
                            "%d requests are at work, as many as may be"
                                    .formatted(options.requestCountMax()))
                    .retry(1);
        }
        boolean started = false;
        try {
            requests.execute(() -> {
                try {
                    run(route, exchange);
                } finally {
                    admission.release();
                }
            });
            started = true;
        } finally {
            if (!started) {
                admission.release();
            }
        }
    }

    /** Does what the request asks; what goes wrong becomes its answer, or cuts it. */
    private static void run(Route route, Exchange exchange) {
        try {
            route.action().run(exchange);
            if (!exchange.isAnswered()) {
                throw new IllegalStateException("no answer to " + route.template());
            }
        } catch (Problem problem) {
            fail(exchange, problem);
        } catch (StorageException e) {
            fail(exchange, Problems.of(e));
        } catch (Exception | Error e) { // whatever it is, its client gets an answer
            if (!exchange.isGone()) {
                LOG.warn("{} {} failed", exchange.method(), route.template(), e);
            }
            fail(exchange, Problem.of(500, "internal error: " + e.getClass().getSimpleName()));
        }
    }

    private static void fail(Exchange exchange, Problem problem) {
        if (exchange.isAnswered()) {
            exchange.abort();
        } else {
            exchange.answer(problem);
        }
    }

    // ---- what is counted

    void note(Exchange exchange, int code, long bytes) {
        meters.end(exchange, code);
        meters.countOut(bytes);
    }

    void noteBroken(Throwable cause) {
        meters.broken(cause);
    }

    void noteRefused(int code) {
        meters.refused(code);
    }

    void countIn(long bytes) {
        meters.countIn(bytes);
    }

    void countOut(long bytes) {
        meters.countOut(bytes);
    }

    /**
     * Listens no more; lets those go that ask for nothing; ends when the others have theirs, or in
     * 5 seconds: the connections are cut of those that are at work for 4 seconds more.
     */
    @Override
    public void close() {
        closing = true;
        long endNanos = clock.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
        listeners.close().awaitUninterruptibly(millisTo(endNanos));
        for (Channel channel : connections) {
            HttpConnection connection = channel.pipeline().get(HttpConnection.class);
            if (connection != null) {
                // behind what opens it: a client that has just come is in the pipeline, not yet
                // open
                channel.eventLoop().execute(connection::closeIfIdle);
            }
        }
        requests.shutdown();
        if (!endRequests(Math.min(CLOSE_WORK_MILLIS, millisTo(endNanos)))) {
            connections.close().awaitUninterruptibly(millisTo(endNanos)); // requests are told
            if (!endRequests(millisTo(endNanos) - CLOSE_LOOP_MILLIS)) {
                LOG.warn("{} requests have not ended", requestCount());
                requests.shutdownNow();
            }
        }
        connections.close().awaitUninterruptibly(millisTo(endNanos));
        long leftMillis = millisTo(endNanos);
        loop.shutdownGracefully(0, leftMillis, TimeUnit.MILLISECONDS)
                .awaitUninterruptibly(leftMillis);
    }

    private boolean endRequests(long millisMax) {
        try {
            return requests.awaitTermination(millisMax, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private long millisTo(long nanos) {
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(nanos - clock.monotonicNanos()));
    }
}
