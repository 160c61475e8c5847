package io.turbidite.lsm.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Chunks that the garbage collector frees: Lincheck makes components by the thousand and closes
 * none. <em>Immutable.</em>
 */
public final class CollectedChunks implements ChunkSource {
    @Override
    public int chunkBytes() {
        return ChunkArena.CHUNK_BYTES_MIN;
    }

    @Override
    public MemorySegment take() {
        return Arena.ofAuto().allocate(chunkBytes(), ChunkArena.LINE_BYTES);
    }

    @Override
    public void give(MemorySegment chunk) {}

    @Override
    public MemorySegment takeOversized(long bytes) {
        return Arena.ofAuto().allocate(bytes, 8);
    }

    @Override
    public void giveOversized(MemorySegment piece) {}
}
