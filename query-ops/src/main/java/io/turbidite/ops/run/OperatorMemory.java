package io.turbidite.ops.run;

import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * What one operator keeps, within its bound: bytes in chunks off the heap, addressed by a long, and a
 * charge for arrays on the heap. Freed as a whole.
 *
 * <p>The first chunk is small and left to the garbage collector, so that a query over a few rows pays
 * nothing for its end; later ones are of one shared arena, closed with the operator, because a store
 * that makes no garbage would see no collection for a long time.
 *
 * <p><em>Confined to one thread at a time.</em>
 */
public final class OperatorMemory implements AutoCloseable {
    private static final int CHUNK_BYTES_FIRST = 16 << 10;
    private static final int CHUNK_BYTES_MAX = 1 << 20;
    private static final int ALIGNMENT = 8;

    private final long bytesMax;
    private final List<MemorySegment> chunks = new ArrayList<>();
    private @Nullable Arena arena;
    private long chunkBytes;
    private long chargedBytes;
    private int current = -1;
    private long used;

    private OperatorMemory(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    public static OperatorMemory of(long bytesMax) {
        return new OperatorMemory(bytesMax);
    }

    /** The bound. */
    public long bytesMax() {
        return bytesMax;
    }

    /** Bytes held in chunks and charged. */
    public long bytesUsed() {
        return chunkBytes + chargedBytes;
    }

    /**
     * Sets the charge for arrays on the heap; false, and nothing changes, where the bound is reached.
     */
    public boolean charge(long bytes) {
        if (chunkBytes + bytes > bytesMax) {
            return false;
        }
        chargedBytes = bytes;
        return true;
    }

    /** Makes room for {@code bytes}; returns its address, or -1 where the bound is reached. */
    public long allocate(int bytes) {
        while (current >= 0 && used + bytes > chunks.get(current).byteSize()) {
            if (current + 1 == chunks.size()) {
                break;
            }
            current++;
            used = 0;
        }
        if (current < 0 || used + bytes > chunks.get(current).byteSize()) {
            if (!grow(bytes)) {
                return -1;
            }
        }
        long address = ((long) current << Integer.SIZE) | used;
        used += (bytes + ALIGNMENT - 1) & -ALIGNMENT;
        return address;
    }

    /** The chunk of an address. */
    public MemorySegment segment(long address) {
        return chunks.get((int) (address >>> Integer.SIZE));
    }

    /** Where in its chunk an address is. */
    public static long offset(long address) {
        return address & 0xFFFF_FFFFL;
    }

    /** Forgets everything allocated; chunks are kept for what comes. */
    public void clear() {
        current = chunks.isEmpty() ? -1 : 0;
        used = 0;
    }

    @Override
    public void close() {
        chunks.clear();
        current = -1;
        used = 0;
        chunkBytes = 0;
        chargedBytes = 0;
        if (arena != null) {
            arena.close();
            arena = null;
        }
    }

    private boolean grow(int bytes) {
        long size = chunks.isEmpty()
                ? CHUNK_BYTES_FIRST
                : Math.min(CHUNK_BYTES_MAX, chunks.getLast().byteSize() * 4);
        size = Math.max(size, bytes);
        long left = bytesMax - chunkBytes - chargedBytes;
        if (size > left) {
            // the last chunk may be a short one, so that the bound is used up
            size = left & -ALIGNMENT;
        }
        if (size < bytes) {
            return false;
        }
        chunks.add(arenaOfNext().allocate(size, ALIGNMENT));
        chunkBytes += size;
        current = chunks.size() - 1;
        used = 0;
        return true;
    }

    private Arena arenaOfNext() {
        if (chunks.isEmpty()) {
            return Arena.ofAuto();
        }
        if (arena == null) {
            arena = NativeMemory.shared("operator memory");
        }
        return arena;
    }
}
