package io.turbidite.feeds.serve;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A client at the server: hello, one command, its output, its exit code.
 *
 * <p><em>Confined to the event loop</em>; the command runs on a thread of its own and writes through {@link
 * ClientOutput}.
 */
final class Connection extends SimpleChannelInboundHandler<ByteBuf> {
    private static final String BUSY =
            "the process that holds the store is busy for others; try again";

    private final ServeOptions options;
    private final Runner runner;
    private final boolean admitted;
    private final Departure departure = new Departure();
    private @Nullable ClientOutput output;
    private State state = State.NEW;

    private enum State {
        NEW,
        GREETED,
        RUNNING,
        ENDED
    }

    /** Has a command run elsewhere, which ends by sending its exit code. */
    @FunctionalInterface
    interface Runner {
        /** Whether there was room for it. */
        boolean run(CommandHandler.Request request, ClientOutput output);
    }

    Connection(ServeOptions options, Runner runner, boolean admitted) {
        this.options = options;
        this.runner = runner;
        this.admitted = admitted;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        output = new ClientOutput(context.channel(), options.writeMillisMax());
        if (!admitted) {
            refuse(context, BUSY);
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
            case GREETED -> run(context, kind, frame);
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
        if (!runner.run(request, to)) {
            refuse(context, BUSY);
        }
    }

    private ClientOutput output() {
        if (output == null) {
            throw new IllegalStateException("a frame came before the connection was active");
        }
        return output;
    }

    private void refuse(ChannelHandlerContext context, String why) {
        state = State.ENDED;
        byte[] text = why.getBytes(StandardCharsets.UTF_8);
        ByteBuf frame = ClientOutput.frame(context.alloc(), FrameLayout.REFUSED, text.length);
        var _ = context.writeAndFlush(frame.writeBytes(text))
                .addListener(ChannelFutureListener.CLOSE);
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
    }

    /** Frames that are too long, and broken connections. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        state = State.ENDED;
        var _ = context.close();
    }
}
