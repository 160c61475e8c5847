package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/**
 * Entries of a secondary index in the order of (secondary key, primary key), within a range, read in both
 * directions. It stands, turns and lets go while idle as a {@link RecordCursor} does. Slices are valid
 * until it moves.
 *
 * <p><em>Confined to one thread</em>, but for {@link #close}.
 */
public interface IndexCursor extends AutoCloseable {
    /** Moves to the next entry; false at the end of the range. */
    boolean next();

    /** Moves to the entry before; false at the start of the range. */
    boolean previous();

    /**
     * Stands before the first entry of the range at or above {@code key}: an encoded secondary key, its
     * first fields, or the whole of it with a primary key behind.
     */
    void seek(Slice key);

    /** Stands behind the last entry of the range. */
    void seekEnd();

    /** The encoded secondary key, without the primary key behind it. */
    Slice secondaryKey();

    /** The encoded primary key. */
    Slice primaryKey();

    /** The timestamp of the operation that wrote the entry. */
    long timestamp();

    /**
     * Up to which timestamp the entry is known to be the current one of its primary key: what came later,
     * and is visible, must be looked at to tell whether it is valid (LUO19 §4.3). 0 if nothing is known,
     * {@link Long#MAX_VALUE} if it is valid for sure. Of an index that is always valid this matters where a
     * filter was given: an entry below {@link Long#MAX_VALUE} is a candidate, since a layer that may hide it
     * was passed over.
     */
    default long checkedUntil() {
        return 0;
    }

    @Override
    void close();
}
