package io.turbidite.lsm.btree;

import io.turbidite.core.cache.CachedFile;
import io.turbidite.core.cache.PageFrame;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/** Leaf pages out of the buffer cache, one pinned at a time. <em>Confined to one thread.</em> */
final class CachedLeafPages implements LeafPages {
    private final CachedFile file;
    private final int firstPage;
    private @Nullable PageFrame pinned;
    private long missCount;

    /**
     * @param firstPage the number in the file of the tree's first page
     */
    CachedLeafPages(CachedFile file, int firstPage) {
        this.file = file;
        this.firstPage = firstPage;
    }

    @Override
    public MemorySegment page(int page) {
        release();
        PageFrame frame = file.pinCached(firstPage + page);
        if (frame == null) {
            missCount++;
            frame = file.pin(firstPage + page);
        }
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
    }
}
