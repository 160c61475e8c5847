package io.turbidite.feeds.serve;

import io.netty.channel.Channel;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * What a client of a long conversation sends, until it is taken. While much waits, no more is read
 * from the socket.
 *
 * <p><em>Thread-safe</em> by its monitor; the conversation waits in it, the event loop wakes it.
 */
final class SessionInput {
    private static final int WAITING_BYTES_MAX = 256 << 10;

    /** What a piece takes beside its bytes. */
    private static final int PIECE_BYTES = 64;

    private final Channel channel;
    private final Clock clock;
    private final Deque<byte[]> pieces = new ArrayDeque<>();
    private int waitingBytes;

    /** Bytes of the first piece that were taken. */
    private int taken;

    private boolean pauses;
    private boolean gone;

    SessionInput(Channel channel, Clock clock) {
        this.channel = channel;
        this.clock = clock;
    }

    /** Bytes that came. */
    synchronized void add(byte[] piece) {
        if (piece.length == 0) {
            return;
        }
        pieces.add(piece);
        waitingBytes += PIECE_BYTES + piece.length;
        if (waitingBytes > WAITING_BYTES_MAX && !pauses) {
            pauses = true;
            channel.config().setAutoRead(false);
        }
        notifyAll();
    }

    /** Nothing more comes. */
    synchronized void end() {
        gone = true;
        notifyAll();
    }

    /** As {@link io.turbidite.ops.jdbc.HolderService.Client#read}. */
    synchronized int read(byte[] into, int offset, int length, long waitMillis) throws IOException {
        awaitSome(waitMillis);
        byte @Nullable [] first = pieces.peek();
        if (first == null) {
            return -1;
        }
        int count = Math.min(length, first.length - taken);
        System.arraycopy(first, taken, into, offset, count);
        taken += count;
        if (taken == first.length) {
            pieces.remove();
            taken = 0;
            waitingBytes -= PIECE_BYTES + first.length;
        }
        if (pauses && waitingBytes <= WAITING_BYTES_MAX / 2) {
            pauses = false;
            channel.config().setAutoRead(true);
        }
        return count;
    }

    private void awaitSome(long waitMillis) throws IOException {
        long startNanos = clock.monotonicNanos();
        long waitNanos = TimeUnit.MILLISECONDS.toNanos(waitMillis);
        try {
            while (pieces.isEmpty() && !gone) {
                // it may be woken early, so that only the clock tells how long it has waited
                long left = waitNanos - (clock.monotonicNanos() - startNanos);
                if (waitMillis > 0 && left <= 0) {
                    throw new IOException(
                            "the rest of a message did not come for %d ms".formatted(waitMillis));
                }
                wait(waitMillis == 0 ? 0 : Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
