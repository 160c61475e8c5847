package io.turbidite.lsm.btree;

import io.turbidite.core.bytes.Slice;

/**
 * The keys that a {@link PointCursor} will be asked for after the present one, ascending: who knows
 * them lets their pages be read together. <em>Confined to the thread of the cursor.</em>
 */
public interface ComingKeys {
    /** Goes back to the first key behind the one that is being searched. */
    void restart();

    /** Moves {@code key} to the next of them; false if there are no more. */
    boolean next(Slice key);
}
