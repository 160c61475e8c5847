package io.turbidite.lsm.strategy.bitmap;

/**
 * Where entries of one source have been copied to, under the lock method. For one entry,
 * {@link #invalidated} and {@link #copied} exclude one another: whichever comes second knows of the
 * first and marks the copy.
 */
sealed interface EntryCopies extends InvalidationSink
        permits ComponentEntryCopies, LayerEntryCopies {
    /** Nothing is copied yet. */
    void begin(MutableValidityBitmap target);

    /**
     * An entry has been copied.
     *
     * @param successorTimestamp what the builder knows of its successor
     */
    void copied(long position, long ordinal, long successorTimestamp);

    /** No copy is marked any more when this returns. */
    void end();

    /** Memory held. */
    long bytesUsed();

    /** Gives the memory back. */
    void close();
}
