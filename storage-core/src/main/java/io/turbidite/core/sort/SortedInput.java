package io.turbidite.core.sort;

import io.turbidite.core.bytes.Slice;

/**
 * Entries in order (key, then number, both ascending), read once. Starts before the first entry;
 * slices are valid until the next move. <em>Confined to one thread.</em>
 */
public interface SortedInput extends AutoCloseable {
    /** Moves to the next entry; false at the end. */
    boolean next();

    Slice key();

    /** Orders entries with the same key. */
    long number();

    Slice payload();

    /**
     * So many first bytes, or more, all keys have in common. Known once this stands on an entry.
     */
    int sharedBytes();

    @Override
    void close();
}
