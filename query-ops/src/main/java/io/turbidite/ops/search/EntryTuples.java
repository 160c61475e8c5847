package io.turbidite.ops.search;

import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

/** What an index that answers alone makes of its entries. <em>Confined to one thread.</em> */
public interface EntryTuples {
    /** Fields of each tuple. */
    int tupleFieldCount();

    /** The tuple of an entry, reused by the next call; null if the entry does not match. */
    Slice @Nullable [] tuple(Slice secondaryKey, Slice primaryKey);
}
