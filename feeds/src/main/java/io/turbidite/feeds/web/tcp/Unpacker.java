package io.turbidite.feeds.web.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.compression.DecompressionException;
import io.netty.handler.codec.compression.Decompressor;
import io.netty.handler.codec.compression.JdkZlibDecompressor;
import io.netty.handler.codec.compression.ZlibWrapper;
import io.netty.handler.codec.compression.ZstdDecompressor;
import io.turbidite.feeds.web.http.Problem;

import org.jspecify.annotations.Nullable;

/**
 * Unpacks a connection whose first bytes are those of gzip or zstd; another one goes through as it
 * is. What comes out is bounded by what went in, of the whole and of each read, for a small
 * stream may hold a huge one. <em>Confined to the channel's loop.</em>
 */
final class Unpacker extends ChannelInboundHandlerAdapter {
    /** Bytes that come out for one that goes in; JSON lines have 5 to 20. */
    static final long RATIO_MAX = 100;

    /** So much may come out at any ratio. */
    static final long FREE_BYTES = 1 << 20;

    /** Of gzip, and of zstd; see RFC 1952 and RFC 8878. */
    static final byte[] GZIP = {0x1f, (byte) 0x8b};

    static final byte[] ZSTD = {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd};

    /** The largest window that clients may ask memory for: 8 MiB (RFC 9659). */
    private static final int ZSTD_WINDOW_LOG_MAX = 23;

    private static final int PIECE_BYTES = 64 << 10;

    /** A read of what is packed: at the worst 1.6 MiB come out of it, and what is free. */
    private static final int PACKED_READ_BYTES = 16 << 10;

    private @Nullable ByteBuf first;
    private @Nullable Decompressor decompressor;
    private boolean isDecided;
    private boolean hasFailed;
    private long inCount;
    private long outCount;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf in = (ByteBuf) message;
        if (hasFailed) {
            in.release();
        } else if (isDecided && decompressor == null) {
            context.fireChannelRead(in);
        } else if (isDecided) {
            unpack(context, in);
        } else {
            decide(context, in);
        }
    }

    private void decide(ChannelHandlerContext context, ByteBuf in) {
        ByteBuf before = first;
        ByteBuf all = before == null
                ? in
                : context.alloc().compositeBuffer(2).addComponents(true, before, in);
        first = null;
        boolean isGzip = begins(all, GZIP);
        boolean isZstd = begins(all, ZSTD);
        if ((isGzip && all.readableBytes() < GZIP.length)
                || (isZstd && all.readableBytes() < ZSTD.length)) {
            first = all;
            return;
        }
        isDecided = true;
        if (!isGzip && !isZstd) {
            context.fireChannelRead(all);
            return;
        }
        context.channel()
                .config()
                .setRecvByteBufAllocator(
                        new FixedRecvByteBufAllocator(PACKED_READ_BYTES).maxMessagesPerRead(1));
        try {
            decompressor = isGzip
                    ? JdkZlibDecompressor.builder()
                            .wrapper(ZlibWrapper.GZIP)
                            .maxAllocation(PIECE_BYTES)
                            .decompressConcatenated(true)
                            .build(context.alloc())
                    : ZstdDecompressor.builder()
                            .maxWindowLog(ZSTD_WINDOW_LOG_MAX)
                            .build(context.alloc());
        } catch (DecompressionException | LinkageError e) {
            all.release();
            fail(context, Problem.of(415, "for zstd the server lacks the artifact zstd-jni"));
            return;
        }
        unpack(context, all);
    }

    /** Whether it begins with these, or is the beginning of them. */
    private static boolean begins(ByteBuf all, byte[] magic) {
        int count = Math.min(all.readableBytes(), magic.length);
        for (int i = 0; i < count; i++) {
            if (all.getByte(all.readerIndex() + i) != magic[i]) {
                return false;
            }
        }
        return true;
    }

    private void unpack(ChannelHandlerContext context, ByteBuf in) {
        Decompressor unpacking = decompressor;
        if (unpacking == null) {
            throw new IllegalStateException("nothing is packed");
        }
        long inOfRead = in.readableBytes();
        long outOfRead = 0;
        inCount += inOfRead;
        boolean isHandedOver = false;
        try {
            checkWants(unpacking);
            isHandedOver = true;
            unpacking.addInput(in);
            while (unpacking.status() == Decompressor.Status.NEED_OUTPUT) {
                ByteBuf out = unpacking.takeOutput();
                outCount += out.readableBytes();
                outOfRead += out.readableBytes();
                if (isTooMuch(outCount, inCount) || isTooMuch(outOfRead, inOfRead)) {
                    out.release();
                    throw Problem.of(
                            413,
                            "what is sent is more than %d times as long when it is unpacked"
                                    .formatted(RATIO_MAX));
                }
                context.fireChannelRead(out);
            }
        } catch (Problem problem) {
            fail(context, problem);
        } catch (DecompressionException e) {
            fail(context, broken(e));
        } finally {
            if (!isHandedOver) {
                in.release();
            }
        }
    }

    /** It must be asked before it is given anything, and has given out all that it had. */
    private static void checkWants(Decompressor unpacking) {
        if (unpacking.status() != Decompressor.Status.NEED_INPUT) {
            throw Problem.of(400, "bytes follow what is packed");
        }
    }

    private static boolean isTooMuch(long out, long in) {
        return out > FREE_BYTES && out > RATIO_MAX * in;
    }

    private static Problem broken(DecompressionException e) {
        Throwable cause = e.getCause();
        return Problem.of(
                400,
                "what is sent can't be unpacked: %s"
                        .formatted(cause == null ? e.getMessage() : cause.getMessage()));
    }

    private void fail(ChannelHandlerContext context, Problem problem) {
        hasFailed = true;
        context.fireExceptionCaught(problem);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        Decompressor unpacking = decompressor;
        if (event instanceof ChannelInputShutdownEvent && unpacking != null && !hasFailed) {
            try {
                checkWants(unpacking);
                unpacking.endOfInput();
            } catch (Problem problem) {
                fail(context, problem);
            } catch (DecompressionException e) {
                fail(context, broken(e));
            }
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        ByteBuf left = first;
        first = null;
        if (left != null) {
            left.release();
        }
        Decompressor unpacking = decompressor;
        decompressor = null;
        if (unpacking != null) {
            unpacking.close();
        }
    }
}
