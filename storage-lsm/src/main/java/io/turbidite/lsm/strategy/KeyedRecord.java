package io.turbidite.lsm.strategy;

import io.turbidite.core.bytes.Slice;

/**
 * A record, and its entry keys in multi-valued indexes, which are made before a write holds
 * anything. Reused.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class KeyedRecord {
    private final Slice record = new Slice();

    /** As {@link Maintainer#makeAhead} put them; empty if they were not made. */
    private final Slice made = new Slice();

    /** The encoded record; empty if there is none. */
    public Slice record() {
        return record;
    }

    /**
     * The entry keys that were made of it; empty if none were, and then they are made when they are
     * wanted.
     */
    public Slice made() {
        return made;
    }

    /** There is none. */
    public KeyedRecord clear() {
        record.clear();
        made.clear();
        return this;
    }
}
