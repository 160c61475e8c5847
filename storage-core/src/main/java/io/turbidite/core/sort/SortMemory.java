package io.turbidite.core.sort;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Where a {@link SortBuffer} gets its memory, and where its bound is known. <em>Confined to one
 * thread at a time.</em>
 */
public interface SortMemory extends AutoCloseable {
    /**
     * A piece below 2 GiB, as large as is good for what comes next; null where the bound is
     * reached.
     *
     * @param bytesMin what it must have at least
     */
    @Nullable
    MemorySegment take(long bytesMin);

    /** Takes back what {@link #take} handed out. */
    void give(MemorySegment piece);

    /** Called when all pieces are given back and no more are needed. */
    @Override
    default void close() {}
}
