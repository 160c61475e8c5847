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

    /**
     * Moves to the next record and in one go over some behind it: as many as lie together and are
     * at hand. It stands on the last of them then; all of them stay until it moves.
     *
     * @param run is filled
     * @return false at the end; nothing is said of the run then
     */
    default boolean nextRun(RecordRun run) {
        if (!next()) {
            return false;
        }
        run.begin(record());
        return true;
    }

    /**
     * To be asked before each record of a run but the first: what is closed gives up its memory.
     *
     * @throws io.turbidite.core.ClosedException if it, its view or the store is closed
     */
    default void checkOpen() {}

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
