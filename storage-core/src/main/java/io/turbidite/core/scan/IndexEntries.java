package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

/**
 * The entries that an {@link IndexCursor} moved over last by {@link IndexCursor#nextEntries}, named
 * by their number from 0. They are there until the cursor moves, is sought or is closed.
 *
 * <p><em>Confined to one thread.</em>
 */
public interface IndexEntries {
    /** Moves {@code slice} to the encoded secondary key, without the primary key behind it. */
    Slice secondaryKey(int entry, Slice slice);

    /** Moves {@code slice} to the encoded primary key. */
    Slice primaryKey(int entry, Slice slice);

    /** As {@link IndexCursor#timestamp}. */
    long timestamp(int entry);

    /** As {@link IndexCursor#checkedUntil}. */
    long checkedUntil(int entry);
}
