package io.turbidite.feeds.flow;

import io.turbidite.core.bytes.Slice;

/**
 * Which records a feed leaves out while its source is faster than it should be. <em>Confined to
 * the thread of one parse worker</em>, or thread-safe where workers have one together.
 */
public interface RecordPolicy {
    /** Leaves out none: the source waits. */
    RecordPolicy TAKES_ALL = new RecordPolicy() {};

    /**
     * Decides about what was read, before it is parsed.
     *
     * @param isBehind whether the store is behind
     * @return whether it goes on
     */
    default boolean takesNext(boolean isBehind) {
        return true;
    }

    /**
     * Decides about a record that was parsed.
     *
     * @param record encoded, of the dataset's type
     * @return whether it is taken
     */
    default boolean takes(Slice record) {
        return true;
    }
}
