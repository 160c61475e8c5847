package io.turbidite.ops.exchange;

import io.turbidite.core.InvalidRequestException;
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
 * <p>A row longer than a frame waits, as for room in a queue, while others like it are with
 * consumers of its <em>lane</em>. That is the exchange; where rows are merged, it is one producer's
 * queue, because the consumer keeps a row of each. So nobody waits for a row that waits itself.
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

    /** Of frames of one long row, by lane; under the lock. */
    private final long[] longBytes;

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
        this.longBytes = new long[laneCount(way, producerCount)];
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

    /** Parts of an exchange whose long rows wait for one another. */
    public static int laneCount(Way way, int producerCount) {
        return way == Way.MERGE ? producerCount : 1;
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
            dropAll();
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

    private int queueOf(int producer, int consumer) {
        return way == Way.MERGE ? producer : consumer;
    }

    private int laneOf(int queue) {
        return way == Way.MERGE ? queue : 0;
    }

    /** Whether a consumer's queue would take a frame, or the consumer wants no more. */
    boolean hasRoom(int producer, int consumer) {
        lock.lock();
        try {
            return consumerClosed[consumer]
                    || queues.get(queueOf(producer, consumer)).size() < capacity;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Queues a frame, which is the consumer's then; false if there is no room. There is room for
     * one of a long row, which has memory of its own.
     */
    boolean offer(int producer, int consumer, Frame frame) {
        int queue = queueOf(producer, consumer);
        boolean queued = false;
        lock.lock();
        try {
            if (!consumerClosed[consumer]) {
                Deque<Frame> waiting = queues.get(queue);
                if (waiting.size() >= capacity && !frames.isLong(frame)) {
                    return false;
                }
                queued = waiting.add(frame);
            }
        } finally {
            lock.unlock();
        }
        if (queued) {
            wakes.consumer.accept(consumer);
        } else {
            give(queue, frame);
        }
        return true;
    }

    /**
     * A frame for one long row; null: there is no room until consumers have read others.
     *
     * @throws InvalidRequestException if there is none although they have
     */
    @Nullable
    Frame takeLong(int producer, long bytes) {
        int lane = laneOf(producer);
        lock.lock();
        try {
            boolean isFirst = longBytes[lane] == 0;
            boolean taken = (isFirst || longBytes[lane] + bytes <= frames.laneBytesMax())
                    && frames.reserveLong(bytes);
            if (!taken) {
                if (isFirst) {
                    throw frames.tooLong(bytes);
                }
                return null;
            }
            longBytes[lane] += bytes;
        } finally {
            lock.unlock();
        }
        return allocated(lane, bytes);
    }

    private Frame allocated(int lane, long bytes) {
        Frame frame = null;
        try {
            frame = new Frame(1).clear((int) bytes);
            return frame;
        } finally {
            if (frame == null) {
                releaseLong(lane, bytes);
            }
        }
    }

    private void releaseLong(int lane, long bytes) {
        lock.lock();
        try {
            longBytes[lane] -= bytes;
            frames.releaseLong(bytes);
        } finally {
            lock.unlock();
        }
    }

    /** Takes back a frame of a queue, whose rows were read. */
    void give(int queue, Frame frame) {
        if (frames.isLong(frame)) {
            releaseLong(laneOf(queue), frame.bytes());
            wakes.producers.run();
        } else {
            frames.give(frame);
        }
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
                dropAll();
            } else {
                drop(consumer);
            }
        } finally {
            lock.unlock();
        }
        wakes.producers.run();
    }

    private void dropAll() {
        for (int i = 0; i < queues.size(); i++) {
            drop(i);
        }
    }

    private void drop(int queue) {
        Deque<Frame> waiting = queues.get(queue);
        for (Frame frame = waiting.poll(); frame != null; frame = waiting.poll()) {
            if (frames.isLong(frame)) {
                releaseLong(laneOf(queue), frame.bytes());
            } else {
                frames.give(frame);
            }
        }
    }
}
