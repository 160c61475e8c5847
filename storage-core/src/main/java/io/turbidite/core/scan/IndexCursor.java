package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/**
 * Entries of a secondary index in the order of (secondary key, primary key), within a range, read
 * in both directions; of a search for the nearest in the order of (distance, secondary key, primary
 * key), and forward only. It stands, turns and gives memory back while idle like a {@link
 * RecordCursor}. Slices are valid until it moves.
 *
 * <em>Confined to one thread</em>, except {@link #close}.
 */
public interface IndexCursor extends AutoCloseable {
    /** Moves to the next entry; false at the end of the range. */
    boolean next();

    /**
     * Moves over the next entries, as many as are at hand, and stands on the last of them: for
     * whoever reads many, sooner than one by one. {@link #entries} shows them.
     *
     * @param countMax most of them, at least 1
     * @return how many; 0 at the end of the range
     */
    default int nextEntries(int countMax) {
        return next() ? 1 : 0;
    }

    /** What shows the entries that {@link #nextEntries} moved over; each time the same. */
    default IndexEntries entries() {
        return new OneEntry(this);
    }

    /**
     * In a search for the newest: begins anew, with the newest entries of another secondary key.
     *
     * @param secondaryKey encoded; copied
     * @return false if this search can't, and nothing is changed: another one is to be opened
     */
    default boolean restart(Slice secondaryKey) {
        return false;
    }

    /** Moves to the previous entry; false at the start of the range. */
    boolean previous();

    /**
     * Moves before the first entry of the range at or above {@code key}: an encoded secondary key,
     * its first fields, or all of it followed by a primary key.
     */
    void seek(Slice key);

    /** Moves behind the last entry of the range. */
    void seekEnd();

    /** The encoded secondary key, without the primary key behind it. */
    Slice secondaryKey();

    /** The encoded primary key. */
    Slice primaryKey();

    /** The timestamp of the operation that wrote the entry. */
    long timestamp();

    /**
     * The timestamp up to which the entry is certainly the current one of its primary key. To find
     * out whether it is valid, a reader must look at later, visible writes (LUO19 §4.3). 0 if
     * nothing is known, {@link Long#MAX_VALUE} if the entry is certainly valid. With a filter this
     * matters even for an index that is always valid: an entry below {@link Long#MAX_VALUE} is a
     * candidate, since the search skipped a layer that may hide it.
     */
    default long checkedUntil() {
        return 0;
    }

    /** In a search for the nearest: how far the entry is from the place; else not a number. */
    default double distance() {
        return Double.NaN;
    }

    /** What a search for a window or for terms took so far; also after it is closed. */
    default SearchWork work() {
        return SearchWork.NONE;
    }

    /** The layers it considered so far; also after it is closed. */
    default LayerWork layers() {
        return LayerWork.NONE;
    }

    @Override
    void close();
}
