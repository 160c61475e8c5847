package io.turbidite.pm.sim;

import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionMode;

import java.lang.foreign.MemorySegment;

/** Memory whose write-backs and fences have a planted bug; all else is as in the simulation. */
public final class FaultyMemory implements RegionMemory {
    /** What is planted. */
    public enum Bug {
        NONE,
        /** Every third fence is left out. */
        MISSING_FENCE,
        /** Of a range of several lines the last one is not written back. */
        HALF_WRITTEN_BACK,
        /** What is written back before a fence comes after the fence, but for single lines. */
        POINTER_BEFORE_DATA
    }

    private final SimMemory memory;
    private final Bug bug;
    private int fences;
    private long lateOffset = -1;
    private long lateBytes;

    public FaultyMemory(SimMemory memory, Bug bug) {
        this.memory = memory;
        this.bug = bug;
        if (bug != Bug.NONE) {
            memory.beLenient();
        }
    }

    @Override
    public void writeBack(long offset, long byteCount) {
        long lineCount = (offset + byteCount - 1) / LINE_BYTES - offset / LINE_BYTES + 1;
        if (bug == Bug.HALF_WRITTEN_BACK && lineCount > 1) {
            memory.writeBack(offset, byteCount - LINE_BYTES);
        } else if (bug == Bug.POINTER_BEFORE_DATA && lineCount > 1 && lateOffset < 0) {
            lateOffset = offset;
            lateBytes = byteCount;
        } else {
            memory.writeBack(offset, byteCount);
        }
    }

    @Override
    public void fence() {
        fences++;
        if (bug == Bug.MISSING_FENCE && fences % 3 == 0) {
            return;
        }
        memory.fence();
        if (lateOffset >= 0) {
            memory.writeBack(lateOffset, lateBytes);
            lateOffset = -1;
        }
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
    }

    @Override
    public void putBytes(long offset, MemorySegment source, long sourceOffset, int byteCount) {
        memory.putBytes(offset, source, sourceOffset, byteCount);
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
