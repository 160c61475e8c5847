package io.turbidite.feeds.serve;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/**
 * A client at the server: hello, one command, its output, its exit code; or hello and a
 * conversation.
 *
 * <p><em>Confined to the event loop</em>; the command runs on a thread of its own and writes
 * through {@link ClientOutput}.
 */
final class Connection extends SimpleChannelInboundHandler<ByteBuf> {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    private final ServeOptions options;
    private final Runner runner;
    private final boolean admitted;
    private final Clock clock;
    private final Departure departure = new Departure();
    private @Nullable ClientOutput output;
    private State state = State.NEW;
    private @Nullable SessionInput input;
    private IntConsumer cancelling = _ -> {};

    private enum State {
        NEW,
        GREETED,
        RUNNING,
        TALKING,
        ENDED
    }

    /** Has a command, or a conversation, run elsewhere, which ends by sending its exit code. */
    interface Runner {
        void run(CommandHandler.Request request, ClientOutput output);

        /**
         * Begins a conversation, unless it refuses it.
         *
         * @return what cancels a run in it
         */
        IntConsumer talk(SessionInput input, ClientOutput output, Departure departure);
    }

    Connection(ServeOptions options, Runner runner, boolean admitted, Clock clock) {
        this.options = options;
        this.runner = runner;
        this.admitted = admitted;
        this.clock = clock;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        output = new ClientOutput(context.channel(), options.writeMillisMax(), clock);
        if (!admitted) {
            refuse(
                    context,
                    "the process that holds the store is busy: %d commands run there and %d wait; try again"
                            .formatted(options.commandCountMax(), options.waitingCountMax()));
            return;
        }
        var _ = context.executor()
                .schedule(
                        () -> {
                            if (state == State.NEW || state == State.GREETED) {
                                refuse(context, "no command came in time");
                            }
                        },
                        options.requestMillisMax(),
                        TimeUnit.MILLISECONDS);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
        int kind = frame.isReadable() ? frame.readUnsignedByte() : 0;
        switch (state) {
            case NEW -> greet(context, kind, frame);
            case GREETED -> {
                if (kind == FrameLayout.SESSION && !frame.isReadable()) {
                    talk(context);
                } else {
                    run(context, kind, frame);
                }
            }
            case TALKING -> say(context, kind, frame);
            case RUNNING -> {
                // nothing may come any more; whoever sends it has lost count
                state = State.ENDED;
                var _ = context.close();
            }
            case ENDED -> {}
        }
    }

    private void greet(ChannelHandlerContext context, int kind, ByteBuf frame) {
        if (kind != FrameLayout.HELLO
                || frame.readableBytes() != FrameLayout.HELLO_PAYLOAD_BYTES
                || frame.readLong() != FrameLayout.MAGIC) {
            state = State.ENDED;
            var _ = context.close();
            return;
        }
        int version = frame.readUnsignedShort();
        if (version != FrameLayout.VERSION) {
            refuse(
                    context,
                    "the process that holds the store speaks version %d of the protocol, not %d"
                            .formatted(FrameLayout.VERSION, version));
            return;
        }
        state = State.GREETED;
        ByteBuf hello = ClientOutput.frame(
                context.alloc(), FrameLayout.HELLO, FrameLayout.HELLO_PAYLOAD_BYTES);
        hello.writeLong(FrameLayout.MAGIC).writeShort(FrameLayout.VERSION);
        var _ = context.writeAndFlush(hello);
    }

    private void talk(ChannelHandlerContext context) {
        state = State.TALKING;
        SessionInput taken = new SessionInput(context.channel(), clock);
        input = taken;
        cancelling = runner.talk(taken, output(), departure);
    }

    private void say(ChannelHandlerContext context, int kind, ByteBuf frame) {
        if (kind == FrameLayout.IN && input != null) {
            byte[] piece = new byte[frame.readableBytes()];
            frame.readBytes(piece);
            input.add(piece);
        } else if (kind == FrameLayout.CANCEL && frame.readableBytes() == Integer.BYTES) {
            cancelling.accept(frame.readInt());
        } else {
            state = State.ENDED;
            var _ = context.close();
        }
    }

    private void run(ChannelHandlerContext context, int kind, ByteBuf frame) {
        List<String> texts = new ArrayList<>();
        int flags = 0;
        boolean right = kind == FrameLayout.RUN && frame.isReadable();
        if (right) {
            flags = frame.readUnsignedByte();
            while (right && frame.isReadable()) {
                right = frame.readableBytes() >= Short.BYTES;
                int bytes = right ? frame.readUnsignedShort() : 0;
                right &= frame.readableBytes() >= bytes;
                if (right) {
                    texts.add(frame.readString(bytes, StandardCharsets.UTF_8));
                }
            }
        }
        if (!right || texts.isEmpty()) {
            state = State.ENDED;
            var _ = context.close();
            return;
        }
        state = State.RUNNING;
        boolean terminal = (flags & FrameLayout.FLAG_TERMINAL) != 0;
        ClientOutput to = output();
        CommandHandler.Request request = new CommandHandler.Request(
                texts.getFirst(),
                terminal,
                texts.subList(1, texts.size()),
                to.stream(FrameLayout.OUT),
                to.stream(FrameLayout.ERR),
                departure);
        runner.run(request, to);
    }

    /** Whether a server that closes lets the client go at once. */
    boolean isToGo() {
        return departure.end();
    }

    private ClientOutput output() {
        if (output == null) {
            throw new IllegalStateException("a frame came before the connection was active");
        }
        return output;
    }

    private void refuse(ChannelHandlerContext context, String why) {
        state = State.ENDED;
        ClientOutput.refuse(context.channel(), why);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        output().changed();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        state = State.ENDED;
        output().changed();
        departure.happened();
        if (input != null) {
            input.end();
        }
    }

    /** Frames that are too long, and broken connections. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        LOG.info("a client's connection ends: {}", cause.toString());
        state = State.ENDED;
        var _ = context.close();
    }
}
