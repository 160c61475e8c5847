package io.turbidite.lsm.engine;

import io.turbidite.core.StoreFailedException;
import io.turbidite.core.memory.Chunk;
import io.turbidite.core.memory.ChunkPool;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.lsm.memory.ChunkSource;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The memory that memory components take their chunks from. Writers are held back before they enter
 * a gate, so that what is unflushed stays within the write memory; layers that are flushed but
 * still pinned by readers come on top.
 *
 * <p><em>Thread-safe.</em>
 */
public final class WriteMemory implements ChunkSource, AutoCloseable {
    private static final int CHUNK_BYTES_MIN = 64 << 10;
    private static final int CHUNK_BYTES_MAX = 1 << 20;

    private final ChunkPool pool;
    private final ConcurrentHashMap<Long, Chunk> held = new ConcurrentHashMap<>();

    WriteMemory(MemoryBudget.Account account, long writeMemoryBytes) {
        // 256 chunks or more, so that small components of many indexes don't eat the memory up
        long wanted = Long.highestOneBit(Math.max(1, writeMemoryBytes / 256));
        int chunkBytes = Math.clamp(wanted, CHUNK_BYTES_MIN, CHUNK_BYTES_MAX);
        this.pool = ChunkPool.create("memory components", account, chunkBytes);
    }

    @Override
    public int chunkBytes() {
        return pool.chunkBytes();
    }

    @Override
    public MemorySegment take() {
        return hold(pool.acquire());
    }

    @Override
    public MemorySegment takeOversized(long bytesMin) {
        return hold(pool.acquire(bytesMin));
    }

    private MemorySegment hold(@Nullable Chunk chunk) {
        if (chunk == null) {
            throw new StoreFailedException("no memory is left for memory components", null);
        }
        held.put(chunk.segment().address(), chunk);
        return chunk.segment();
    }

    @Override
    public void give(MemorySegment chunk) {
        Chunk released = held.remove(chunk.address());
        if (released == null) {
            throw new IllegalArgumentException("a chunk is given back that was not taken");
        }
        pool.release(released);
    }

    @Override
    public void giveOversized(MemorySegment chunk) {
        give(chunk);
    }

    /** Chunks taken and not given back; for leak checks. */
    public int heldCount() {
        return pool.heldCount();
    }

    @Override
    public void close() {
        pool.close();
    }
}
