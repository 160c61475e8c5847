package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/** Live records, one after another. <em>Confined to one thread.</em> Slices are valid until it moves. */
public interface RecordCursor extends AutoCloseable {
    /** Moves to the next record; false at the end. */
    boolean next();

    /** The encoded primary key. */
    Slice key();

    /** The timestamp of the operation that wrote the record. */
    long timestamp();

    /** The encoded record. */
    Slice record();

    /** Records looked at so far, dead ones included; for explain. */
    long visitedCount();

    @Override
    void close();
}
