package io.turbidite.feeds;

import io.turbidite.core.meter.StoreEvent.SourceContinued;
import io.turbidite.core.meter.StoreEvent.SpillLost;
import io.turbidite.feeds.flow.FeedMeters;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * What the parse workers of a run and the run itself have in common. <em>Thread-safe.</em>
 *
 * <p>The <em>gate</em> lets one thread at a time use the source and its readers, where several
 * threads must not. Nobody waits in it: who finds it taken comes again.
 */
final class RunShare {
    final FeedRun.Parts parts;
    final FeedMeters meters;
    final PartitionDeal deal;
    final RunDelivery delivery;
    private final BooleanSupplier stopped;

    /** Whether there are several threads, and a source that is for one at a time. */
    private final boolean isGated;

    private final AtomicBoolean gate = new AtomicBoolean();
    private final AtomicLong batches = new AtomicLong();
    private final AtomicLong waiting = new AtomicLong();
    private final List<SourceContinued> continued = new CopyOnWriteArrayList<>();
    private volatile boolean resumed;
    private volatile boolean hasStopped;
    private volatile boolean ends;
    private volatile @Nullable Throwable failure;

    RunShare(
            FeedRun.Parts parts,
            FeedMeters meters,
            RunDelivery delivery,
            BooleanSupplier stopped,
            boolean hasThreads) {
        this.delivery = delivery;
        this.parts = parts;
        this.meters = meters;
        this.stopped = stopped;
        this.isGated = hasThreads && !parts.source().readsApart();
        this.deal = new PartitionDeal();
    }

    /** Whether what a worker does with the source is to be done within the gate. */
    boolean isGated() {
        return isGated;
    }

    /** Whether the caller may use the source now, until it calls {@link #exit}. */
    boolean tryEnter() {
        return !isGated || gate.compareAndSet(false, true);
    }

    void exit() {
        gate.set(false);
    }

    /** Once it was asked to stop a run stays stopped. */
    boolean isStopped() {
        if (!hasStopped && stopped.getAsBoolean()) {
            hasStopped = true;
        }
        return hasStopped;
    }

    /** The workers read no more. */
    void end() {
        ends = true;
    }

    /** Whether a worker is to read no more. */
    boolean isOver() {
        return ends || failure != null || isStopped();
    }

    /** The first failure of a worker ends the run. */
    synchronized void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    /** Throws the first failure of a worker. */
    void rethrow() {
        switch (failure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
    }

    boolean hasFailed() {
        return failure != null;
    }

    // ---- what is counted

    /** A batch was published. */
    void published() {
        batches.incrementAndGet();
    }

    long batches() {
        return batches.get();
    }

    void waits(long unfinished) {
        waiting.addAndGet(unfinished);
    }

    long waiting() {
        return waiting.get();
    }

    void resumes() {
        resumed = true;
    }

    boolean resumed() {
        return resumed;
    }

    void continues(SourceContinued told) {
        continued.add(told);
        parts.events().publish(told);
    }

    /** Something that was acknowledged lay in a file of a spill, and can't be delivered. */
    void lost(String file, String how) {
        parts.events().publish(new SpillLost(parts.clock().wallMicros(), parts.feed(), file, how));
    }

    List<SourceContinued> continued() {
        return List.copyOf(continued);
    }
}
