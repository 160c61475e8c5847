package io.turbidite.feeds.serve;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.turbidite.core.time.Clock;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * What a command prints, on its way to the client: in frames, and no faster than the client takes
 * them.
 *
 * <p><em>Thread-safe</em> by its monitor; the command waits in it, the event loop wakes it.
 */
final class ClientOutput {
    private static final Logger LOG = LoggerFactory.getLogger(ClientOutput.class);
    private static final int PIECE_BYTES = 32 << 10;

    private final Channel channel;
    private final long writeMillisMax;
    private final Clock clock;
    private volatile boolean refused;

    ClientOutput(Channel channel, long writeMillisMax, Clock clock) {
        this.channel = channel;
        this.writeMillisMax = writeMillisMax;
        this.clock = clock;
    }

    /** An empty frame with room for a payload. */
    static ByteBuf frame(ByteBufAllocator allocator, int kind, int payloadBytes) {
        return allocator
                .buffer(FrameLayout.PAYLOAD_OFFSET + payloadBytes)
                .writeInt(1 + payloadBytes)
                .writeByte(kind);
    }

    OutputStream stream(int kind) {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                for (int done = 0; done < length; ) {
                    int piece = Math.min(PIECE_BYTES, length - done);
                    send(kind, bytes, offset + done, piece);
                    done += piece;
                }
            }
        };
    }

    private void send(int kind, byte[] bytes, int offset, int length) throws IOException {
        awaitRoom();
        ByteBuf frame = frame(channel.alloc(), kind, length).writeBytes(bytes, offset, length);
        var _ = channel.writeAndFlush(frame);
    }

    /** Waits until less than the bound is unsent. */
    private synchronized void awaitRoom() throws IOException {
        long startNanos = clock.monotonicNanos();
        long waitNanos = TimeUnit.MILLISECONDS.toNanos(writeMillisMax);
        boolean inVain = false;
        try {
            while (channel.isActive() && !channel.isWritable()) {
                // it may be woken early, so that only the clock tells how long it has waited
                long left = waitNanos - (clock.monotonicNanos() - startNanos);
                if (left <= 0) {
                    inVain = true;
                    break;
                }
                wait(Math.min(100, Math.max(1, TimeUnit.NANOSECONDS.toMillis(left))));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        if (!channel.isActive()) {
            throw new IOException("the client has gone");
        }
        // not by another look: what was written before may be counted as unsent only now
        if (inVain) {
            String why = "its output was not taken for %d ms, so that the command was ended"
                    .formatted(writeMillisMax);
            LOG.warn("a command of another process: {}", why);
            refuse(why);
            throw new IOException("the client takes no output");
        }
    }

    /**
     * Says why the command was not run, or not to its end; the last thing that is sent. A client
     * that does not take even that is let go.
     */
    void refuse(String why) {
        refused = true;
        refuse(channel, why);
        var _ = channel.eventLoop().schedule(this::letGo, writeMillisMax, TimeUnit.MILLISECONDS);
    }

    private void letGo() {
        var _ = channel.close();
    }

    static void refuse(Channel channel, String why) {
        byte[] text = why.getBytes(StandardCharsets.UTF_8);
        ByteBuf frame = frame(channel.alloc(), FrameLayout.REFUSED, text.length).writeBytes(text);
        var _ = channel.writeAndFlush(frame).addListener(ChannelFutureListener.CLOSE);
    }

    /** The client has taken some, or has gone. */
    synchronized void changed() {
        notifyAll();
    }

    /** Says how the command ended, unless it was said already; the last thing that is sent. */
    void exit(int code) {
        if (refused) {
            return;
        }
        ByteBuf frame = frame(channel.alloc(), FrameLayout.EXIT, Integer.BYTES).writeInt(code);
        var _ = channel.writeAndFlush(frame).addListener(ChannelFutureListener.CLOSE);
    }
}
