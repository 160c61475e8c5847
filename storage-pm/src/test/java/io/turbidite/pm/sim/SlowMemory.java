package io.turbidite.pm.sim;

import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionMode;

import java.lang.foreign.MemorySegment;

/**
 * Another memory whose users do something after each copy that they take, such as to linger, or
 * before each fence: so that what others do comes between a look at one place and at the next, or
 * between two steps of the writer. Owns the other memory.
 */
public final class SlowMemory implements RegionMemory {
    private final RegionMemory memory;
    private final Runnable afterCopy;
    private final Runnable beforeFence;

    public SlowMemory(RegionMemory memory, Runnable afterCopy) {
        this(memory, afterCopy, () -> {});
    }

    public SlowMemory(RegionMemory memory, Runnable afterCopy, Runnable beforeFence) {
        this.memory = memory;
        this.afterCopy = afterCopy;
        this.beforeFence = beforeFence;
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
    public long getLong(long offset) {
        return memory.getLong(offset);
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
    public void getBytes(long offset, MemorySegment target, long targetOffset, int byteCount) {
        memory.getBytes(offset, target, targetOffset, byteCount);
        afterCopy.run();
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
        beforeFence.run();
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
