package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Invalidations that came while a flush or a merge builds the component that their entries will lie
 * in (the side-file of LUO19 §5.3): keys, which hold good whatever the ordinals will be, with the
 * timestamps of the successors.
 *
 * <pre>
 * invalidation := timestamp i64, keyBytes i32, key
 * </pre>
 *
 * <p>Off the heap, in blocks; grows by 12 bytes and a key for each entry that is superseded
 * meanwhile, until its account has no more: then it takes nothing further and says so
 * ({@link #isFull}), and whoever reads it gets the invalidations elsewhere. <em>Thread-safe</em> by
 * its monitor, held for a copy of a key; invalidations are read without it.
 */
final class SideFile implements AutoCloseable {
    static final int BLOCK_BYTES = 64 << 10;
    private static final int HEAD_BYTES = Long.BYTES + Integer.BYTES;

    private final MemoryBudget.Account account;
    private Arena arena = NativeMemory.shared("a side-file");
    private final List<MemorySegment> blocks = new ArrayList<>();

    /** Where each block but the last ends. */
    private final List<Long> ends = new ArrayList<>();

    /** Where the last block ends. */
    private long end = BLOCK_BYTES;

    private long count;
    private boolean full;

    /** Memory held; changes under the monitor. */
    private volatile long bytesUsed;

    /**
     * @param account pays for the memory
     */
    SideFile(MemoryBudget.Account account) {
        this.account = account;
    }

    /**
     * Adds an invalidation.
     *
     * @param key of the entry that has got a successor
     * @param timestamp the successor's
     * @return false if the file is full
     */
    synchronized boolean add(Slice key, long timestamp) {
        int bytes = HEAD_BYTES + key.length();
        if (full) {
            return false;
        }
        if (end + bytes > BLOCK_BYTES) {
            if (!account.reserve(BLOCK_BYTES)) {
                full = true;
                return false;
            }
            MemorySegment made = null;
            try {
                made = NativeMemory.allocate(arena, BLOCK_BYTES, Long.BYTES);
            } finally {
                if (made == null) {
                    account.release(BLOCK_BYTES);
                }
            }
            if (!blocks.isEmpty()) {
                ends.add(end);
            }
            blocks.add(made);
            bytesUsed = (long) blocks.size() * BLOCK_BYTES;
            end = 0;
        }
        MemorySegment block = blocks.getLast();
        block.set(Bytes.I64, end, timestamp);
        block.set(Bytes.I32, end + Long.BYTES, key.length());
        MemorySegment.copy(key.segment(), key.offset(), block, end + HEAD_BYTES, key.length());
        end += bytes;
        count++;
        return true;
    }

    /** Whether an invalidation was not taken since the file was last empty. */
    synchronized boolean isFull() {
        return full;
    }

    /** Forgets all invalidations and gives their memory back; every reader starts anew. */
    synchronized void restart() {
        close();
        arena = NativeMemory.shared("a side-file");
        ends.clear();
        end = BLOCK_BYTES;
        count = 0;
        full = false;
    }

    /** Memory held. */
    long bytesUsed() {
        return bytesUsed;
    }

    /** Invalidations added so far. */
    synchronized long count() {
        return count;
    }

    /** A reader that stands before the first invalidation. */
    Reader reader() {
        return new Reader();
    }

    /** Gives the memory back; nobody may add or read any more. */
    @Override
    public synchronized void close() {
        arena.close();
        account.release(bytesUsed);
        blocks.clear();
        bytesUsed = 0;
    }

    /** Reads the invalidations in the order of adding. <em>Confined to one thread.</em> */
    final class Reader {
        private final Slice key = new Slice();
        private int block;
        private long offset;
        private long readCount;

        private Reader() {}

        /** Hands the invalidations that were added since the last call to {@code out}. */
        void read(Visitor out) {
            List<MemorySegment> seen;
            List<Long> seenEnds;
            synchronized (SideFile.this) {
                seen = blocks.subList(block, blocks.size()).stream().toList();
                seenEnds = new ArrayList<>(ends.subList(Math.min(block, ends.size()), ends.size()));
                seenEnds.add(end);
            }
            for (int i = 0; i < seen.size(); i++) {
                if (i > 0) {
                    block++;
                    offset = 0;
                }
                readBlock(seen.get(i), seenEnds.get(i), out);
            }
        }

        private void readBlock(MemorySegment from, long fromEnd, Visitor out) {
            while (offset < fromEnd) {
                int keyBytes = from.get(Bytes.I32, offset + Long.BYTES);
                long timestamp = from.get(Bytes.I64, offset);
                key.set(from, offset + HEAD_BYTES, keyBytes);
                offset += HEAD_BYTES + keyBytes;
                readCount++;
                out.invalidate(key, timestamp);
            }
        }

        /** Invalidations that were added and not read yet. */
        long leftCount() {
            return count() - readCount;
        }
    }

    /** Gets invalidations; the slice is valid during the call. */
    @FunctionalInterface
    interface Visitor {
        void invalidate(Slice key, long timestamp);
    }
}
