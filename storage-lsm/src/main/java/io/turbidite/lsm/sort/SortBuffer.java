package io.turbidite.lsm.sort;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.memory.ChunkSource;
import io.turbidite.lsm.merge.MergeCursor;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The entries that a sort has in memory: chunk by chunk, each a {@link SortBlock} that is sorted on its own
 * when it is full, while the caches of the processor still have it. Reading merges the blocks.
 *
 * <p>A memory component would keep them in order all the time, which readers of a sort don't need: it cost
 * five times as much and twice the memory.
 *
 * <p><em>Confined to one thread at a time.</em> Owns its chunks.
 */
final class SortBuffer implements AutoCloseable {
    private final ChunkSource chunks;
    private final List<SortBlock> blocks = new ArrayList<>();
    private final SortBlock.Scratch scratch;
    private long bytesUsed;

    /**
     * @param scratch may be others' too
     */
    SortBuffer(ChunkSource chunks, SortBlock.Scratch scratch) {
        this.chunks = chunks;
        this.scratch = scratch;
    }

    boolean isEmpty() {
        return blocks.isEmpty();
    }

    /** Whether an entry of so many bytes can be added, and the buffer stays within {@code bytesMax}. */
    boolean fits(int entryBytes, long bytesMax) {
        return hasRoom(entryBytes) || bytesUsed + blockBytes(entryBytes) <= bytesMax;
    }

    private boolean hasRoom(int entryBytes) {
        return !blocks.isEmpty() && blocks.getLast().hasRoom(entryBytes);
    }

    /** Bytes of a new block that has room for an entry: a chunk, unless the entry is larger. */
    private long blockBytes(int entryBytes) {
        return Math.max(chunks.chunkBytes(), (long) entryBytes + SortBlock.PLACE_BYTES);
    }

    /** Adds an entry. If there is no memory for it, that is thrown and nothing has changed. */
    void add(Slice key, long version, Slice value) {
        int entryBytes = RunEntry.bytes(key, value);
        if (!hasRoom(entryBytes)) {
            addBlock(blockBytes(entryBytes));
        }
        blocks.getLast().add(key, version, value, entryBytes);
    }

    private void addBlock(long bytes) {
        if (!blocks.isEmpty()) {
            blocks.getLast().sort(scratch);
        }
        MemorySegment memory =
                bytes == chunks.chunkBytes() ? chunks.take() : chunks.takeOversized(bytes);
        blocks.add(new SortBlock(memory));
        bytesUsed += bytes;
    }

    /** The entries in order, all of them; nothing may be added while it is read. */
    EntryCursor cursor() {
        List<EntryCursor> latestFirst = new ArrayList<>();
        for (SortBlock block : blocks.reversed()) {
            block.sort(scratch);
            latestFirst.add(new BlockCursor(block));
        }
        return MergeCursor.of(latestFirst);
    }

    @Override
    public void close() {
        for (SortBlock block : blocks) {
            if (block.memory().byteSize() == chunks.chunkBytes()) {
                chunks.give(block.memory());
            } else {
                chunks.giveOversized(block.memory());
            }
        }
        blocks.clear();
        bytesUsed = 0;
    }
}
