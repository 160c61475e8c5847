package io.turbidite.lsm.memory;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The memory of one component: pieces are allocated, never freed one by one, and all given back at
 * once.
 *
 * <p>A piece is named by a <em>ref</em>: an unsigned 32-bit number of 8-byte units over all chunks,
 * so that a reference in a node costs four bytes and a component may hold 32 GiB. Ref 0 is none.
 *
 * <p>Writers allocate entries without a lock: each thread has a stripe, each stripe a block cut
 * from the newest chunk, and its free rest and entry count in one word that is moved by
 * compare-and-swap. Blocks start small, so that a small component takes little, and grow with it.
 *
 * <p><em>Thread-safe</em> by the stripe words and one lock for cutting blocks; {@link #close()}
 * needs that nobody uses the arena any more.
 */
final class ChunkArena {
    /** Bytes in a unit of a ref. */
    static final int UNIT_BYTES = 8;

    /** A cache line; nodes begin on one. */
    static final int LINE_BYTES = 64;

    private static final int LINE_UNITS = LINE_BYTES / UNIT_BYTES;
    private static final int STRIPE_COUNT = 16;

    /** Longs between two stripes: two lines, as the prefetcher pulls lines in pairs. */
    private static final int STRIPE_STRIDE_SHIFT = 4;

    static final int CHUNK_BYTES_MIN = 64 << 10;
    private static final int CHUNK_BYTES_MAX = 64 << 20;
    private static final int BLOCK_BYTES_MIN = 4 << 10;

    /** Block bytes to grow to; its units need 15 bits of the stripe word. */
    private static final int BLOCK_BYTES_MAX = 128 << 10;

    /** A component's blocks are this part of what it has already. */
    private static final int BLOCK_GROWTH_SHIFT = 4;

    /**
     * A piece larger than this part of a block gets its own cut, to bound what a block's end
     * wastes.
     */
    private static final int DIRECT_SHIFT = 3;

    // stripe word: ref of the first free unit (32 bits), free units (15), entries allocated (17)
    private static final int FREE_SHIFT = 17;
    private static final int FREE_MASK = (1 << 15) - 1;
    private static final int COUNT_MASK = (1 << FREE_SHIFT) - 1;
    private static final long WORD_PER_UNIT = (1L << 32) - (1L << FREE_SHIFT);

    private static final AtomicInteger STRIPES_DEALT = new AtomicInteger();

    /** Threads get stripes in turn: up to 16 writers never meet on one. */
    private static final ThreadLocal<Integer> STRIPE = ThreadLocal.withInitial(
            () -> (STRIPES_DEALT.getAndIncrement() & (STRIPE_COUNT - 1)) << STRIPE_STRIDE_SHIFT);

    private final ChunkSource source;
    private final int chunkUnitsShift;
    private final int chunkUnitsMask;
    private final int blockBytesMax;
    private final AtomicLongArray stripes =
            new AtomicLongArray(STRIPE_COUNT << STRIPE_STRIDE_SHIFT);

    /** Guards everything below; written under it, {@code volatile} where read without. */
    private final ReentrantLock cutting = new ReentrantLock();

    private volatile MemorySegment[] chunks = new MemorySegment[16];
    private int chunkCount;

    /** First uncut unit and end of the newest chunk, as refs. */
    private long cutFrom;

    private long cutEnd;

    /** First and end of the uncut units for nodes, as refs. */
    private long nodeFrom;

    private long nodeEnd;
    private int spareNode;
    private int spareNodeBytes;
    private volatile MemorySegment[] oversized = new MemorySegment[0];
    private volatile int blockUnits = BLOCK_BYTES_MIN / UNIT_BYTES;
    private final AtomicLong bytesUsed = new AtomicLong();
    private final AtomicLong settledEntryCount = new AtomicLong();

    ChunkArena(ChunkSource source) {
        int chunkBytes = source.chunkBytes();
        if (Integer.bitCount(chunkBytes) != 1
                || chunkBytes < CHUNK_BYTES_MIN
                || chunkBytes > CHUNK_BYTES_MAX) {
            throw new IllegalArgumentException("chunk of " + chunkBytes + " bytes");
        }
        this.source = source;
        this.chunkUnitsShift = Integer.numberOfTrailingZeros(chunkBytes / UNIT_BYTES);
        this.chunkUnitsMask = (1 << chunkUnitsShift) - 1;
        this.blockBytesMax = Math.min(BLOCK_BYTES_MAX, chunkBytes / 4);
    }

    /** The chunk that {@code ref} lies in. */
    MemorySegment chunk(int ref) {
        return chunks[ref >>> chunkUnitsShift];
    }

    /** Bytes from the start of its chunk to {@code ref}. */
    long offset(int ref) {
        return (long) (ref & chunkUnitsMask) * UNIT_BYTES;
    }

    MemorySegment oversized(int index) {
        return oversized[index];
    }

    /**
     * Largest piece that {@link #allocateEntry} takes: what fits into any chunk, the first
     * included.
     */
    int pieceBytesMax() {
        return (chunkUnitsMask + 1) * UNIT_BYTES - LINE_BYTES;
    }

    /** Bytes cut from chunks, and oversized pieces. */
    long bytesUsed() {
        return bytesUsed.get();
    }

    /** Pieces allocated for entries, less those uncounted; near the truth while others allocate. */
    long entryCount() {
        long count = settledEntryCount.get();
        for (int i = 0; i < STRIPE_COUNT; i++) {
            count += stripes.get(i << STRIPE_STRIDE_SHIFT) & COUNT_MASK;
        }
        return count;
    }

    /** Takes an entry that stands in for another out of the count. */
    void uncountEntry() {
        settledEntryCount.decrementAndGet();
    }

    /**
     * A piece for an entry; counts it.
     *
     * @param bytes at most {@link #pieceBytesMax()}
     */
    int allocateEntry(int bytes) {
        int units = (bytes + UNIT_BYTES - 1) / UNIT_BYTES;
        int stripe = STRIPE.get();
        while (true) {
            long word = stripes.get(stripe);
            if (((int) (word >>> FREE_SHIFT) & FREE_MASK) < units) {
                return refill(stripe, units);
            }
            if (stripes.compareAndSet(stripe, word, word + units * WORD_PER_UNIT + 1)) {
                return (int) (word >>> 32);
            }
        }
    }

    private int refill(int stripe, int units) {
        cutting.lock();
        try {
            int wanted = blockUnits;
            if (units > wanted >> DIRECT_SHIFT) {
                int ref = cut(units, 1);
                settledEntryCount.incrementAndGet();
                return ref;
            }
            // the rest of a chunk makes a last, shorter block
            long rest = cutEnd - cutFrom;
            int block = rest >= units && rest < wanted ? (int) rest : wanted;
            long ref = Integer.toUnsignedLong(cut(block, 1));
            long word = (ref << 32) | ((long) block << FREE_SHIFT);
            long old = stripes.getAndSet(stripe, word + units * WORD_PER_UNIT + 1);
            settledEntryCount.addAndGet(old & COUNT_MASK);
            return (int) ref;
        } finally {
            cutting.unlock();
        }
    }

    /** A piece that begins on a cache line; its content is whatever was there. */
    int allocateNode(int bytes) {
        int units = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_UNITS;
        int ref;
        cutting.lock();
        try {
            if (spareNode != 0 && spareNodeBytes == bytes) {
                ref = spareNode;
                spareNode = 0;
            } else {
                if (nodeEnd - nodeFrom < units) {
                    int block = Math.max(units, blockUnits / 2);
                    nodeFrom = Integer.toUnsignedLong(cut(block, LINE_UNITS));
                    nodeEnd = nodeFrom + block;
                }
                ref = (int) nodeFrom;
                nodeFrom += units;
            }
        } finally {
            cutting.unlock();
        }
        return ref;
    }

    /**
     * Takes back a node that was not used. One is kept; a race that leaves two wastes the second.
     */
    void giveNode(int ref, int bytes) {
        cutting.lock();
        try {
            spareNode = ref;
            spareNodeBytes = bytes;
        } finally {
            cutting.unlock();
        }
    }

    /** Room of its own, for what does not fit into a chunk; the index names it. */
    int allocateOversized(long bytes) {
        MemorySegment piece = source.takeOversized(bytes);
        cutting.lock();
        try {
            MemorySegment[] grown = Arrays.copyOf(oversized, oversized.length + 1);
            grown[oversized.length] = piece;
            oversized = grown;
            bytesUsed.addAndGet(bytes);
            return grown.length - 1;
        } finally {
            cutting.unlock();
        }
    }

    private int cut(int units, int alignmentUnits) {
        long from = (cutFrom + alignmentUnits - 1) & -alignmentUnits;
        if (from + units <= cutEnd) {
            cutFrom = from + units;
        } else {
            long restFrom = cutFrom;
            long restEnd = cutEnd;
            addChunk();
            from = (cutFrom + alignmentUnits - 1) & -alignmentUnits;
            cutFrom = from + units;
            if (restEnd - restFrom > cutEnd - cutFrom) {
                // a large piece filled the new chunk: the old one has more left
                cutFrom = restFrom;
                cutEnd = restEnd;
            }
        }
        long bytes = bytesUsed.addAndGet((long) units * UNIT_BYTES);
        long block = Long.highestOneBit(bytes >>> BLOCK_GROWTH_SHIFT);
        blockUnits = Math.clamp(block, BLOCK_BYTES_MIN, blockBytesMax) / UNIT_BYTES;
        return (int) from;
    }

    private void addChunk() {
        int chunkUnits = chunkUnitsMask + 1;
        long from = (long) chunkCount * chunkUnits;
        if (from + chunkUnits > 1L << 32) {
            throw new IllegalStateException("a memory component of 32 GiB is full");
        }
        MemorySegment chunk = source.take();
        MemorySegment[] known = chunks;
        if (chunkCount == known.length) {
            known = Arrays.copyOf(known, chunkCount * 2);
        }
        known[chunkCount++] = chunk;
        // the volatile write publishes the element to whoever meets a ref into it
        chunks = known;
        // the first unit is never handed out: ref 0 is none
        cutFrom = from == 0 ? 1 : from;
        cutEnd = from + chunkUnits;
    }

    /** Gives all memory back; a second close does nothing. */
    void close() {
        cutting.lock();
        try {
            for (int i = 0; i < chunkCount; i++) {
                source.give(chunks[i]);
            }
            for (MemorySegment piece : oversized) {
                source.giveOversized(piece);
            }
            chunkCount = 0;
            chunks = new MemorySegment[0];
            oversized = new MemorySegment[0];
        } finally {
            cutting.unlock();
        }
    }
}
