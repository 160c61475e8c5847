package io.turbidite.lsm.bitmap;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Kills that came while a flush or a merge builds the component that their entries will lie in (the
 * side-file of LUO19 §5.3): keys, which hold good whatever the ordinals will be, with the timestamps of
 * the successors.
 *
 * <pre>
 * kill := timestamp i64, keyBytes i32, key
 * </pre>
 *
 * <p>Off the heap, in blocks that are used again. Owned by the flush or merge. <em>Thread-safe</em> by its
 * monitor, held for a copy of a key; {@link #drain} hands kills out without it.
 */
public final class SideFile implements AutoCloseable {
    private static final int BLOCK_BYTES = 64 << 10;
    private static final int HEAD_BYTES = Long.BYTES + Integer.BYTES;

    private final MemoryBudget.Account account;
    private final Arena arena = Arena.ofShared();
    private final Deque<MemorySegment> free = new ArrayDeque<>();
    private List<MemorySegment> blocks = new ArrayList<>();

    /** Where the last block is full. */
    private long end = BLOCK_BYTES;

    /** Ends of the blocks before the last. */
    private List<Long> ends = new ArrayList<>();

    private long count;
    private long reservedBytes;

    public SideFile(MemoryBudget.Account account) {
        this.account = account;
    }

    /**
     * Adds a kill.
     *
     * @param key of the entry that has got a successor
     * @param timestamp the successor's
     */
    public synchronized void add(Slice key, long timestamp) {
        int bytes = HEAD_BYTES + key.length();
        if (end + bytes > BLOCK_BYTES) {
            if (!blocks.isEmpty()) {
                ends.add(end);
            }
            blocks.add(takeBlock());
            end = 0;
        }
        MemorySegment block = blocks.getLast();
        block.set(Bytes.I64, end, timestamp);
        block.set(Bytes.I32, end + Long.BYTES, key.length());
        MemorySegment.copy(key.segment(), key.offset(), block, end + HEAD_BYTES, key.length());
        end += bytes;
        count++;
    }

    private MemorySegment takeBlock() {
        MemorySegment block = free.poll();
        if (block == null) {
            LiveBitmap.reserve(account, BLOCK_BYTES);
            reservedBytes += BLOCK_BYTES;
            block = NativeMemory.allocate(arena, BLOCK_BYTES, Long.BYTES);
        }
        return block;
    }

    /** Kills that no {@link #drain} has taken. */
    public synchronized long count() {
        return count;
    }

    /** Takes out what was added so far and hands it to {@code out} in the order of adding. */
    public void drain(Visitor out) {
        List<MemorySegment> taken;
        List<Long> takenEnds;
        synchronized (this) {
            taken = blocks;
            takenEnds = ends;
            if (!taken.isEmpty()) {
                takenEnds.add(end);
            }
            blocks = new ArrayList<>();
            ends = new ArrayList<>();
            end = BLOCK_BYTES;
            count = 0;
        }
        Slice key = new Slice();
        for (int i = 0; i < taken.size(); i++) {
            MemorySegment block = taken.get(i);
            long blockEnd = takenEnds.get(i);
            for (long at = 0; at < blockEnd; ) {
                int keyBytes = block.get(Bytes.I32, at + Long.BYTES);
                out.kill(key.set(block, at + HEAD_BYTES, keyBytes), block.get(Bytes.I64, at));
                at += HEAD_BYTES + keyBytes;
            }
        }
        synchronized (this) {
            free.addAll(taken);
        }
    }

    /** Gives the memory back; nobody may add any more. */
    @Override
    public void close() {
        arena.close();
        account.release(reservedBytes);
    }

    /** Gets kills; the slice is valid during the call. */
    @FunctionalInterface
    public interface Visitor {
        void kill(Slice key, long timestamp);
    }
}
