package io.turbidite.core.memory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A piece of a {@link ChunkPool}, held by whoever acquired it until released.
 *
 * <p><em>Owned by one holder at a time</em>, who decides which threads touch its bytes. The bytes
 * are whatever the last holder left; nothing is zeroed.
 */
public final class Chunk {
    private final MemorySegment segment;

    /** Of a chunk larger than the pool's, which is freed rather than recycled. */
    final @Nullable Arena ownArena;

    /** Guarded by the pool's lock. */
    boolean held;

    Chunk(MemorySegment segment, @Nullable Arena ownArena) {
        this.segment = segment;
        this.ownArena = ownArena;
    }

    /** The memory; must not be touched after the release. Access after the pool's close throws. */
    public MemorySegment segment() {
        return segment;
    }

    /** How many bytes it has. */
    public long byteSize() {
        return segment.byteSize();
    }
}
