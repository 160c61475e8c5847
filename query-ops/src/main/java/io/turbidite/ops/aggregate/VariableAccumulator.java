package io.turbidite.ops.aggregate;

import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

/**
 * An aggregate whose state has a value of any length behind the numbers of all states, where it has
 * room up to a capacity. <em>Confined to one thread.</em>
 */
sealed interface VariableAccumulator extends Accumulator permits BytesAccumulator, ListAccumulator {
    /** Says where its bytes lie in new states. */
    void place(Slice states, int place, int capacity);

    int capacity(Slice states);

    /**
     * The room that new states should have, not rounded.
     *
     * @param had by the states before; 0: there are none
     * @param length needed
     */
    long capacityFor(int had, int length);

    /** Bytes that the value will have once a row is taken. */
    int lengthWith(@Nullable Slice states, Slice arguments);

    /** Bytes that the value will have once others are merged. */
    int lengthWithAll(Slice states, Slice others);

    /** Takes over the value of states with another place for it. */
    void copy(Slice states, Slice from);
}
