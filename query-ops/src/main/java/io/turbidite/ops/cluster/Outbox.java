package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;

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

    /** All that a line waits for wakes it; it needs no thread meanwhile. */
    private static final long REST_MICROS = TimeUnit.SECONDS.toMicros(10);

    private final Wire wire;
    private final String owner;
    private final Tasks tasks;
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

    /** @param owner whose they are, for names of workers */
    Outbox(String owner, Wire wire) {
        this.owner = owner;
        this.wire = wire;
        this.tasks = ThreadTasks.create("cluster messages of " + owner);
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

    /** Ends the workers, after what they are sending; what waits is lost. */
    @Override
    public void close() {
        synchronized (lines) {
            closed = true;
        }
        tasks.close();
    }

    /** To one receiver. */
    private final class Line {
        private final String to;
        private final Deque<byte[]> waiting = new ArrayDeque<>();
        private final Tasks.Worker worker;
        private int waitingBytes;

        Line(String to) {
            this.to = to;
            this.worker = tasks.start(to, REST_MICROS, this::step);
        }

        boolean add(byte[] message) {
            synchronized (waiting) {
                if (waitingBytes + message.length > WAITING_BYTES_MAX) {
                    return false;
                }
                waiting.add(message);
                waitingBytes += message.length;
            }
            worker.wake();
            return true;
        }

        private byte @Nullable [] next() {
            synchronized (waiting) {
                byte[] message = waiting.poll();
                waitingBytes -= message == null ? 0 : message.length;
                return message;
            }
        }

        private boolean step() {
            byte[] message = next();
            if (message == null) {
                return false;
            }
            try {
                wire.send(to, message);
            } catch (Exception | Error e) {
                // the next may go out, and whoever needs this one sends it again
                lost.incrementAndGet();
                LOG.log(
                        e instanceof Error ? System.Logger.Level.ERROR : System.Logger.Level.DEBUG,
                        () -> "a message of %s to %s was not sent".formatted(owner, to),
                        e);
            }
            return true;
        }
    }
}
