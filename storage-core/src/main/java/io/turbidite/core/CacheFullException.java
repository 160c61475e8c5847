package io.turbidite.core;

/**
 * Every page that the buffer cache has room for is being read, and stayed so for as long as a
 * reader waits. Nothing is wrong with what was asked: it may be asked again when other cursors have
 * moved on or are closed.
 */
public final class CacheFullException extends StorageException {
    private static final long serialVersionUID = 1L;

    /**
     * @param bytesMax of the cache
     * @param waitMicros how long the reader has waited
     */
    public CacheFullException(long bytesMax, long waitMicros) {
        super(
                ("the buffer cache of %d bytes had no room beside what was pinned by open cursors for %d ms: try again when some"
                                + " are closed, or raise the cache's memory")
                        .formatted(bytesMax, waitMicros / 1_000),
                null);
    }

    /** As {@code cause}, told to somebody who did not meet it but waits for who did. */
    public CacheFullException(String message, CacheFullException cause) {
        super(message, cause);
    }
}
