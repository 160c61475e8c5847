package io.turbidite.lsm.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Chunks that are poisoned when they come back, and counted, so that tests see leaks and stale
 * reads.
 */
public final class TestChunks implements ChunkSource, AutoCloseable {
    private final int chunkBytes;
    private final boolean poison;
    private final Arena arena = Arena.ofShared();
    private final ArrayDeque<MemorySegment> free = new ArrayDeque<>();
    private final AtomicInteger taken = new AtomicInteger();
    private int takenMax;

    public TestChunks(int chunkBytes) {
        this(chunkBytes, true, Integer.MAX_VALUE);
    }

    TestChunks(int chunkBytes, boolean poison, int takenMax) {
        this.chunkBytes = chunkBytes;
        this.poison = poison;
        this.takenMax = takenMax;
    }

    /** Of which no more than {@code takenMax} are given out at a time. */
    public static TestChunks atMost(int chunkBytes, int takenMax) {
        return new TestChunks(chunkBytes, true, takenMax);
    }

    /** Gives out as many from now on. */
    public synchronized void allow(int chunks) {
        takenMax = chunks;
    }

    @Override
    public int chunkBytes() {
        return chunkBytes;
    }

    @Override
    public synchronized MemorySegment take() {
        if (taken.get() == takenMax) {
            throw new IllegalStateException("no chunk left");
        }
        taken.incrementAndGet();
        MemorySegment chunk = free.poll();
        return chunk != null ? chunk : poison(arena.allocate(chunkBytes, 64));
    }

    @Override
    public synchronized void give(MemorySegment chunk) {
        taken.decrementAndGet();
        free.push(poison(chunk));
    }

    @Override
    public MemorySegment takeOversized(long bytes) {
        taken.incrementAndGet();
        return poison(arena.allocate(bytes, 8));
    }

    @Override
    public void giveOversized(MemorySegment piece) {
        taken.decrementAndGet();
        poison(piece);
    }

    private MemorySegment poison(MemorySegment segment) {
        return poison ? segment.fill((byte) 0xDB) : segment;
    }

    /** Chunks and pieces that are out. */
    public int taken() {
        return taken.get();
    }

    @Override
    public void close() {
        arena.close();
    }
}
