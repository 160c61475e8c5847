package io.turbidite.core.cache;

import java.lang.foreign.MemorySegment;

/**
 * How a file's pages come into memory. <em>Thread-safe</em>: several pages are loaded at once, each
 * by the thread that missed it, without any lock of the cache held.
 */
public interface PageLoader {
    /** Bytes of the page as it lies in memory (decompressed): 1 to 32 MiB. */
    int pageBytes(int page);

    /**
     * Fills {@code target}, which has exactly {@link #pageBytes} bytes of arbitrary content: reads,
     * verifies the checksum, decompresses. What it throws reaches whoever pinned the page, and no
     * frame stays.
     */
    void load(int page, MemorySegment target);
}
