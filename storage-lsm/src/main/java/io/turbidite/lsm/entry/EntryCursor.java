package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.Slice;

/**
 * Entries of one layer, or of several merged, in order (key ascending, timestamp descending). All
 * versions and anti-matter are shown; reconciling is the reader's work.
 *
 * <p><em>Confined to one thread.</em> Before the first seek it stands before the first entry. Slices are
 * reused and valid until the cursor moves.
 */
public interface EntryCursor extends AutoCloseable {
    /** Stands before the first entry whose key is at or above {@code key}. */
    void seek(Slice key);

    /** Moves to the next entry; false at the end. */
    boolean next();

    Slice key();

    long timestamp();

    /** Whether the entry says that its key is deleted as of its timestamp. */
    boolean isAntimatter();

    /** The value; empty for anti-matter and key-only trees. */
    Slice value();

    @Override
    void close();
}
