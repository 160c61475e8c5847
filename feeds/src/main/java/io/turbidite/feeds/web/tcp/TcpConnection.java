package io.turbidite.feeds.web.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.tcp.Sending.Progress;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * One client. The way of what it sends:
 *
 * <ol>
 *   <li>a first line says who it is, where that is needed or wanted,
 *   <li>a header names the columns, if the feed's parser wants one,
 *   <li>whole lines become parcels: all that are there, whenever fewer than two wait,
 *   <li>what is durable is acknowledged; then there is more room, and more is read.
 * </ol>
 *
 * <p>Memory: what a read or two bring, beyond {@value #READ_BYTES} bytes; two parcels in the feed.
 * <em>Confined to the channel's loop.</em>
 */
final class TcpConnection extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(TcpConnection.class);

    /** With as much here nothing is read. */
    static final int READ_BYTES = 256 << 10;

    /** Of an unfinished line, that are taken however much is held. */
    private static final int LINE_BYTES_FREE = 64 << 10;

    private static final long RETRY_MILLIS = 50;

    private final TcpServer server;
    private final TcpDoor door;
    private final @Nullable Problem refusal;
    private final LineBuffer lines;
    private Stage stage = Stage.FIRST_LINE;
    private @Nullable Sending sending;
    private byte @Nullable [] header;
    private boolean inputEnded;
    private boolean isReading;
    private boolean hasHeard;
    private boolean retryIsDue;
    private boolean isTimeToRetry;
    private long heldBytes;
    private @Nullable ScheduledFuture<?> deadline;
    private @Nullable ScheduledFuture<?> lineWatch;

    private enum Stage {
        FIRST_LINE,
        HEADER,
        RECORDS,
        /** What comes is passed over until the connection is closed. */
        ENDED
    }

    TcpConnection(TcpServer server, TcpDoor door, @Nullable Problem refusal) {
        this.server = server;
        this.door = door;
        this.lines = new LineBuffer(server.spare());
        this.refusal = refusal;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        if (refusal != null) {
            fail(context, refusal);
            return;
        }
        if (!door.anybody()) {
            deadline = context.executor()
                    .schedule(
                            () -> late(context),
                            server.options().firstLineMillisMax(),
                            TimeUnit.MILLISECONDS);
        }
        read(context);
    }

    private void late(ChannelHandlerContext context) {
        fail(context, Problem.of(408, "no first line came"));
    }

    private void read(ChannelHandlerContext context) {
        isReading = true;
        context.read();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf in = (ByteBuf) message;
        try {
            if (stage != Stage.ENDED) {
                hasHeard = true;
                lines.append(in);
                hold(context);
            }
        } finally {
            in.release();
        }
    }

    /** Counts what is here into what all connections hold. */
    private void hold(ChannelHandlerContext context) {
        long now = lines.byteCount();
        boolean hasGrown = now > heldBytes;
        boolean fits = server.hold(now - heldBytes) || !hasGrown;
        heldBytes = now;
        if (!fits && !lines.hasLines() && now > LINE_BYTES_FREE) {
            fail(
                    context,
                    Problem.of(429, "connections hold as many bytes as may be").retry(1));
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        isReading = false;
        goOn(context);
        context.fireChannelReadComplete();
    }

    /** Does what can be done with what is here, and reads on if there is room. */
    private void goOn(ChannelHandlerContext context) {
        try {
            if (stage == Stage.FIRST_LINE) {
                takeFirstLine(context);
            }
            Sending to = sending;
            if (stage == Stage.HEADER && to != null) {
                do {
                    header = lines.takeLine();
                } while (header != null && header.length == 0);
                stage = header == null ? stage : Stage.RECORDS;
            }
            if (stage == Stage.RECORDS && to != null) {
                send(context, to);
            }
        } catch (Problem problem) {
            fail(context, problem);
        } catch (InvalidRequestException e) {
            fail(context, Problem.of(409, String.valueOf(e.getMessage())));
        } catch (RuntimeException | Error e) {
            // nobody else would end the connection, and its client would wait for ever
            LOG.error("a connection to feed {} fails", door.feed(), e);
            fail(context, Problem.of(500, "the server failed: its log says why"));
        }
        if (stage == Stage.ENDED) {
            return;
        }
        hold(context);
        if (inputEnded) {
            endIfDone(context);
        } else if (!isReading && hasRoom()) {
            read(context);
            watchLine(context);
        }
    }

    /** Whether to read on; with whole lines here somebody comes back when they are taken. */
    private boolean hasRoom() {
        return !lines.hasLines() || (lines.byteCount() < READ_BYTES && !server.isFull());
    }

    private void takeFirstLine(ChannelHandlerContext context) {
        if (lines.startsWith(Unpacker.GZIP) || lines.startsWith(Unpacker.ZSTD)) {
            throw Problem.of(400, "what was unpacked is packed again");
        }
        if (!lines.hasLines() && lines.byteCount() <= FirstLine.BYTES_MAX) {
            return;
        }
        FirstLine first = null;
        if (lines.hasLines()) {
            byte[] line = lines.peekLine();
            first = FirstLine.of(line);
            if (first != null || line.length == 0) {
                lines.takeLine();
            }
        }
        Sending opened = server.open(door, first, settled(context));
        sending = opened;
        stage = opened.hasHeader() ? Stage.HEADER : Stage.RECORDS;
        if (deadline != null) {
            deadline.cancel(false);
        }
        Long begunAt = opened.begunAt();
        if (begunAt != null) {
            write(context, Json.line().put("acked", begunAt));
        }
    }

    /** By any thread. */
    private Runnable settled(ChannelHandlerContext context) {
        return () -> {
            try {
                context.executor().execute(() -> {
                    if (stage == Stage.RECORDS) {
                        goOn(context);
                    }
                });
            } catch (RejectedExecutionException closing) {
                // the loop has ended, and with it the client that would be told
            }
        };
    }

    private void send(ChannelHandlerContext context, Sending to) {
        if (isTimeToRetry) {
            isTimeToRetry = false;
            to.retry(RETRY_MILLIS);
        }
        Progress progress = to.settle();
        if (progress == Progress.ACKED) {
            write(context, to.acknowledgement());
        }
        while (to.hasRoom() && lines.hasLines()) {
            to.offer(lines.takeLines(), header);
        }
        if (to.wantsRetry() && !retryIsDue) {
            retryIsDue = true;
            var _ = context.executor()
                    .schedule(
                            () -> {
                                retryIsDue = false;
                                isTimeToRetry = true;
                                if (stage == Stage.RECORDS) {
                                    goOn(context);
                                }
                            },
                            RETRY_MILLIS,
                            TimeUnit.MILLISECONDS);
        }
    }

    // ---- slow clients

    /** Has somebody look whether an unfinished line goes on. */
    private void watchLine(ChannelHandlerContext context) {
        if (lineWatch == null && lines.unfinishedByteCount() > 0) {
            hasHeard = false;
            lineWatch = context.executor()
                    .schedule(
                            () -> lookAtLine(context, false),
                            server.options().lineMillisMax() / 2,
                            TimeUnit.MILLISECONDS);
        }
    }

    private void lookAtLine(ChannelHandlerContext context, boolean wasSilent) {
        lineWatch = null;
        if (stage == Stage.ENDED || lines.unfinishedByteCount() == 0) {
            return;
        }
        boolean isSilent = isReading && !hasHeard;
        if (isSilent && wasSilent) {
            fail(context, Problem.of(408, "a line has begun and does not go on"));
            return;
        }
        hasHeard = false;
        lineWatch = context.executor()
                .schedule(
                        () -> lookAtLine(context, isSilent),
                        Math.max(1, server.options().lineMillisMax() / 2),
                        TimeUnit.MILLISECONDS);
    }

    // ---- the end

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inputEnded = true;
            if (stage != Stage.ENDED) {
                goOn(context);
            }
        }
        context.fireUserEventTriggered(event);
    }

    /** The client sends no more: it gets what it still has to hear. */
    private void endIfDone(ChannelHandlerContext context) {
        Sending to = sending;
        if (lines.hasLines() || (to != null && !to.isDone())) {
            return;
        }
        if (lines.unfinishedByteCount() > 0) {
            fail(
                    context,
                    Problem.of(
                            400,
                            "the last line has no end: its %d bytes are not taken"
                                    .formatted(lines.unfinishedByteCount())));
            return;
        }
        stage = Stage.ENDED;
        context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }

    /** Says why, and lets the client go. */
    private void fail(ChannelHandlerContext context, Problem problem) {
        if (stage == Stage.ENDED) {
            return;
        }
        stage = Stage.ENDED;
        Json.Line line = Json.line().put("error", problem.detail());
        if (problem.retrySeconds() > 0) {
            line.put("retry", problem.retrySeconds());
        }
        Sending to = sending;
        if (to != null) {
            to.describeEnd(line);
        }
        server.countRefused();
        context.writeAndFlush(text(line)).addListener(ChannelFutureListener.CLOSE);
    }

    private static void write(ChannelHandlerContext context, Json.Line line) {
        if (context.channel().isWritable()) {
            var _ = context.writeAndFlush(text(line), context.voidPromise());
        } // else the next line says all that this one would
    }

    private static ByteBuf text(Json.Line line) {
        return Unpooled.wrappedBuffer(
                (Json.text(line.toMap()) + "\n").getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        stage = Stage.ENDED;
        server.hold(-heldBytes);
        heldBytes = 0;
        lines.close();
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (lineWatch != null) {
            lineWatch.cancel(false);
        }
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof Problem problem) {
            fail(context, problem);
        } else {
            stage = Stage.ENDED;
            LOG.debug("a connection to feed {} ends", door.feed(), cause);
            var _ = context.close(); // of the network, or a client's TLS: there is nobody to tell
        }
    }
}
