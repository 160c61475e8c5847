package io.turbidite.pm.tree;

import io.turbidite.core.bytes.Slice;

/** A key of a leaf that is being written to. <em>Confined to the writer</em>, and reused. */
final class LeafItem {
    static final int NEW = -1;

    /** Of the leaf's image, or of the run's keys. */
    final Slice key = new Slice();

    /** Of the leaf; {@link #NEW} if the key was not in it. */
    int slot;

    /** The list as it will be. */
    long pointer;

    /** The list as it is. */
    long pointerBefore;

    LeafItem set(int newSlot, long newPointer) {
        slot = newSlot;
        pointer = newPointer;
        pointerBefore = newPointer;
        return this;
    }
}
