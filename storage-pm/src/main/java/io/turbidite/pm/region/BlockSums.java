package io.turbidite.pm.region;

import io.turbidite.core.bytes.Xxh3;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;

/**
 * One number for the contents of all blocks behind the header: that of a file whose pages the
 * system wrote back in any order is almost surely another one. It follows changes without reading
 * the rest: the exclusive or of a hash for each block, mixed with the block's place.
 *
 * <p><em>Confined to the writer.</em> Costs 8 bytes for each block of 4 KiB.
 */
final class BlockSums {
    static final int BYTES = 4_096;

    /** The header's two pages. */
    private static final int FIRST = 2 * RegionHeader.SLOT_STRIDE / BYTES;

    private final RegionMemory memory;
    private final byte[] copy = new byte[BYTES];
    private final MemorySegment copySegment = MemorySegment.ofArray(copy);
    private final long zeroHash = Xxh3.hash(new byte[BYTES], 0, BYTES);
    private final BitSet changed = new BitSet();
    private long[] hashes = {};
    private long sum;

    BlockSums(RegionMemory memory) {
        this.memory = memory;
    }

    /** Notes a range that was stored to. */
    void changed(long offset, long byteCount) {
        changed.set((int) (offset / BYTES), (int) ((offset + byteCount - 1) / BYTES) + 1);
    }

    /** The sum over all blocks as they are now. */
    long update() {
        int blockCount = (int) (memory.byteSize() / BYTES);
        int before = hashes.length;
        if (before < blockCount) {
            hashes = Arrays.copyOf(hashes, blockCount);
            for (int block = Math.max(FIRST, before); block < blockCount; block++) {
                hashes[block] = zeroHash;
                sum ^= placed(block, zeroHash);
            }
        }
        for (int block = changed.nextSetBit(FIRST);
                block >= 0;
                block = changed.nextSetBit(block + 1)) {
            memory.getBytes((long) block * BYTES, copySegment, 0, BYTES);
            long hash = Xxh3.hash(copy, 0, BYTES);
            sum ^= placed(block, hashes[block]) ^ placed(block, hash);
            hashes[block] = hash;
        }
        changed.clear();
        return sum;
    }

    private static long placed(int block, long hash) {
        return CheckedWord.mix(hash + CheckedWord.mix(block));
    }
}
