package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.Found;

/**
 * Finds versions of ascending keys in key trees. <em>Confined to one thread.</em> Owns its cursors.
 */
interface TimestampLookup extends AutoCloseable {
    /**
     * Finds the newest version of {@code key} at or below the reach.
     *
     * @param key at or above the one before
     * @param found gets the timestamp
     * @return a code of {@link Found}
     */
    int find(Slice key, Found found);

    /** Pages that were read. */
    long pageCount();

    @Override
    void close();
}
