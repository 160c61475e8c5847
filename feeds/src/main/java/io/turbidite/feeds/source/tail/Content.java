package io.turbidite.feeds.source.tail;

/** The bytes of a file, uncompressed, as they are now. */
interface Content {
    /**
     * Reads from an offset; fewer bytes only where the content ends.
     *
     * @return how many bytes there were
     */
    int read(long offset, byte[] target, int byteCount);

    /** How many bytes there are now. */
    long byteCount();
}
