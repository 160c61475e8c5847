package io.turbidite.lsm.btree;

import java.lang.foreign.MemorySegment;

/**
 * Where a cursor gets the leaf pages of one tree from, one at a time: the buffer cache, or a stream
 * that leaves the cache alone. <em>Confined to one thread.</em>
 */
public interface LeafPages extends AutoCloseable {
    /** A page by its number in the tree; it is valid until the next call. */
    MemorySegment page(int page);

    /** Pages that were asked for so far and that the cache lacked; 0 if this passes it by. */
    default long missCount() {
        return 0;
    }

    /** The page is not needed any more. */
    void release();

    @Override
    void close();
}
