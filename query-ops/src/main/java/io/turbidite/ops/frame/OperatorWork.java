package io.turbidite.ops.frame;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What an operator took beside rows, all its partitions together: memory, files, time.
 * <em>Thread-safe</em> by atomic additions, each for much at once.
 */
public final class OperatorWork {
    private final AtomicLong memoryBytes = new AtomicLong();
    private final AtomicLong memoryBytesMax = new AtomicLong();
    private final AtomicLong spilledBytes = new AtomicLong();
    private final AtomicLong sampledNanos = new AtomicLong();
    private final AtomicLong exactNanos = new AtomicLong();
    private final AtomicLong besideNanos = new AtomicLong();

    /** Whether anybody looked at the clock, be it that it took nothing. */
    private volatile boolean isTimed;

    /**
     * Memory is taken or given back.
     *
     * @param bytes negative where it is given back
     */
    public void hold(long bytes) {
        long held = memoryBytes.addAndGet(bytes);
        if (bytes > 0 && held > memoryBytesMax.get()) {
            memoryBytesMax.accumulateAndGet(held, Math::max);
        }
    }

    /** Bytes were written to temporary files; those that are written again count again. */
    public void spilled(long bytes) {
        spilledBytes.addAndGet(bytes);
    }

    /** Processor time was spent, as samples say, by whatever thread. */
    public void took(long nanos) {
        isTimed = true;
        sampledNanos.addAndGet(nanos);
    }

    /**
     * Processor time was spent, all of it timed.
     *
     * @param isBeside whether by another thread than the one that reads the operator, whose own
     *     time does not have it
     */
    public void tookExactly(long nanos, boolean isBeside) {
        isTimed = true;
        exactNanos.addAndGet(nanos);
        if (isBeside) {
            besideNanos.addAndGet(nanos);
        }
    }

    /** The most memory that it held at a time, of all its partitions together. */
    public long memoryBytesMax() {
        return memoryBytesMax.get();
    }

    /** Bytes written to temporary files. */
    public long spilledBytes() {
        return spilledBytes.get();
    }

    /** Whether its time was taken. */
    public boolean isTimed() {
        return isTimed;
    }

    /** Processor time, as far as anybody looked at the clock. */
    public long cpuNanos() {
        return exactNanos.get() + sampledNanos.get();
    }

    /** What of {@link #cpuNanos} was timed from begin to end, not by samples. */
    public long exactNanos() {
        return exactNanos.get();
    }

    /** What of {@link #exactNanos} others spent than the thread that reads the operator. */
    public long besideNanos() {
        return besideNanos.get();
    }
}
