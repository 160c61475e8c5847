package io.turbidite.feeds.web.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
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
     * How soon a client that sends no more is sent something, to see whether it has gone; each time
     * twice as late, up to {@link #PROBE_MILLIS_MAX}. One that has gone answers the first of them
     * by a reset, which the second one meets.
     */
    private static final long PROBE_MILLIS = 50;

    private static final long PROBE_MILLIS_MAX = 5_000;

    private final HttpServer server;

    /** Why it is one connection too many. */
    private final @Nullable Problem refusal;

    private @Nullable ChannelHandlerContext context;
    private @Nullable ScheduledFuture<?> headDeadline;

    /** The request at work. */
    private @Nullable Exchange exchange;

    /** The request behind it, which came before its answer was complete. */
    private @Nullable HttpRequest pipelined;

    private BodyBounds bounds;
    private boolean isBodyWhole;

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

    /** The answer comes in pieces, the first of which was sent. */
    private boolean isStreaming;

    /** The client sends no more; it may still wait for answers. */
    private boolean inputEnded;

    /** All is written, and what comes is passed over for a while. */
    private boolean isLeaving;

    /** The request whose client is looked after so. */
    private @Nullable Exchange probed;

    private long probeMillis = PROBE_MILLIS;

    HttpConnection(HttpServer server, @Nullable Problem refusal) {
        this.server = server;
        this.refusal = refusal;
        this.bounds = new BodyBounds(server.options());
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
        if (refusal != null) {
            refuse(refusal);
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
        if (!isAsked || inputEnded) {
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
        if (isAsked && inputEnded) {
            endInput();
        } else if (isAsked && ctx().channel().isActive()) {
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
        if (isAsked && !inputEnded) {
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
        bounds = new BodyBounds(server.options());
        isBodyWhole = false;
        isLast = !HttpUtil.isKeepAlive(request) || server.isClosing();
        Throwable broken = request.decoderResult().cause();
        if (broken != null) {
            refuse(Problems.malformed(broken));
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
        exchange = new Exchange(this, request, target, body, server.options());
        if (beginsAtEnd) {
            ask();
        } else {
            begin(exchange);
        }
    }

    private void begin(Exchange begun) {
        beginsAtEnd = false;
        server.begin(begun, bounds::takeUpTo);
    }

    private void askForBody() {
        if (awaitsContinue && exchange != null) {
            awaitsContinue = false;
            sendContinue();
        }
        awaitBody();
    }

    private void awaitBody() {
        bounds.ask(nanos());
        ask();
    }

    private long nanos() {
        return ctx().executor().ticker().nanoTime();
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
        server.countIn(bytes);
        return bounds.add(bytes, nanos());
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (exchange != null) {
            exchange.writable();
        }
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inputEnded = true;
            endInput();
        }
        ctx.fireUserEventTriggered(event);
    }

    /**
     * The client sends no more. It gets the answers to what it has sent whole; half a request is
     * none. Who leaves while an answer streams is let go at once, as it reads no more either.
     */
    private void endInput() {
        if (!unread.isEmpty()) {
            return; // it is taken first
        }
        Exchange now = exchange;
        if (isLeaving) {
            cut();
        } else if (isDone) {
            return; // the last answer is being written
        } else if (now == null) {
            leaveWhenWritten();
        } else if (!isBodyWhole || isStreaming || isOld(now)) {
            cut();
        } else if (probed != now) {
            probed = now;
            probe(now);
        }
    }

    /** Whether it is of HTTP/1.0, which knows nothing that could be sent before the answer. */
    private static boolean isOld(Exchange of) {
        return of.head().protocolVersion().equals(HttpVersion.HTTP_1_0);
    }

    /**
     * Whether a client that sends no more has gone shows only where something is sent to it. That
     * is what every client passes over; if it has gone its request is ended.
     */
    private void probe(Exchange of) {
        if (of != exchange || isStreaming) {
            return;
        }
        sendContinue();
        ScheduledFuture<?> _ =
                ctx().executor().schedule(() -> probe(of), probeMillis, TimeUnit.MILLISECONDS);
        probeMillis = Math.min(2 * probeMillis, PROBE_MILLIS_MAX);
    }

    private void sendContinue() {
        send(new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
    }

    /** Nothing more is asked; what was answered may still be on its way. */
    private void leaveWhenWritten() {
        isDone = true;
        ChannelFuture written = ctx().writeAndFlush(Unpooled.EMPTY_BUFFER);
        written.addListener(ChannelFutureListener.CLOSE);
        if (!written.isDone()) {
            ScheduledFuture<?> _ = ctx().executor()
                    .schedule(this::cut, server.options().writeMillisMax(), TimeUnit.MILLISECONDS);
        }
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
        server.noteBroken(cause);
        cut(); // there is nobody to tell
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
        AnswerHeaders.set(response, "application/problem+json", bytes.length, true);
        if (problem.retrySeconds() > 0) {
            response.headers().set(HttpHeaderNames.RETRY_AFTER, problem.retrySeconds());
        }
        ctx().writeAndFlush(response).addListener(written -> farewell());
    }

    /** A client that still sends would not see its answer if its connection were cut. */
    private void farewell() {
        if (isBodyWhole || inputEnded || !ctx().channel().isActive()) {
            cut();
            return;
        }
        isLeaving = true;
        ScheduledFuture<?> _ =
                ctx().executor().schedule(this::cut, FAREWELL_MILLIS, TimeUnit.MILLISECONDS);
        ask();
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
            AnswerHeaders.set(response, type, code == 304 ? -1 : length, isLast);
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
            isStreaming = true;
            boolean isOld = isOld(of);
            isLast |= isOld || !isBodyWhole;
            HttpResponse response =
                    new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(code));
            AnswerHeaders.set(response, type, -1, isLast);
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
        isStreaming = false;
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
