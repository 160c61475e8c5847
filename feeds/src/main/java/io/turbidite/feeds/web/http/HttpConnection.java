package io.turbidite.feeds.web.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One client: takes its requests one after the other and reads no further than it must. <em>All
 * state is confined to the loop</em>; other threads come in through {@link #onLoop}.
 *
 * <p>Steps of a request: its head is checked on the loop ({@link HttpServer#begin}) and given to a
 * thread; its body comes when that asks for it; then one message more is read, so that a client
 * that goes away is noticed; a next request that comes so waits for its turn.
 */
final class HttpConnection extends ChannelInboundHandlerAdapter {
    /** How long a client whose body nobody wants may take to see its answer. */
    private static final long FAREWELL_MILLIS = 1_000;

    /**
     * What a client must send of a body in the time that it is waited for, beyond the first
     * {@link HttpOptions#bodyMillisMax}: a byte now and then would hold a request for ever. A
     * modem of 14,400 bits a second brings 1,800.
     */
    private static final long BODY_BYTES_PER_SECOND_MIN = 1_000;

    private final HttpServer server;
    private final boolean admitted;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ScheduledFuture<?> headDeadline;

    /** The request at work. */
    private @Nullable Exchange exchange;

    /** The request behind it, which came before its answer was complete. */
    private @Nullable HttpRequest pipelined;

    private long bodyBytes;
    private long bodyBytesMax;
    private boolean isBodyWhole;

    /** Since when a piece of the body is waited for; not while the server itself is slow. */
    private long bodyAskedNanos;

    private boolean isBodyAsked;

    /** How long pieces of the body were waited for, together. */
    private long bodyWaitedNanos;

    /** The connection ends with this answer. */
    private boolean isLast;

    private boolean isPushing;

    /** The answer has been written; what comes still is dropped. */
    private boolean isDone;

    /** One message more was asked for and has not come. */
    private boolean isAsked;

    /**
     * What one read of the network brought and nobody asked for yet. Netty's FlowControlHandler
     * does the same, but since 4.2.15 it may not read on where a message was asked for: browsers'
     * connections and those with TLS stood still.
     */
    private final ArrayDeque<Object> unread = new ArrayDeque<>();

    private boolean isDelivering;

    /** Whether a client waits for leave to send its body. */
    private boolean awaitsContinue;

    /** The request at work has all that it needs to begin but the end of its empty body. */
    private boolean beginsAtEnd;

    HttpConnection(HttpServer server, boolean admitted) {
        this.server = server;
        this.admitted = admitted;
    }

    private ChannelHandlerContext ctx() {
        ChannelHandlerContext now = context;
        if (now == null) {
            throw new IllegalStateException("the connection is not open");
        }
        return now;
    }

    private void onLoop(Runnable step) {
        if (ctx().executor().inEventLoop()) {
            step.run();
        } else {
            ctx().executor().execute(step);
        }
    }

    /** What can't be sent ends the connection: the client sees that its answer is cut. */
    private void send(Object message) {
        ctx().writeAndFlush(message).addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
    }

    private void cut() {
        ChannelFuture _ = ctx().close();
    }

    boolean isWritable() {
        return ctx().channel().isWritable();
    }

    // ---- what the client does

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        if (ctx.channel().isActive()) {
            start();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        start();
    }

    private void start() {
        if (headDeadline != null || isDone) {
            return;
        }
        if (!admitted) {
            refuse(Problem.of(503, "the server has as many connections as it may")
                    .retry(1));
            return;
        }
        awaitHead();
    }

    private void awaitHead() {
        headDeadline = ctx().executor()
                .schedule(
                        this::headTooLate, server.options().headMillisMax(), TimeUnit.MILLISECONDS);
        ask();
    }

    /**
     * Reads one message more. Later, because one that waits already would come at once, and behind
     * it the next: a client that sends thousands in one packet would fill the stack.
     */
    private void ask() {
        if (!isAsked) {
            isAsked = true;
            ctx().executor().execute(this::deliver);
        }
    }

    /** Takes what waits as long as it is asked for; reads the network if nothing waits. */
    private void deliver() {
        if (isDelivering) {
            return;
        }
        isDelivering = true;
        try {
            while (isAsked && !unread.isEmpty()) {
                isAsked = false;
                take(unread.remove());
            }
        } finally {
            isDelivering = false;
        }
        if (isAsked && ctx().channel().isActive()) {
            ctx().read();
        }
    }

    /** Slow or silent: either way nobody is waited for for ever. */
    private void headTooLate() {
        refuse(Problem.of(
                408,
                "no whole request came within %d ms".formatted(server.options().headMillisMax())));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        unread.add(message);
        if (isAsked) {
            deliver();
        }
    }

    /** What was read may have been part of a message. */
    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        if (isAsked) {
            ctx.read();
        }
        ctx.fireChannelReadComplete();
    }

    private void take(Object message) {
        if (message instanceof HttpRequest request) {
            if (isDone) {
                ReferenceCountUtil.release(message);
            } else if (exchange != null) {
                pipelined = request;
            } else {
                head(request);
            }
        } else if (message instanceof HttpContent content) {
            body(content);
        } else {
            ReferenceCountUtil.release(message);
        }
    }

    private void head(HttpRequest request) {
        if (headDeadline != null) {
            headDeadline.cancel(false);
        }
        bodyBytes = 0;
        bodyWaitedNanos = 0;
        isBodyAsked = false;
        bodyBytesMax = server.options().bodyBytesMax();
        isBodyWhole = false;
        isLast = !HttpUtil.isKeepAlive(request) || server.isClosing();
        Throwable broken = request.decoderResult().cause();
        if (broken != null) {
            refuse(malformed(broken));
            return;
        }
        Target target;
        try {
            target = Target.of(request.uri());
        } catch (Problem wrong) {
            refuse(wrong);
            return;
        }
        awaitsContinue = HttpUtil.is100ContinueExpected(request);
        beginsAtEnd = !HttpUtil.isTransferEncodingChunked(request)
                && HttpUtil.getContentLength(request, 0L) == 0;
        RequestBody body =
                new RequestBody(() -> onLoop(this::askForBody), server.options().bodyMillisMax());
        exchange = new Exchange(this, request, target, body, server.options().writeMillisMax());
        if (beginsAtEnd) {
            ask();
        } else {
            begin(exchange);
        }
    }

    private void begin(Exchange begun) {
        beginsAtEnd = false;
        server.begin(begun, bytes -> bodyBytesMax = bytes);
    }

    private void askForBody() {
        if (awaitsContinue && exchange != null) {
            awaitsContinue = false;
            send(new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
        }
        awaitBody();
    }

    private void awaitBody() {
        if (!isBodyAsked) {
            isBodyAsked = true;
            bodyAskedNanos = nanos();
        }
        ask();
    }

    private long nanos() {
        return ctx().executor().ticker().nanoTime();
    }

    private static Problem malformed(Throwable broken) {
        return switch (broken) {
            case TooLongHttpLineException e -> Problem.of(414, "the first line is too long");
            case TooLongHttpHeaderException e -> Problem.of(431, "the headers are too long");
            default -> Problem.of(400, "this is no request of HTTP/1.1");
        };
    }

    private void body(HttpContent content) {
        boolean last = content instanceof LastHttpContent;
        Exchange now = exchange;
        if (isDone || now == null) {
            content.release();
            if (last) {
                cut();
            } else {
                ask();
            }
            return;
        }
        Problem wrong = check(content);
        if (wrong != null) {
            content.release();
            isLast = true;
            now.requestBody().fail(wrong);
            return;
        }
        isBodyWhole = last;
        boolean wantsMore = now.requestBody().put(content.content(), last);
        if (beginsAtEnd) {
            begin(now);
        }
        if (last) {
            ask(); // the next request, or that the client goes away
        } else if (wantsMore) {
            awaitBody();
        }
    }

    private @Nullable Problem check(HttpContent content) {
        if (content.decoderResult().isFailure()) {
            return Problem.of(400, "the body is no body of HTTP/1.1");
        }
        int bytes = content.content().readableBytes();
        bodyBytes += bytes;
        server.countIn(bytes);
        if (bodyBytes > bodyBytesMax) {
            return tooLarge(bodyBytesMax);
        }
        if (isBodyAsked) {
            isBodyAsked = false;
            bodyWaitedNanos += nanos() - bodyAskedNanos;
        }
        return isTooSlow() ? tooSlow() : null;
    }

    private boolean isTooSlow() {
        long millis =
                server.options().bodyMillisMax() + bodyBytes * 1_000 / BODY_BYTES_PER_SECOND_MIN;
        return TimeUnit.NANOSECONDS.toMillis(bodyWaitedNanos) > millis;
    }

    private Problem tooSlow() {
        return Problem.of(
                408,
                "the body brought %d bytes in %d ms, which is less than %d a second after the first %d ms"
                        .formatted(
                                bodyBytes,
                                TimeUnit.NANOSECONDS.toMillis(bodyWaitedNanos),
                                BODY_BYTES_PER_SECOND_MIN,
                                server.options().bodyMillisMax()));
    }

    static Problem tooLarge(long bytesMax) {
        return Problem.of(
                        413,
                        "the body is longer than the %d bytes that are taken".formatted(bytesMax))
                .advise("send it in several requests");
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (exchange != null) {
            exchange.writable();
        }
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        unread.forEach(ReferenceCountUtil::release);
        unread.clear();
        if (headDeadline != null) {
            headDeadline.cancel(false);
        }
        Exchange now = exchange;
        exchange = null;
        if (isPushing) {
            isPushing = false;
            server.releasePush();
        }
        if (now != null) {
            now.leave();
        }
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        cut(); // of the network, or a client's TLS: there is nobody to tell
    }

    // ---- what the server does

    /** Says why, and lets the client go. */
    private void refuse(Problem problem) {
        isLast = true;
        isDone = true;
        byte[] bytes = Exchange.textOf(problem, null);
        server.noteRefused(problem.code());
        DefaultFullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(problem.code()),
                Unpooled.wrappedBuffer(bytes));
        headers(response, "application/problem+json", bytes.length);
        if (problem.retrySeconds() > 0) {
            response.headers().set(HttpHeaderNames.RETRY_AFTER, problem.retrySeconds());
        }
        ctx().writeAndFlush(response).addListener(written -> farewell());
    }

    /** A client that still sends would not see its answer if its connection were cut. */
    private void farewell() {
        if (isBodyWhole || !ctx().channel().isActive()) {
            cut();
            return;
        }
        ScheduledFuture<?> _ =
                ctx().executor().schedule(this::cut, FAREWELL_MILLIS, TimeUnit.MILLISECONDS);
        ask();
    }

    private void headers(HttpResponse response, String type, long length) {
        HttpHeaders headers = response.headers();
        headers.set(HttpHeaderNames.CONTENT_TYPE, type);
        headers.set("Content-Security-Policy", HttpServer.CONTENT_POLICY);
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("Referrer-Policy", "no-referrer");
        headers.set("Cross-Origin-Resource-Policy", "same-origin");
        headers.set(HttpHeaderNames.CACHE_CONTROL, "no-store");
        if (length >= 0) {
            headers.set(HttpHeaderNames.CONTENT_LENGTH, length);
        }
        if (isLast) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
    }

    void answer(Exchange of, int code, String type, ByteBuf bytes, Map<String, String> more) {
        onLoop(() -> {
            if (of != exchange) {
                bytes.release(); // the client has gone
                return;
            }
            isLast |= !isBodyWhole;
            boolean isHead = of.head().method().equals(HttpMethod.HEAD);
            long length = bytes.readableBytes();
            DefaultFullHttpResponse response = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1,
                    HttpResponseStatus.valueOf(code),
                    isHead ? Unpooled.EMPTY_BUFFER : bytes);
            headers(response, type, code == 304 ? -1 : length);
            more.forEach(response.headers()::set);
            if (isHead) {
                bytes.release();
            }
            server.note(of, code, length);
            send(response);
            finish();
        });
    }

    void beginStream(Exchange of, int code, String type) {
        onLoop(() -> {
            if (of != exchange) {
                return;
            }
            boolean isOld = of.head().protocolVersion().equals(HttpVersion.HTTP_1_0);
            isLast |= isOld || !isBodyWhole;
            HttpResponse response =
                    new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(code));
            headers(response, type, -1);
            HttpUtil.setTransferEncodingChunked(response, !isOld);
            server.note(of, code, 0);
            send(response);
            if (of.head().method().equals(HttpMethod.HEAD)) {
                isLast = true; // the end of a stream can't be told without one
                finish();
                of.leave();
            }
        });
    }

    void write(Exchange of, ByteBuf piece) {
        onLoop(() -> {
            if (of != exchange) {
                piece.release();
                return;
            }
            server.countOut(piece.readableBytes());
            send(new DefaultHttpContent(piece));
        });
    }

    void endStream(Exchange of) {
        onLoop(() -> {
            if (of == exchange) {
                send(LastHttpContent.EMPTY_LAST_CONTENT);
                finish();
            }
        });
    }

    void abort() {
        onLoop(this::cut);
    }

    void reservePush() {
        if (!server.reservePush()) {
            throw Problem.of(429, "the server has as many event streams as it may")
                    .retry(5);
        }
        onLoop(() -> {
            if (exchange == null || isPushing) {
                server.releasePush();
            } else {
                isPushing = true;
            }
        });
    }

    /** The answer is written: goes on with the next request, or lets the client go. */
    private void finish() {
        Exchange done = exchange;
        if (done == null) {
            return;
        }
        done.requestBody().close();
        if (isPushing) {
            isPushing = false;
            server.releasePush();
        }
        exchange = null;
        if (isLast || server.isClosing()) {
            isDone = true;
            ctx().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> farewell());
            return;
        }
        HttpRequest waiting = pipelined;
        pipelined = null;
        if (waiting != null) {
            head(waiting);
        } else {
            awaitHead();
        }
    }

    /** For the server's end, on the loop: lets a client go that asks for nothing now. */
    void closeIfIdle() {
        isLast = true;
        if (exchange == null || isPushing) {
            cut();
        }
    }

    static String reason(int code) {
        return HttpResponseStatus.valueOf(code).reasonPhrase();
    }
}
