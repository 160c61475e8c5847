package io.turbidite.feeds.flow;

import com.lmax.disruptor.EventPoller;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.YieldingWaitStrategy;

import io.turbidite.core.task.Tasks;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A bounded ring of batches between one producer and one consumer, so that parsing goes on while
 * the store works.
 *
 * <p>The ring is a Disruptor; its consumer is a poller stepped by {@link Tasks}, one batch a step,
 * so that a simulation can step it. Memory: {@value #SLOT_COUNT} batches, and the producer also
 * waits while published batches hold more than {@value #BYTES_MAX} bytes.
 *
 * <p>The consumer's first failure ends the flow: batches behind it are not delivered, and the
 * producer meets it at its next call. <em>The producer's methods are confined to one thread.</em>
 */
public final class Pipeline implements BatchFlow {
    /** A power of two; a few batches are enough to even out a stall of a millisecond. */
    private static final int SLOT_COUNT = 8;

    private static final long BYTES_MAX = 32 << 20;

    /** The worker is woken at each publication; this is how often it looks without that. */
    private static final long IDLE_MICROS = 10_000;

    /** Takes the batches, in order, on a worker's thread. */
    @FunctionalInterface
    public interface Consumer {
        /** The batch is the consumer's until it returns. */
        void accept(Batch batch);
    }

    private final Tasks tasks;
    private final Consumer consumer;
    private final FeedMeters meters;
    private final RingBuffer<Batch> ring;
    private final EventPoller<Batch> poller;
    private final Tasks.Worker worker;
    private final AtomicLong bytesInFlight = new AtomicLong();
    private volatile @Nullable Throwable failure;

    private long claimed = -1;
    private long published = -1;

    private Pipeline(Tasks tasks, String name, FeedMeters meters, Consumer consumer) {
        this.tasks = tasks;
        this.meters = meters;
        this.consumer = consumer;
        // The wait strategy is for consumers that block in the ring; this one is woken by Tasks.
        ring = RingBuffer.createSingleProducer(Batch::new, SLOT_COUNT, new YieldingWaitStrategy());
        poller = ring.newPoller();
        ring.addGatingSequences(poller.getSequence());
        meters.flowsThrough(this);
        worker = tasks.start(name, IDLE_MICROS, this::step);
    }

    /** Starts a worker called {@code name} that hands batches to {@code consumer}. */
    public static Pipeline start(Tasks tasks, String name, FeedMeters meters, Consumer consumer) {
        return new Pipeline(tasks, name, meters, consumer);
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

    @Override
    public boolean isDrained() {
        return failure != null || poller.getSequence().get() >= published;
    }

    @Override
    public boolean isSettled() {
        return isDrained();
    }

    /** How many batches were published, less one. */
    long published() {
        return published;
    }

    /** Whether all up to that one was taken by the consumer; never of a flow that has failed. */
    boolean isTaken(long sequence) {
        return failure == null && poller.getSequence().get() >= sequence;
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
        published = claimed;
        ring.publish(claimed);
        worker.wake();
    }

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
        worker.close();
    }

    /** Batches that are published and not taken yet. */
    long queueCount() {
        return Math.max(0, ring.getCursor() - poller.getSequence().get());
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
        if (failure != null) {
            return false;
        }
        try {
            boolean delivered = poller.poll(this::deliver) == EventPoller.PollState.PROCESSING;
            if (delivered) {
                tasks.signal();
            } else {
                meters.storeWaits();
            }
            return delivered;
        } catch (Exception | Error e) {
            fail(e);
            return false;
        }
    }

    /** Returns false to end the poll, which is what gives the slot back to the producer. */
    private boolean deliver(Batch batch, long sequence, boolean last) {
        long bytes = batch.byteCount();
        try {
            meters.storeBegins();
            consumer.accept(batch);
            meters.storeEnds(batch);
            batch.clear();
            bytesInFlight.addAndGet(-bytes);
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        return false;
    }

    private void fail(Throwable cause) {
        failure = cause;
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
