package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/** Entries of a secondary index. <em>Confined to one thread.</em> Slices are valid until it moves. */
public interface IndexCursor extends AutoCloseable {
    /** Moves to the next entry; false at the end. */
    boolean next();

    /** The encoded secondary key, without the primary key behind it. */
    Slice secondaryKey();

    /** The encoded primary key. */
    Slice primaryKey();

    /** The timestamp of the operation that wrote the entry. */
    long timestamp();

    @Override
    void close();
}
