package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.lsm.memory.ChunkSource;

import java.lang.foreign.MemorySegment;

/**
 * Timestamps of a range, a bit for each, out of the write memory. <em>Confined to one thread at a
 * time</em> while they are added, immutable afterwards, until the owner closes it.
 */
final class TimestampSet implements AutoCloseable {
    private final long base;
    private final ChunkSource memory;
    private final MemorySegment bits;

    private TimestampSet(long base, ChunkSource memory, MemorySegment bits) {
        this.base = base;
        this.memory = memory;
        this.bits = bits;
    }

    /**
     * An empty set of timestamps from {@code base} to {@code last}.
     *
     * @throws io.turbidite.core.StorageException if there is no memory
     */
    static TimestampSet of(long base, long last, ChunkSource memory) {
        long bytes = bytes(base, last);
        MemorySegment bits = memory.takeOversized(bytes);
        bits.asSlice(0, bytes).fill((byte) 0);
        return new TimestampSet(base, memory, bits);
    }

    /** What it takes. */
    static long bytes(long base, long last) {
        return ((last - base) / Long.SIZE + 1) * Long.BYTES;
    }

    /** Adds a timestamp of the range. */
    void add(long timestamp) {
        long at = timestamp - base;
        long offset = at / Long.SIZE * Long.BYTES;
        bits.set(Bytes.I64, offset, bits.get(Bytes.I64, offset) | 1L << at);
    }

    /** Whether it was added; for any that is not above the range. */
    boolean has(long timestamp) {
        long at = timestamp - base;
        return at >= 0 && (bits.get(Bytes.I64, at / Long.SIZE * Long.BYTES) >>> at & 1) != 0;
    }

    @Override
    public void close() {
        memory.giveOversized(bits);
    }
}
