package io.turbidite.lsm.sort;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;

import java.lang.foreign.MemorySegment;

/**
 * Reads a sorted block once, from first to last. It is a cursor because {@code MergeCursor} merges cursors;
 * the sort never seeks.
 *
 * <p><em>Confined to one thread.</em> The memory is the block's.
 */
final class BlockCursor implements EntryCursor {
    private final SortBlock block;
    private final MemorySegment memory;
    private final Slice key = new Slice();
    private final Slice value = new Slice();
    private int index = -1;
    private int place;

    BlockCursor(SortBlock block) {
        this.block = block;
        this.memory = block.memory();
    }

    @Override
    public boolean next() {
        if (index + 1 >= block.count()) {
            return false;
        }
        index++;
        place = block.place(index);
        key.set(memory, (long) place + RunFormat.KEY_OFFSET, RunEntry.keyBytes(memory, place));
        return true;
    }

    @Override
    public Slice key() {
        return key;
    }

    @Override
    public long timestamp() {
        return RunEntry.version(memory, place) >>> 1;
    }

    @Override
    public boolean isAntimatter() {
        return (RunEntry.version(memory, place) & 1) != 0;
    }

    @Override
    public Slice value() {
        return value.set(
                memory,
                (long) place + RunFormat.KEY_OFFSET + key.length(),
                RunEntry.valueBytes(memory, place));
    }

    @Override
    public void seek(Slice target) {
        throw new UnsupportedOperationException("a block is read once, from its start");
    }

    @Override
    public void seekEnd() {
        throw new UnsupportedOperationException("a block is read once, from its start");
    }

    @Override
    public boolean previous() {
        throw new UnsupportedOperationException("a block is read once, from its start");
    }

    @Override
    public void close() {}
}
