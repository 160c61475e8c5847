package io.turbidite.lsm.component;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.cache.CachedFile;
import io.turbidite.core.cache.PageFrame;
import io.turbidite.core.cache.PageLoader;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.btree.LeafPages;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Leaf pages through the buffer cache for a cursor of which one can tell the pages that it will
 * want next ({@link PrefetchPlan}): when it misses one, those are read with it that lie near and
 * are not cached either, up to a megabyte in one read.
 *
 * <p><em>Confined to one thread at a time.</em> Owns the memory that is read into, which it takes
 * from the cache's share for that; without room it reads page by page.
 *
 * <p>Pages go into the cache when the cursor comes to them, not before. So a read that was too long
 * costs no cached page, and a page that only a scan has seen is the first to go
 * ({@link BufferCache}).
 */
final class ReadAheadPages implements LeafPages, PageLoader {
    /**
     * Bytes between two pages that are read over rather than left out: about two pages, which take
     * as long as the wait for another read where a read waits 0.05 ms and a gigabyte takes a
     * second.
     */
    private static final int GAP_BYTES_MAX = 64 << 10;

    private static final int BUFFER_BYTES_MIN = 64 << 10;

    private final BlockReader blocks;
    private final Block.Kind kind;
    private final Fences fences;
    private final BufferCache cache;
    private final CachedFile file;

    /** The number in the file of the tree's first page. */
    private final int firstPage;

    private final PrefetchPlan foresight;

    /** Made with the first miss. */
    private @Nullable Crc32c crc;

    private @Nullable PageFrame pinned;

    /** What is read at once; less once the cache's share was used up. */
    private long spanBytesMax;

    private @Nullable Arena arena;
    private MemorySegment buffer = MemorySegment.NULL;
    private long bufferFileOffset;
    private int buffered;
    private long missCount;

    ReadAheadPages(
            BlockReader blocks,
            Tree tree,
            BufferCache cache,
            CachedFile file,
            PrefetchPlan foresight) {
        this.blocks = blocks;
        this.kind = tree.kind;
        this.fences = tree.fences;
        this.firstPage = tree.firstPage;
        this.cache = cache;
        this.file = file;
        this.foresight = foresight;
        this.spanBytesMax = (long) DiskComponent.READ_AHEAD_BYTES - blocks.blockBytes();
    }

    /** A tree's pages in the cache: those of the file from {@code firstPage} on. */
    record Tree(Block.Kind kind, Fences fences, int firstPage) {}

    @Override
    public MemorySegment page(int page) {
        release();
        PageFrame frame = file.pin(firstPage + page, this);
        pinned = frame;
        return frame.segment();
    }

    @Override
    public long missCount() {
        return missCount;
    }

    @Override
    public void release() {
        PageFrame frame = pinned;
        if (frame != null) {
            pinned = null;
            frame.unpin();
        }
    }

    @Override
    public void close() {
        release();
        freeBuffer();
    }

    @Override
    public int pageBytes(int page) {
        return fences.pageBytes(page - firstPage);
    }

    /** A miss. */
    @Override
    public void load(int page, MemorySegment target) {
        missCount++;
        int number = page - firstPage;
        if (!isBuffered(number)) {
            foresight.missed(number);
            if (!fill(number)) {
                blocks.readPage(kind, fences, number, target);
                return;
            }
        }
        long fileOffset = fences.fileOffset(number);
        MemorySegment block =
                buffer.asSlice(fileOffset - bufferFileOffset, fences.blockBytes(number));
        Crc32c sum = crc == null ? new Crc32c() : crc;
        crc = sum;
        blocks.unpack(blocks.expected(kind, number, fileOffset), fences, block, target, sum);
        sum.forget();
    }

    private boolean isBuffered(int number) {
        return fences.fileOffset(number) >= bufferFileOffset
                && end(number) <= bufferFileOffset + buffered;
    }

    /**
     * Reads the page with those that will be wanted; false if there are none, or they can't be had.
     */
    private boolean fill(int number) {
        int first = number;
        int last = number;
        int next = foresight.after(number);
        while (next != PrefetchPlan.NO_PAGE) {
            int low = Math.min(first, next);
            int high = Math.max(last, next);
            long gap = next > last
                    ? fences.fileOffset(next) - end(last)
                    : fences.fileOffset(first) - end(next);
            if (gap > GAP_BYTES_MAX || end(high) - blockStart(low) > spanBytesMax) {
                break;
            }
            if (!file.holds(firstPage + next)) {
                first = low;
                last = high;
            }
            next = foresight.after(next);
        }
        return first < last && read(first, last);
    }

    private boolean read(int first, int last) {
        long start = blockStart(first);
        int needed = Math.toIntExact(end(last) - start);
        int diskBlock = blocks.blockBytes();
        int bytes = Math.addExact(needed, diskBlock - 1) & -diskBlock;
        buffered = 0; // until they are there
        if (!room(bytes)) {
            return false;
        }
        try {
            if (!blocks.tryRead(start, buffer, bytes, needed)) {
                return false;
            }
        } catch (StorageIoException e) {
            return false; // perhaps a later page's: this one is read by itself and says so if not
        }
        bufferFileOffset = start;
        buffered = needed;
        return true;
    }

    private long blockStart(int number) {
        return fences.fileOffset(number) & -(long) blocks.blockBytes();
    }

    private long end(int number) {
        return fences.fileOffset(number) + fences.blockBytes(number);
    }

    /** Whether the buffer has room; grows with what is asked for, since many cursors end early. */
    private boolean room(int bytes) {
        if (bytes <= buffer.byteSize()) {
            return true;
        }
        long wanted = Math.max(BUFFER_BYTES_MIN, Long.highestOneBit(bytes - 1L) * 2);
        if (!cache.reserveReadAhead(wanted)) {
            // others have the rest: less is asked for from now on
            spanBytesMax = Math.max(wanted / 2, buffer.byteSize()) - blocks.blockBytes();
            if (spanBytesMax < BUFFER_BYTES_MIN / 2) {
                spanBytesMax = 0;
            }
            return false;
        }
        freeBuffer();
        Arena made = NativeMemory.shared("read-ahead of a component");
        try (Undo undo = Undo.of(() -> {
            made.close();
            cache.releaseReadAhead(wanted);
        })) {
            buffer = NativeMemory.allocate(made, wanted, Math.max(64, blocks.blockBytes()));
            arena = made;
            undo.keep();
        }
        return true;
    }

    private void freeBuffer() {
        Arena owned = arena;
        if (owned != null) {
            long bytes = buffer.byteSize();
            arena = null;
            buffer = MemorySegment.NULL;
            buffered = 0;
            owned.close();
            cache.releaseReadAhead(bytes);
        }
    }
}
