package io.turbidite.ops.sort;

import io.turbidite.core.bytes.Slice;

/** Entries in ascending key order, read once. <em>Confined to one thread.</em> */
public interface SortedInput extends AutoCloseable {
    /** Moves to the next entry; false at the end. */
    boolean next();

    /** The current entry's key; valid until the next move. */
    Slice key();

    /** What the current entry's key carries; valid until the next move. */
    Slice payload();

    @Override
    void close();
}
