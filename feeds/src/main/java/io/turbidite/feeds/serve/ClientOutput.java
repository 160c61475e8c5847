package io.turbidite.feeds.serve;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;

import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;

/**
 * What a command prints, on its way to the client: in frames, and no faster than the client takes them.
 *
 * <p><em>Thread-safe</em> by its monitor; the command waits in it, the event loop wakes it.
 */
final class ClientOutput {
    private static final int PIECE_BYTES = 32 << 10;

    private final Channel channel;
    private final long writeMillisMax;

    ClientOutput(Channel channel, long writeMillisMax) {
        this.channel = channel;
        this.writeMillisMax = writeMillisMax;
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
        long left = TimeUnit.MILLISECONDS.toNanos(writeMillisMax);
        try {
            while (channel.isActive() && !channel.isWritable() && left > 0) {
                long millis = Math.min(100, Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
                wait(millis);
                left -= TimeUnit.MILLISECONDS.toNanos(millis);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        if (!channel.isActive() || !channel.isWritable()) {
            var _ = channel.close();
            throw new IOException("the client takes no output");
        }
    }

    /** The client has taken some, or has gone. */
    synchronized void changed() {
        notifyAll();
    }

    /** Says how the command ended; the last thing that is sent. */
    void exit(int code) {
        ByteBuf frame = frame(channel.alloc(), FrameLayout.EXIT, Integer.BYTES).writeInt(code);
        var _ = channel.writeAndFlush(frame).addListener(ChannelFutureListener.CLOSE);
    }
}
