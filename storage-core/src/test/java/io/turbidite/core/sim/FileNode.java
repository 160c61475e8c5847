package io.turbidite.core.sim;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A file: the content that processes see, the content that survives any power cut, and which
 * sectors differ because they wait for a sync. <em>Confined to the disk's lock.</em>
 */
final class FileNode implements Node {
    /** Unsynced older values kept of one file; a bound on memory, not a model of anything. */
    private static final int OLDER_COUNT_MAX = 64;

    /** One in so many overwritten dirty sectors keeps its older value. */
    private static final int OLDER_ODDS = 8;

    private final long id;
    private final SectorMap seen;
    private final SectorMap durable;

    /** Sectors written since the last sync. */
    private final BitSet dirty = new BitSet();

    /** Sectors that a failed sync has dropped: clean to the system, and not on the device. */
    private final BitSet lost = new BitSet();

    /** Chunks that take space. */
    private final BitSet allocated = new BitSet();

    /**
     * For some dirty sectors a value that they had since the last sync, and that may have come
     * through.
     */
    private final TreeMap<Integer, byte[]> older = new TreeMap<>();

    /** The smallest size since the last sync. */
    private long cutSize = Long.MAX_VALUE;

    private long modifiedMicros;
    private int nameCount;
    private int handleCount;

    FileNode(long id) {
        this(id, new SectorMap());
    }

    /** A file of an image: nothing of it is unsynced. */
    FileNode(long id, SectorMap content) {
        this.id = id;
        this.seen = content;
        this.durable = content.share();
        allocated.set(0, SectorMap.chunkCount(content.size()));
    }

    @Override
    public long id() {
        return id;
    }

    long modifiedMicros() {
        return modifiedMicros;
    }

    void touch(long micros) {
        modifiedMicros = micros;
    }

    SectorMap seen() {
        return seen;
    }

    SectorMap durable() {
        return durable;
    }

    BitSet dirty() {
        return dirty;
    }

    NavigableMap<Integer, byte[]> older() {
        return older;
    }

    /** Whether the size went below the durable one since the last sync, and to what. */
    boolean wasCut() {
        return cutSize < durable.size();
    }

    long cutSize() {
        return cutSize;
    }

    /**
     * Whether a chunk whose dirty sectors all survive survives as processes see it, so that it can
     * be shared instead of copied: nothing but the dirty sectors tells it from the durable one.
     */
    boolean differsOnlyByDirty(int chunk) {
        return !wasCut() && !hasLost(chunk);
    }

    boolean isSynced() {
        return dirty.isEmpty() && !wasCut() && seen.size() == durable.size();
    }

    long allocatedBytes() {
        return (long) allocated.cardinality() * SectorMap.CHUNK_BYTES;
    }

    /** How many of the bytes from {@code offset} on can be written with {@code freeBytes} left. */
    int writableBytes(long offset, int byteCount, long freeBytes) {
        long left = freeBytes;
        int last = SectorMap.chunkCount(offset + byteCount);
        for (int i = (int) (offset / SectorMap.CHUNK_BYTES); i < last; i++) {
            if (!allocated.get(i)) {
                left -= SectorMap.CHUNK_BYTES;
                if (left < 0) {
                    return (int) Math.max(0, (long) i * SectorMap.CHUNK_BYTES - offset);
                }
            }
        }
        return byteCount;
    }

    void write(
            long offset,
            MemorySegment source,
            long sourceOffset,
            int byteCount,
            SplittableRandom random) {
        if (byteCount == 0) {
            return;
        }
        int first = (int) (offset / SectorMap.SECTOR_BYTES);
        int end = SectorMap.sectorCount(offset + byteCount);
        for (int i = dirty.nextSetBit(first); i >= 0 && i < end; i = dirty.nextSetBit(i + 1)) {
            if (older.size() < OLDER_COUNT_MAX && random.nextInt(OLDER_ODDS) == 0) {
                older.put(i, seen.sector(i));
            }
        }
        seen.write(offset, source, sourceOffset, byteCount);
        dirty.set(first, end);
        lost.clear(first, end);
        allocated.set(
                (int) (offset / SectorMap.CHUNK_BYTES), SectorMap.chunkCount(offset + byteCount));
    }

    void truncate(long size) {
        if (size < seen.size()) {
            cutSize = Math.min(cutSize, size);
            int sectors = SectorMap.sectorCount(size);
            clearFrom(dirty, sectors);
            clearFrom(lost, sectors);
            clearFrom(allocated, SectorMap.chunkCount(size));
            older.tailMap(sectors, true).clear();
        }
        seen.resize(size);
        int inSector = (int) (size % SectorMap.SECTOR_BYTES);
        if (inSector != 0 && cutSize == size) {
            dirty.set(SectorMap.sectorCount(size) - 1);
        }
    }

    void sync() {
        cutDurable();
        durable.resize(seen.size());
        for (int i = dirty.nextSetBit(0); i >= 0; i = dirty.nextSetBit(i + 1)) {
            int chunk = i / SectorMap.CHUNK_SECTORS;
            if (hasLost(chunk)) {
                durable.copySector(seen, i);
            } else {
                durable.adoptChunk(seen, chunk);
                i = (chunk + 1) * SectorMap.CHUNK_SECTORS - 1;
            }
        }
        markClean();
    }

    /**
     * A sync that fails as Linux lets it: each dirty sector is on the device or not, all count as
     * clean from now on, and a later sync that succeeds says nothing about them. What processes see
     * afterwards is the new content (as ext4 keeps it cached) or the old (as if it had been evicted
     * since).
     */
    void failSync(SplittableRandom random) {
        if (random.nextBoolean()) {
            cutDurable();
        }
        if (seen.size() > durable.size() && random.nextBoolean()) {
            durable.resize(seen.size());
        }
        boolean evicted = random.nextBoolean();
        for (int i = dirty.nextSetBit(0); i >= 0; i = dirty.nextSetBit(i + 1)) {
            boolean onDevice = (long) i * SectorMap.SECTOR_BYTES < durable.size();
            if (onDevice && random.nextBoolean()) {
                durable.copySector(seen, i);
            } else if (evicted) {
                seen.copySector(durable, i);
                lost.set(i);
            } else {
                lost.set(i);
            }
        }
        markClean();
    }

    void flipBit(long offset, int bit) {
        seen.flipBit(offset, bit);
        if (offset < durable.size()) {
            durable.flipBit(offset, bit);
        }
    }

    void linked() {
        nameCount++;
    }

    void unlinked() {
        nameCount--;
    }

    void opened() {
        handleCount++;
    }

    void closed() {
        handleCount--;
    }

    boolean isInUse() {
        return nameCount > 0 || handleCount > 0;
    }

    private boolean hasLost(int chunk) {
        int first = chunk * SectorMap.CHUNK_SECTORS;
        int next = lost.nextSetBit(first);
        return next >= 0 && next < first + SectorMap.CHUNK_SECTORS;
    }

    private void cutDurable() {
        if (wasCut()) {
            durable.resize(cutSize);
        }
    }

    private void markClean() {
        dirty.clear();
        older.clear();
        cutSize = Long.MAX_VALUE;
    }

    private static void clearFrom(BitSet bits, int from) {
        bits.clear(from, Math.max(from, bits.length()));
    }
}
