package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Messages that wait to be sent, for each receiver apart. The engine may wait for a receiver that
 * does not answer: so each has a thread, and holds up nobody else. What has no room is lost, and so
 * is what could not be sent. <em>Thread-safe.</em>
 */
final class Outbox implements AutoCloseable {
    /** What waits for one receiver: a few of the largest messages. */
    static final int WAITING_BYTES_MAX = 8 << 20;

    private static final System.Logger LOG = System.getLogger(Outbox.class.getName());
    private static final long CLOSE_MILLIS = TimeUnit.SECONDS.toMillis(5);

    private final Wire wire;
    private final String owner;
    private final Map<String, Line> lines = new HashMap<>();
    private final AtomicLong lost = new AtomicLong();
    private volatile boolean closed;

    /** Sends what the engine is given. */
    @FunctionalInterface
    interface Wire {
        /**
         * Sends one.
         *
         * @throws Exception what the engine throws where it can't send
         */
        void send(String to, byte[] message) throws Exception;
    }

    /** @param owner whose they are, for names of threads */
    Outbox(String owner, Wire wire) {
        this.owner = owner;
        this.wire = wire;
    }

    /**
     * Has a message sent, and does not wait for it.
     *
     * @throws InvalidRequestException if it is too long
     */
    void send(String to, byte[] message) {
        if (message.length > ClusterMessages.BYTES_MAX) {
            throw new InvalidRequestException("a message to '%s' has %d bytes, and may have %d"
                    .formatted(to, message.length, ClusterMessages.BYTES_MAX));
        }
        Line line;
        synchronized (lines) {
            if (closed) {
                lost.incrementAndGet();
                return;
            }
            line = lines.computeIfAbsent(to, Line::new);
        }
        if (!line.add(message)) {
            lost.incrementAndGet();
        }
    }

    /** Messages that were not sent. */
    long lostCount() {
        return lost.get();
    }

    /** Ends the threads; what waits is lost. */
    @Override
    public void close() {
        synchronized (lines) {
            closed = true;
            lines.values().forEach(Line::end);
        }
        lines.values().forEach(Line::awaitEnd);
    }

    /** To one receiver. */
    private final class Line {
        private final String to;
        private final Deque<byte[]> waiting = new ArrayDeque<>();
        private final Thread thread;
        private int waitingBytes;

        Line(String to) {
            this.to = to;
            this.thread = new Thread(this::run, "cluster messages " + owner + " to " + to);
            thread.setDaemon(true);
            thread.start();
        }

        synchronized boolean add(byte[] message) {
            if (waitingBytes + message.length > WAITING_BYTES_MAX) {
                return false;
            }
            waiting.add(message);
            waitingBytes += message.length;
            notifyAll();
            return true;
        }

        private synchronized byte @Nullable [] next() throws InterruptedException {
            while (waiting.isEmpty() && !closed) {
                wait();
            }
            byte[] message = waiting.poll();
            waitingBytes -= message == null ? 0 : message.length;
            return closed ? null : message;
        }

        private void run() {
            try {
                for (byte[] message = next(); message != null; message = next()) {
                    send(message);
                }
            } catch (InterruptedException e) {
                // it was closed
                Thread.currentThread().interrupt();
            }
        }

        private void send(byte[] message) throws InterruptedException {
            try {
                wire.send(to, message);
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                lost.incrementAndGet();
                LOG.log(
                        System.Logger.Level.DEBUG,
                        () -> "a message of %s to %s was not sent".formatted(owner, to),
                        e);
            }
        }

        synchronized void end() {
            thread.interrupt();
            notifyAll();
        }

        void awaitEnd() {
            try {
                thread.join(CLOSE_MILLIS);
            } catch (InterruptedException e) {
                // it is a daemon that sends nothing more
                Thread.currentThread().interrupt();
            }
        }
    }
}
