package io.turbidite.ops.exchange;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.run.Rows;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;

/**
 * Queues of frames from the producers of one connector to its consumers.
 *
 * <p>A consumer has one queue for all producers, or, where rows are merged, one for each. A full
 * queue takes no frame; a consumer that wants no more throws away what comes. Producers are started
 * when the first consumer asks for a row, so nothing runs for an input that nobody reads.
 *
 * <p><em>Thread-safe by one lock</em>, held for a queue's operation; nobody waits while holding it,
 * and the wakes are called without it.
 */
public final class Exchange {
    /** Which rows go to which consumer. */
    public enum Way {
        HASH,
        BROADCAST,
        ROUND_ROBIN,
        /** All to the only one. */
        MERGE
    }

    /**
     * Who is told when something changed.
     *
     * @param start starts the producers; called once
     * @param producers there is room, or a consumer wants no more
     * @param consumer the frames of this consumer changed
     */
    public record Wakes(Runnable start, Runnable producers, IntConsumer consumer) {}

    private final Way way;
    private final RecordType type;
    private final List<String> fields;
    private final int producerCount;
    private final int consumerCount;
    private final int capacity;
    private final JobFrames frames;
    private final Wakes wakes;
    private final ReentrantLock lock = new ReentrantLock();

    /** By consumer; where rows are merged, by producer. */
    private final List<Deque<Frame>> queues = new ArrayList<>();

    private final boolean[] producerEnded;
    private final boolean[] consumerClosed;
    private int openProducers;
    /** Written under the lock, read without. */
    private volatile int openConsumers;

    private boolean started;

    /**
     * @param fields the key of {@link Way#HASH}, the order of {@link Way#MERGE}
     * @param capacity frames that wait for one consumer
     */
    public Exchange(
            Way way,
            RecordType type,
            List<String> fields,
            int producerCount,
            int consumerCount,
            int capacity,
            JobFrames frames,
            Wakes wakes) {
        this.way = way;
        this.type = type;
        this.fields = List.copyOf(fields);
        this.producerCount = producerCount;
        this.consumerCount = consumerCount;
        this.capacity = queueCapacity(way, producerCount, capacity);
        this.frames = frames;
        this.wakes = wakes;
        this.openProducers = producerCount;
        this.openConsumers = consumerCount;
        this.producerEnded = new boolean[producerCount];
        this.consumerClosed = new boolean[consumerCount];
        for (int i = 0; i < (way == Way.MERGE ? producerCount : consumerCount); i++) {
            queues.add(new ArrayDeque<>());
        }
        assert way != Way.MERGE || consumerCount == 1 : "sorted rows are merged for one consumer";
    }

    private static int queueCapacity(Way way, int producerCount, int capacity) {
        return way == Way.MERGE ? Math.max(1, capacity / producerCount) : capacity;
    }

    /**
     * The most frames that an exchange has at once: those that wait, one that each producer fills
     * for each consumer, and those that are read.
     */
    public static long frameCountMax(Way way, int producerCount, int consumerCount, int capacity) {
        long queueCount = way == Way.MERGE ? producerCount : consumerCount;
        return queueCount * queueCapacity(way, producerCount, capacity)
                + (long) producerCount * consumerCount
                + queueCount;
    }

    /** The end of a producer, for its worker. */
    public ExchangeWriter writer(int producer) {
        return new ExchangeWriter(this, producer);
    }

    /** The rows of a consumer, for its worker. */
    public Rows rows(int consumer) {
        return way == Way.MERGE ? new MergedExchangeRows(this) : new ExchangeRows(this, consumer);
    }

    /** Gives back the frames that nobody will read; after all workers have ended. */
    public void drain() {
        lock.lock();
        try {
            queues.forEach(this::drop);
        } finally {
            lock.unlock();
        }
    }

    // ---- for the ends ---------------------------------------------------------------------------

    Way way() {
        return way;
    }

    RecordType type() {
        return type;
    }

    List<String> fields() {
        return fields;
    }

    int producerCount() {
        return producerCount;
    }

    int consumerCount() {
        return consumerCount;
    }

    JobFrames frames() {
        return frames;
    }

    /** Whether any consumer wants more. */
    boolean isWanted() {
        return openConsumers > 0;
    }

    /** Queues a frame, which is the consumer's then; false if there is no room. */
    boolean offer(int producer, int consumer, Frame frame) {
        lock.lock();
        try {
            if (consumerClosed[consumer]) {
                frames.give(frame);
                return true;
            }
            Deque<Frame> queue = queues.get(way == Way.MERGE ? producer : consumer);
            if (queue.size() >= capacity) {
                return false;
            }
            queue.add(frame);
        } finally {
            lock.unlock();
        }
        wakes.consumer.accept(consumer);
        return true;
    }

    /** No more frames of a producer; more than once does no harm. */
    void end(int producer) {
        lock.lock();
        try {
            if (producerEnded[producer]) {
                return;
            }
            producerEnded[producer] = true;
            openProducers--;
        } finally {
            lock.unlock();
        }
        for (int i = 0; i < consumerCount; i++) {
            wakes.consumer.accept(i);
        }
    }

    /** Starts the producers, if nobody has. */
    void start() {
        lock.lock();
        try {
            if (started) {
                return;
            }
            started = true;
        } finally {
            lock.unlock();
        }
        wakes.start.run();
    }

    /** The next frame of a queue; null: there is none now. */
    @Nullable
    Frame poll(int queue) {
        Frame frame;
        lock.lock();
        try {
            frame = queues.get(queue).poll();
        } finally {
            lock.unlock();
        }
        if (frame != null) {
            wakes.producers.run();
        }
        return frame;
    }

    /** Whether no frame comes any more, and none waits. */
    boolean isAtEnd(int queue) {
        lock.lock();
        try {
            boolean ended = way == Way.MERGE ? producerEnded[queue] : openProducers == 0;
            return ended && queues.get(queue).isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** A consumer wants no more; more than once does no harm. */
    void closeConsumer(int consumer) {
        lock.lock();
        try {
            if (consumerClosed[consumer]) {
                return;
            }
            consumerClosed[consumer] = true;
            int open = openConsumers;
            openConsumers = open - 1; // only under the lock; read without it
            if (way == Way.MERGE) {
                queues.forEach(this::drop);
            } else {
                drop(queues.get(consumer));
            }
        } finally {
            lock.unlock();
        }
        wakes.producers.run();
    }

    private void drop(Deque<Frame> queue) {
        for (Frame frame = queue.poll(); frame != null; frame = queue.poll()) {
            frames.give(frame);
        }
    }
}
