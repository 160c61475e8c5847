package io.turbidite.core.sim;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;

/**
 * A file's bytes in chunks of 4 KiB that are shared between maps until one of them writes.
 *
 * <p><em>Confined to the disk's lock.</em> Invariants:
 *
 * <ol>
 *   <li>a chunk that is not in {@code owned} may be in other maps too and is never written;
 *   <li>a table that is marked shared is never written;
 *   <li>bytes from {@code size} to the end of the table are zero, so that growing needs no work;
 *   <li>a chunk of zeros that was never written is the one shared {@code HOLE}.
 * </ol>
 *
 * <p>So {@link #share} costs nothing by size, and a crash image of a file of 64 MiB of which
 * nothing is dirty is two small objects.
 */
@SuppressWarnings("ReferenceEquality") // whether two maps share a chunk is a matter of identity
final class SectorMap {
    static final int SECTOR_BYTES = 512;
    static final int CHUNK_BYTES = 4_096;
    static final int CHUNK_SECTORS = CHUNK_BYTES / SECTOR_BYTES;

    private static final byte[] HOLE = new byte[CHUNK_BYTES];
    private static final byte[][] NO_CHUNKS = {};

    private byte[][] chunks = NO_CHUNKS;
    private boolean tableShared;
    private BitSet owned = new BitSet();
    private long size;

    long size() {
        return size;
    }

    /** A map with the same bytes; both go on by themselves. */
    SectorMap share() {
        SectorMap other = new SectorMap();
        other.chunks = chunks;
        other.size = size;
        other.tableShared = true;
        tableShared = true;
        owned = new BitSet();
        return other;
    }

    int read(long offset, MemorySegment target, long targetOffset, int byteCount) {
        int count = (int) Math.max(0, Math.min(byteCount, size - offset));
        for (int done = 0; done < count; ) {
            long at = offset + done;
            int inChunk = (int) (at % CHUNK_BYTES);
            int step = Math.min(count - done, CHUNK_BYTES - inChunk);
            byte[] chunk = chunks[chunkIndex(at)];
            MemorySegment.copy(chunk, inChunk, target, Bytes.U8, targetOffset + done, step);
            done += step;
        }
        return count;
    }

    void write(long offset, MemorySegment source, long sourceOffset, int byteCount) {
        if (byteCount == 0) {
            return;
        }
        grow(offset + byteCount);
        for (int done = 0; done < byteCount; ) {
            long at = offset + done;
            int inChunk = (int) (at % CHUNK_BYTES);
            int step = Math.min(byteCount - done, CHUNK_BYTES - inChunk);
            int index = chunkIndex(at);
            if (chunks[index] != HOLE || !isZero(source, sourceOffset + done, step)) {
                byte[] chunk = chunkForWrite(index);
                MemorySegment.copy(source, Bytes.U8, sourceOffset + done, chunk, inChunk, step);
            }
            done += step;
        }
    }

    /** Cuts, or grows by zeros. */
    void resize(long newSize) {
        if (newSize >= size) {
            grow(newSize);
            return;
        }
        int chunkCount = chunkCount(newSize);
        ownTable(chunks.length);
        Arrays.fill(chunks, chunkCount, chunks.length, HOLE);
        owned.clear(chunkCount, Math.max(chunkCount, owned.length()));
        int inChunk = (int) (newSize % CHUNK_BYTES);
        if (inChunk != 0 && chunks[chunkCount - 1] != HOLE) {
            Arrays.fill(chunkForWrite(chunkCount - 1), inChunk, CHUNK_BYTES, (byte) 0);
        }
        size = newSize;
    }

    /** Takes over a chunk of {@code from} without copying its bytes; size is left to the caller. */
    void adoptChunk(SectorMap from, int index) {
        if (chunks[index] != from.chunks[index]) {
            ownTable(chunks.length);
            chunks[index] = from.chunks[index];
            owned.clear(index);
            from.owned.clear(index);
        }
    }

    /**
     * Shows {@code chunk}, which nobody writes, at {@code index}; what lies behind the size is cut.
     */
    void putChunk(int index, byte[] chunk) {
        ownTable(chunks.length);
        chunks[index] = chunk;
        owned.clear(index);
        long start = (long) index * CHUNK_BYTES;
        if (size < start + CHUNK_BYTES) {
            Arrays.fill(chunkForWrite(index), (int) (size - start), CHUNK_BYTES, (byte) 0);
        }
    }

    /** Copies one sector of {@code from}; this map must reach over it. */
    void copySector(SectorMap from, int sector) {
        int index = sector / CHUNK_SECTORS;
        int inChunk = sector % CHUNK_SECTORS * SECTOR_BYTES;
        byte[] source = index < from.chunks.length ? from.chunks[index] : HOLE;
        putSector(sector, source, inChunk);
    }

    /** Puts 512 bytes; what lies behind the size is dropped. */
    void putSector(int sector, byte[] source, int sourceOffset) {
        long start = (long) sector * SECTOR_BYTES;
        int byteCount = (int) Math.min(SECTOR_BYTES, size - start);
        if (byteCount > 0) {
            byte[] chunk = chunkForWrite(sector / CHUNK_SECTORS);
            int inChunk = (int) (start % CHUNK_BYTES);
            System.arraycopy(source, sourceOffset, chunk, inChunk, byteCount);
        }
    }

    /** A copy of one sector's 512 bytes. */
    byte[] sector(int sector) {
        int inChunk = sector % CHUNK_SECTORS * SECTOR_BYTES;
        int index = sector / CHUNK_SECTORS;
        byte[] chunk = index < chunks.length ? chunks[index] : HOLE;
        return Arrays.copyOfRange(chunk, inChunk, inChunk + SECTOR_BYTES);
    }

    void flipBit(long offset, int bit) {
        chunkForWrite(chunkIndex(offset))[(int) (offset % CHUNK_BYTES)] ^= (byte) (1 << bit);
    }

    /** The bytes of the chunk at {@code index}, not to be written; a hole is all zeros. */
    byte[] chunk(int index) {
        return chunks[index];
    }

    static int sectorCount(long byteCount) {
        return (int) ((byteCount + SECTOR_BYTES - 1) / SECTOR_BYTES);
    }

    static int chunkCount(long byteCount) {
        return (int) ((byteCount + CHUNK_BYTES - 1) / CHUNK_BYTES);
    }

    private static int chunkIndex(long offset) {
        return (int) (offset / CHUNK_BYTES);
    }

    private void grow(long newSize) {
        if (newSize <= size) {
            return;
        }
        int chunkCount = chunkCount(newSize);
        if (chunkCount > chunks.length) {
            ownTable(Math.max(chunkCount, chunks.length + chunks.length / 2));
        }
        size = newSize;
    }

    private void ownTable(int length) {
        if (tableShared || length > chunks.length) {
            int known = chunks.length;
            chunks = Arrays.copyOf(chunks, length);
            Arrays.fill(chunks, known, length, HOLE);
            tableShared = false;
        }
    }

    private byte[] chunkForWrite(int index) {
        if (!owned.get(index)) {
            ownTable(chunks.length);
            chunks[index] = chunks[index].clone();
            owned.set(index);
        }
        return chunks[index];
    }

    private static boolean isZero(MemorySegment source, long offset, int byteCount) {
        int i = 0;
        for (; i + 8 <= byteCount; i += 8) {
            if (source.get(Bytes.I64, offset + i) != 0) {
                return false;
            }
        }
        for (; i < byteCount; i++) {
            if (source.get(Bytes.U8, offset + i) != 0) {
                return false;
            }
        }
        return true;
    }
}
