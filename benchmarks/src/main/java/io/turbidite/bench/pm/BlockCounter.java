package io.turbidite.bench.pm;

import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionMode;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/**
 * Memory that counts which blocks of 256 bytes are read between two questions, each once. For one
 * reader while nobody writes.
 */
final class BlockCounter implements RegionMemory {
    private final RegionMemory memory;
    private final BitSet blocks = new BitSet();

    BlockCounter(RegionMemory memory) {
        this.memory = memory;
    }

    /** Different blocks that were read since the last call. */
    int takeBlocks() {
        int count = blocks.cardinality();
        blocks.clear();
        return count;
    }

    private void note(long offset, long byteCount) {
        blocks.set(
                (int) (offset / BLOCK_BYTES), (int) ((offset + byteCount - 1) / BLOCK_BYTES) + 1);
    }

    @Override
    public long getLong(long offset) {
        note(offset, Long.BYTES);
        return memory.getLong(offset);
    }

    @Override
    public void getBytes(long offset, MemorySegment target, long targetOffset, int byteCount) {
        note(offset, byteCount);
        memory.getBytes(offset, target, targetOffset, byteCount);
    }

    @Override
    public String name() {
        return memory.name();
    }

    @Override
    public RegionMode mode() {
        return memory.mode();
    }

    @Override
    public long byteSize() {
        return memory.byteSize();
    }

    @Override
    public void putLong(long offset, long value) {
        memory.putLong(offset, value);
    }

    @Override
    public boolean compareAndSwap(long offset, long expected, long value) {
        return memory.compareAndSwap(offset, expected, value);
    }

    @Override
    public void putBytes(long offset, MemorySegment source, long sourceOffset, int byteCount) {
        memory.putBytes(offset, source, sourceOffset, byteCount);
    }

    @Override
    public void writeBack(long offset, long byteCount) {
        memory.writeBack(offset, byteCount);
    }

    @Override
    public void fence() {
        memory.fence();
    }

    @Override
    public void force() {
        memory.force();
    }

    @Override
    public boolean grow(long byteCount) {
        return memory.grow(byteCount);
    }

    @Override
    public void close() {
        memory.close();
    }
}
