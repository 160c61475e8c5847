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
    private final AtomicLong cpuNanos = new AtomicLong();

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

    /** Processor time was spent, by whatever thread. */
    public void took(long nanos) {
        cpuNanos.addAndGet(nanos);
    }

    /** The most memory that it held at a time, of all its partitions together. */
    public long memoryBytesMax() {
        return memoryBytesMax.get();
    }

    /** Bytes written to temporary files. */
    public long spilledBytes() {
        return spilledBytes.get();
    }

    /** Processor time, as far as anybody looked at the clock. */
    public long cpuNanos() {
        return cpuNanos.get();
    }
}
