package io.turbidite.feeds.web.http;

import io.netty.buffer.ByteBuf;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A request's body as a stream: the loop puts in what came, a request's thread takes it out. What
 * nobody takes is not read from the client either.
 *
 * <p><em>Thread-safe by its lock</em>; reading is confined to one thread.
 */
final class RequestBody extends InputStream {
    /** Bytes that may wait here before no more are asked for. */
    static final int WAITING_BYTES_MAX = 128 << 10;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayDeque<ByteBuf> waiting = new ArrayDeque<>();
    private final Runnable ask;
    private final long waitMillisMax;
    private long waitingBytes;

    /** The loop was asked for more and has not brought it yet. */
    private boolean isAsked;

    private boolean ended;
    private boolean closed;
    private @Nullable Problem problem;

    /**
     * @param ask the loop to read on; called by any thread
     */
    RequestBody(Runnable ask, long waitMillisMax) {
        this.ask = ask;
        this.waitMillisMax = waitMillisMax;
    }

    /**
     * Takes a piece over.
     *
     * @return whether the loop shall read on at once
     */
    boolean put(ByteBuf piece, boolean isLast) {
        lock.lock();
        try {
            ended |= isLast;
            if (closed || !piece.isReadable()) {
                piece.release();
            } else {
                waiting.add(piece);
                waitingBytes += piece.readableBytes();
            }
            isAsked = !ended && waitingBytes < WAITING_BYTES_MAX;
            changed.signalAll();
            return isAsked;
        } finally {
            lock.unlock();
        }
    }

    /** Nothing more will come. */
    void fail(Problem why) {
        lock.lock();
        try {
            if (problem == null) {
                problem = why;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isEnded() {
        lock.lock();
        try {
            return ended;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        lock.lock();
        try {
            long leftNanos = TimeUnit.MILLISECONDS.toNanos(waitMillisMax);
            while (waiting.isEmpty() && !ended) {
                if (problem != null) {
                    throw problem;
                }
                if (leftNanos <= 0) {
                    throw Problem.of(
                            408, "the body brought nothing for %d ms".formatted(waitMillisMax));
                }
                askUnlessAsked();
                leftNanos = changed.awaitNanos(leftNanos);
            }
            if (waiting.isEmpty()) {
                return -1;
            }
            return take(bytes, offset, length);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            lock.unlock();
        }
    }

    private int take(byte[] bytes, int offset, int length) {
        ByteBuf piece = waiting.element();
        int count = Math.min(length, piece.readableBytes());
        piece.readBytes(bytes, offset, count);
        waitingBytes -= count;
        if (!piece.isReadable()) {
            waiting.remove().release();
        }
        if (!ended && waitingBytes < WAITING_BYTES_MAX / 2) {
            askUnlessAsked();
        }
        return count;
    }

    /** The caller holds the lock; the loop is only told. */
    private void askUnlessAsked() {
        if (!isAsked) {
            isAsked = true;
            ask.run();
        }
    }

    @Override
    public int available() {
        lock.lock();
        try {
            return (int) waitingBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Drops what is left. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            waiting.forEach(ByteBuf::release);
            waiting.clear();
            waitingBytes = 0;
        } finally {
            lock.unlock();
        }
    }
}
