package io.turbidite.lsm.memory;

import java.lang.foreign.MemorySegment;

/**
 * Where memory components get their memory: equal chunks off the heap, taken and given back.
 *
 * <p><em>Thread-safe.</em>
 */
public interface ChunkSource {
    /** Bytes in every chunk: a power of two, 64 KiB to 64 MiB. */
    int chunkBytes();

    /**
     * A chunk aligned to 64 bytes; its content is whatever was there.
     *
     * @throws io.turbidite.core.StorageException if there is none; a put that needs it fails then,
     *     and changes nothing
     */
    MemorySegment take();

    /** Takes back what {@link #take()} handed out. */
    void give(MemorySegment chunk);

    /**
     * A piece of its own for an entry that does not fit into a chunk; throws like {@link #take()}.
     */
    MemorySegment takeOversized(long bytes);

    /** Takes back what {@link #takeOversized} handed out. */
    void giveOversized(MemorySegment piece);
}
