package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/**
 * Live records, one after another. Slices are valid until it moves.
 *
 * <em>Confined to one thread</em>, except {@link #close}: a close from another thread waits for the
 * running call.
 */
public interface RecordStream extends AutoCloseable {
    /**
     * Moves to the next record; false at the end.
     *
     * @throws io.turbidite.core.ClosedException if it, its view or the store is closed
     */
    boolean next();

    /** The encoded primary key. */
    Slice key();

    /** The timestamp of the operation that wrote the record. */
    long timestamp();

    /** The encoded record. */
    Slice record();

    /** Records looked at so far, invalid ones included; for explain. */
    long visitedCount();

    /** The work so far, if this is a fetch that counts it. */
    default FetchWork work() {
        return FetchWork.NONE;
    }

    /** The layers it considered so far; also after it is closed. */
    default LayerWork layers() {
        return LayerWork.NONE;
    }

    @Override
    void close();
}
