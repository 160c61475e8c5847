package io.turbidite.lsm.component;

import io.turbidite.core.format.Crc32c;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.btree.LeafPages;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Leaf pages read ahead in long reads, past the buffer cache: for merges and verification, which
 * see each page once and would only push out what queries need.
 *
 * <p><em>Confined to one thread at a time.</em> Owns a buffer of {@code readAheadBytes}, or less
 * where a tree is smaller. Pages of the other tree that lie in between are read over.
 */
final class StreamedLeafPages implements LeafPages {
    private final BlockReader blocks;
    private final Block.Kind kind;
    private final Fences fences;
    private final int readAheadBytes;
    private final Crc32c crc = new Crc32c();

    /** Opened with the first page: until then there is nothing to close. */
    private @Nullable Arena arena;

    private MemorySegment buffer = MemorySegment.NULL;
    private long bufferFileOffset;
    private int buffered;

    /** Where compressed pages are unpacked. */
    private MemorySegment page = MemorySegment.NULL;

    private boolean closed;

    StreamedLeafPages(BlockReader blocks, Block.Kind kind, Fences fences, int readAheadBytes) {
        this.blocks = blocks;
        this.kind = kind;
        this.fences = fences;
        this.readAheadBytes = readAheadBytes;
    }

    @Override
    public MemorySegment page(int number) {
        long fileOffset = fences.fileOffset(number);
        int blockBytes = fences.blockBytes(number);
        int pageBytes = fences.pageBytes(number);
        if (fileOffset < bufferFileOffset
                || fileOffset + blockBytes > bufferFileOffset + buffered) {
            fill(number, fileOffset);
        }
        MemorySegment block = buffer.asSlice(fileOffset - bufferFileOffset, blockBytes);
        MemorySegment target = block;
        if (blockBytes != pageBytes) {
            if (page.byteSize() < pageBytes) {
                page = NativeMemory.allocate(arena(), Math.max(pageBytes, 2 * page.byteSize()), 64);
            }
            target = page.asSlice(0, pageBytes);
        }
        Block.Expected expected = blocks.expected(kind, number, fileOffset);
        // of the whole buffer, so that the checksum's view of it serves for all pages
        Compression compression =
                Block.check(buffer, fileOffset - bufferFileOffset, expected, blockBytes, crc);
        blocks.unpackChecked(expected, fences, compression, block, target);
        return target;
    }

    @Override
    public void release() {}

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            crc.forget();
            Arena opened = arena;
            if (opened != null) {
                opened.close();
            }
        }
    }

    private Arena arena() {
        Arena opened = arena;
        if (opened == null) {
            opened = NativeMemory.shared("a scan of a component");
            arena = opened;
        }
        return opened;
    }

    /** Reads from page {@code first} on, as many whole pages as the buffer holds, at least one. */
    private void fill(int first, long fileOffset) {
        // whole blocks of the disk, so that a direct file needs no copy
        int blockBytes = blocks.blockBytes();
        long start = fileOffset & -blockBytes;
        int last = first;
        while (last + 1 < fences.pageCount()
                && end(last + 1) - start <= readAheadBytes
                && end(last + 1) > fileOffset) {
            last++;
        }
        int needed = Math.toIntExact(end(last) - start);
        int bytes = Math.addExact(needed, blockBytes - 1) & -blockBytes;
        buffered = 0; // until they are there
        if (bytes > buffer.byteSize()) {
            long treeBytes = end(fences.pageCount() - 1) - fences.fileOffset(0);
            long wanted = Math.max(bytes, Math.min(readAheadBytes, treeBytes + 2L * blockBytes));
            buffer = NativeMemory.allocate(arena(), wanted, Math.max(64, blockBytes));
        }
        blocks.readRaw(start, buffer, bytes, needed);
        bufferFileOffset = start;
        buffered = needed;
    }

    private long end(int number) {
        return fences.fileOffset(number) + fences.blockBytes(number);
    }
}
