package io.turbidite.feeds.flow;

import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.YieldingWaitStrategy;

import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A bounded ring of batches between one producer and one consumer, so that parsing goes on while
 * the store works. A feed has one for each parse worker.
 *
 * <p>The ring is a Disruptor; its consumer is a sequence that {@link Tasks} step, one batch a step,
 * so that a simulation can step it, and so that a consumer may ask for its batch again later.
 * Memory: {@value #SLOT_COUNT} batches, and the producer also waits while published batches hold
 * more than {@value #BYTES_MAX} bytes.
 *
 * <p>The consumer's first failure ends the flow: batches behind it are not delivered, and the
 * producer meets it at its next call. <em>The producer's methods are confined to one thread at a
 * time.</em>
 */
public final class Pipeline implements BatchFlow {
    /** A power of two; a few batches are enough to even out a stall of a millisecond. */
    private static final int SLOT_COUNT = 8;

    private static final long BYTES_MAX = 32 << 20;

    /** The worker is woken at each publication; this is how often it looks without that. */
    private static final long IDLE_MICROS = 500_000;

    /** What a consumer waits for that asks for its batch again: another one's write. */
    private static final long AGAIN_MICROS = 250;

    /** Takes the batches, in order, on a worker's thread. */
    @FunctionalInterface
    public interface Consumer {
        /**
         * The batch is the consumer's until it returns.
         *
         * @return false if it can't take the batch now, and has done nothing: it comes again
         */
        boolean accept(Batch batch);
    }

    private final Tasks tasks;
    private final Consumer consumer;
    private final FeedMeters meters;
    private final StoreTime time;
    private final RingBuffer<Batch> ring;

    /** Of the last batch that was delivered. */
    private final Sequence delivered = new Sequence();

    private final Tasks.Worker worker;
    private final AtomicLong bytesInFlight = new AtomicLong();
    private volatile @Nullable Throwable failure;
    private volatile long published = -1;

    /** Of the producer. */
    private long claimed = -1;

    /** Of the consumer. */
    private boolean comesAgain;

    private Pipeline(Tasks tasks, String name, FeedMeters meters, Consumer consumer) {
        this.tasks = tasks;
        this.meters = meters;
        this.consumer = consumer;
        // The wait strategy is for consumers that block in the ring; this one is woken by Tasks.
        // There is one producer, but on changing threads, as a worker at rest has none (0122): the
        // ring for one asserts that it is always the same.
        ring = RingBuffer.createMultiProducer(Batch::new, SLOT_COUNT, new YieldingWaitStrategy());
        ring.addGatingSequences(delivered);
        time = meters.newStoreTime();
        worker = tasks.start(name, () -> comesAgain ? AGAIN_MICROS : IDLE_MICROS, this::step);
    }

    /** Starts a worker called {@code name} that hands batches to {@code consumer}. */
    public static Pipeline start(Tasks tasks, String name, FeedMeters meters, Consumer consumer) {
        Pipeline pipeline = new Pipeline(tasks, name, meters, consumer);
        meters.flowsThrough(pipeline);
        return pipeline;
    }

    @Override
    public Batch claim() {
        if (!hasClaim()) {
            tasks.await(this::hasRoom);
            rethrowFailure();
            claimed = ring.next();
        }
        return ring.get(claimed);
    }

    @Override
    public boolean hasRoom() {
        return failure != null
                || hasClaim()
                || (ring.hasAvailableCapacity(1) && bytesInFlight.get() <= BYTES_MAX);
    }

    @Override
    public boolean isBehind() {
        return queuePercent() >= 50;
    }

    /** Also when it has failed, so that nobody waits for ever. By any thread. */
    @Override
    public boolean isDrained() {
        return failure != null || delivered.get() >= published;
    }

    @Override
    public boolean isSettled() {
        return isDrained();
    }

    /** The number of the last batch that was published; -1 if none was. By any thread. */
    public long published() {
        return published;
    }

    /**
     * Whether all up to that one was taken by the consumer; never of a flow that has failed. By any
     * thread.
     */
    public boolean isTaken(long number) {
        return failure == null && delivered.get() >= number;
    }

    @Override
    public boolean hasClaim() {
        return claimed != published;
    }

    @Override
    public void publish() {
        if (!hasClaim()) {
            throw new IllegalStateException("no batch is claimed");
        }
        bytesInFlight.addAndGet(ring.get(claimed).byteCount());
        ring.publish(claimed);
        published = claimed;
        worker.wake();
    }

    /** By any thread. */
    @Override
    public boolean hasFailed() {
        return failure != null;
    }

    @Override
    public void drain() {
        tasks.await(this::isDrained);
        rethrowFailure();
    }

    /**
     * Stops the consumer after the batch it has in hand; {@link #drain} first to deliver the rest.
     */
    @Override
    public void close() {
        meters.flowsNoMore(this);
        worker.close();
    }

    /** How long its consumer was at work so far; by any thread. */
    public long busyNanos(long now) {
        return time.busyNanos(now);
    }

    /** How long its consumer has been at work on the batch in hand. */
    long underWayNanos(long now) {
        return time.underWayNanos(now);
    }

    /** Batches that are published and not taken yet. */
    long queueCount() {
        return Math.max(0, published - delivered.get());
    }

    /** Their bytes. */
    long queueBytes() {
        return bytesInFlight.get();
    }

    /** How full the ring is, by batches or by bytes, whichever is more; from 0 to 100. */
    long queuePercent() {
        return Math.min(
                100,
                Math.max(100 * queueCount() / SLOT_COUNT, 100 * bytesInFlight.get() / BYTES_MAX));
    }

    private boolean step() {
        comesAgain = false;
        if (failure != null) {
            return false;
        }
        long next = delivered.get() + 1;
        if (published < next) {
            time.waits();
            return false;
        }
        try {
            deliver(ring.get(next), next);
        } catch (RuntimeException | Error e) {
            failure = e;
            tasks.signal();
        }
        return !comesAgain && failure == null;
    }

    private void deliver(Batch batch, long number) {
        long bytes = batch.byteCount();
        time.begins();
        if (!consumer.accept(batch)) {
            comesAgain = true;
            time.givesBack();
            return;
        }
        time.ends(batch);
        batch.clear();
        bytesInFlight.addAndGet(-bytes);
        delivered.set(number);
        tasks.signal();
    }

    private void rethrowFailure() {
        switch (failure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
    }
}
