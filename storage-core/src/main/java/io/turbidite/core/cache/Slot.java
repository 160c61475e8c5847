package io.turbidite.core.cache;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Memory for one page, and the frame that has it. <em>Guarded by the lock of {@link Slabs}.</em>
 */
final class Slot {
    final Slab slab;
    final MemorySegment memory;

    /** Null while the slot is free. */
    @Nullable
    PageFrame frame;

    /** {@link PageFrame#pinsEver} when the clock hand passed last. */
    private long pinsSeen;

    Slot(Slab slab, MemorySegment memory) {
        this.slab = slab;
        this.memory = memory;
    }

    void occupy(PageFrame owner) {
        frame = owner;
        owner.slot = this;
        // the loader's own pin is no reference: a page that is read once, by a scan, goes first
        pinsSeen = owner.pinsEver();
    }

    /** Whether the page was pinned since the hand passed last; the hand passes now. */
    boolean passHand() {
        PageFrame owner = frame;
        if (owner == null) {
            return false;
        }
        long pins = owner.pinsEver();
        boolean referenced = pins != pinsSeen;
        pinsSeen = pins;
        return referenced;
    }

    boolean isPinned() {
        PageFrame owner = frame;
        return owner != null && owner.isPinned();
    }
}
