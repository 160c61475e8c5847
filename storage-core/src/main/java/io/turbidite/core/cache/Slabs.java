package io.turbidite.core.cache;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The cache's memory: hands out slots, and takes them away from pages by a clock hand.
 *
 * <p><em>Thread-safe by one lock</em>, taken on misses only and held for no I/O. Owns every slab.
 *
 * <p>How a slot is found:
 *
 * <ol>
 *   <li>a free slot of the class;
 *   <li>a new slab, while memory held stays within {@code bytesMax};
 *   <li>the hand goes round. In a slab of the class it takes the first page that nobody pinned
 *       since it passed last. A slab of another class it takes whole, and only if none of its pages
 *       was pinned since: carves it anew, or frees it where sizes differ. So memory moves to the
 *       class that needs it, from where it is cold. In the third round references no longer
 *       protect, only pins do.
 * </ol>
 *
 * Slabs have an arena each, against the rule of one arena for a pool, because a page larger than a
 * slab can be given room only by really freeing others. It is rare: slabs of the common size are
 * carved anew.
 */
final class Slabs {
    private static final int SLAB_BYTES_MAX = 1 << 20;
    private static final int ALIGNMENT = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final int slabBytes;
    private final List<Slab> slabs = new ArrayList<>();
    private final List<ArrayDeque<Slab>> withFreeSlots = new ArrayList<>();
    private long bytesMax;
    private long bytesHeld;
    private int hand;
    private long evictionCount;
    private long pinsOfEvicted;
    private boolean closed;

    Slabs(long bytesMax) {
        this.bytesMax = bytesMax;
        // at least 16 slabs, or the hand would have nothing to choose from in a small cache
        long wanted = Long.highestOneBit(bytesMax / 16);
        this.slabBytes =
                (int) Math.clamp(wanted, (long) SizeClasses.SLOT_BYTES_MIN, SLAB_BYTES_MAX);
        for (int i = 0; i < SizeClasses.COUNT; i++) {
            withFreeSlots.add(new ArrayDeque<>());
        }
    }

    /** Gives {@code frame} a slot of the class; null if every page that could go is pinned. */
    @Nullable
    Slot take(PageFrame frame, int sizeClass) {
        lock.lock();
        try {
            if (closed) {
                return null;
            }
            Slot slot = takeFree(sizeClass);
            if (slot == null && grow(sizeClass)) {
                slot = takeFree(sizeClass);
            }
            if (slot == null) {
                slot = sweep(sizeClass);
            }
            if (slot != null) {
                slot.occupy(frame);
            }
            return slot;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the slot of a frame that nobody pins, if it still has one. */
    void reclaim(PageFrame frame) {
        lock.lock();
        try {
            if (frame.tryKill()) {
                vacate(frame);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes the slot of a frame whose load failed. */
    void abandon(PageFrame frame) {
        lock.lock();
        try {
            frame.fail();
            vacate(frame);
        } finally {
            lock.unlock();
        }
    }

    /** Frees all memory: a late access to a page throws, it never reads other memory. */
    void close() {
        lock.lock();
        try {
            closed = true;
            for (Slab slab : slabs) {
                slab.close();
            }
            slabs.clear();
            for (ArrayDeque<Slab> open : withFreeSlots) {
                open.clear();
            }
            bytesHeld = 0;
        } finally {
            lock.unlock();
        }
    }

    CacheStatistics statistics(long loadCount, long failedLoadCount) {
        lock.lock();
        try {
            long pins = pinsOfEvicted;
            int pinned = 0;
            int frames = 0;
            for (Slab slab : slabs) {
                for (int i = 0; i < slab.slotCount(); i++) {
                    PageFrame frame = slab.slot(i).frame;
                    if (frame != null) {
                        frames++;
                        pins += frame.pinsEver();
                        pinned += frame.isPinned() ? 1 : 0;
                    }
                }
            }
            // every load began with one pin of its own
            long hits = Math.max(0, pins - loadCount - failedLoadCount);
            return new CacheStatistics(
                    hits, loadCount, failedLoadCount, evictionCount, frames, pinned, bytesHeld);
        } finally {
            lock.unlock();
        }
    }

    /** For tests, while nobody pins or loads: every frame with memory is the one its file knows. */
    void checkInvariants() {
        lock.lock();
        try {
            long bytes = 0;
            for (Slab slab : slabs) {
                bytes += slab.byteSize();
                int free = 0;
                for (int i = 0; i < slab.slotCount(); i++) {
                    Slot slot = slab.slot(i);
                    PageFrame frame = slot.frame;
                    if (frame == null) {
                        free++;
                    } else if (frame.slot != slot
                            || frame.isDead()
                            || !frame.file.knows(frame)
                            || frame.isPinned()) {
                        throw new AssertionError("page " + frame.page + " of " + frame.file);
                    }
                }
                boolean listed = withFreeSlots.get(slab.sizeClass()).contains(slab);
                if (free != slab.freeCount() || listed != (free > 0)) {
                    throw new AssertionError(free + " slots are free, not " + slab.freeCount());
                }
            }
            if (bytes != bytesHeld || bytesHeld > bytesMax) {
                throw new AssertionError(bytes + " bytes held, counted " + bytesHeld);
            }
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Slot takeFree(int sizeClass) {
        ArrayDeque<Slab> open = withFreeSlots.get(sizeClass);
        Slab slab = open.peekFirst();
        if (slab == null) {
            return null;
        }
        Slot slot = slab.takeFree();
        if (slab.freeCount() == 0) {
            open.removeFirst();
        }
        return slot;
    }

    private boolean grow(int sizeClass) {
        long bytes = bytesOfSlab(sizeClass);
        if (bytes > bytesMax - bytesHeld) {
            return false;
        }
        Arena arena = NativeMemory.shared("a slab of the buffer cache");
        Slab slab = null;
        try {
            slab = new Slab(arena, NativeMemory.allocate(arena, bytes, ALIGNMENT), sizeClass);
        } catch (InvalidRequestException e) {
            if (slabs.isEmpty()) {
                throw e;
            }
            // the JVM gives no more: go on with what there is, as if that were the budget
            bytesMax = bytesHeld;
            return false;
        } finally {
            if (slab == null) {
                arena.close();
            }
        }
        bytesHeld += bytes;
        slabs.add(slab);
        withFreeSlots.get(sizeClass).addFirst(slab);
        return true;
    }

    private long bytesOfSlab(int sizeClass) {
        int slotBytes = SizeClasses.bytes(sizeClass);
        return isCarved(sizeClass) ? slabBytes : slotBytes;
    }

    /**
     * Whether slots of the class share slabs of the common size; four at least, to waste little.
     */
    private boolean isCarved(int sizeClass) {
        return SizeClasses.bytes(sizeClass) <= slabBytes / 4;
    }

    private @Nullable Slot sweep(int sizeClass) {
        int softSteps = 2 * slabs.size();
        int steps = 3 * slabs.size();
        for (int step = 0; step < steps && !slabs.isEmpty(); step++) {
            if (hand >= slabs.size()) {
                hand = 0;
            }
            Slab slab = slabs.get(hand);
            boolean forced = step >= softSteps;
            Slot slot = slab.sizeClass() == sizeClass
                    ? takeVictim(slab, forced)
                    : takeOver(slab, sizeClass, forced);
            if (slot != null) {
                return slot;
            }
        }
        return null;
    }

    /**
     * The first page of the slab, from the slab's hand, that can go; moves the hand on if none can.
     */
    private @Nullable Slot takeVictim(Slab slab, boolean forced) {
        while (slab.hand < slab.slotCount()) {
            Slot slot = slab.slot(slab.hand++);
            boolean referenced = slot.passHand();
            PageFrame frame = slot.frame;
            if (frame != null && (forced || !referenced) && frame.tryKill()) {
                vacate(frame);
                return takeFree(slab.sizeClass());
            }
        }
        slab.hand = 0;
        hand++;
        return null;
    }

    /** Empties a cold slab of another class and makes room of it; moves the hand on if it can't. */
    private @Nullable Slot takeOver(Slab slab, int sizeClass, boolean forced) {
        boolean cold = true;
        for (int i = 0; i < slab.slotCount(); i++) {
            Slot slot = slab.slot(i);
            boolean referenced = slot.passHand();
            cold &= !slot.isPinned() && (forced || !referenced);
        }
        if (!cold || !evictAll(slab)) {
            hand++;
            return null;
        }
        withFreeSlots.get(slab.sizeClass()).remove(slab);
        if (isCarved(sizeClass) && slab.byteSize() == slabBytes) {
            slab.carve(sizeClass);
            withFreeSlots.get(sizeClass).addFirst(slab);
            hand++;
            return takeFree(sizeClass);
        }
        // the next slab moves to where the hand is
        slabs.remove(hand);
        bytesHeld -= slab.byteSize();
        slab.close();
        return grow(sizeClass) ? takeFree(sizeClass) : null;
    }

    private boolean evictAll(Slab slab) {
        for (int i = 0; i < slab.slotCount(); i++) {
            PageFrame frame = slab.slot(i).frame;
            if (frame != null) {
                if (!frame.tryKill()) {
                    return false;
                }
                vacate(frame);
            }
        }
        return true;
    }

    /** The slot of a dead frame becomes free. */
    private void vacate(PageFrame frame) {
        frame.file.forget(frame);
        pinsOfEvicted += frame.pinsAtDeath();
        Slot slot = frame.slot;
        if (slot == null || closed) {
            return;
        }
        assert poison(slot);
        evictionCount++;
        frame.slot = null;
        Slab slab = slot.slab;
        slab.giveFree(slot);
        if (slab.freeCount() == 1) {
            withFreeSlots.get(slab.sizeClass()).addFirst(slab);
        }
    }

    /** With assertions on, who reads a page after the unpin finds rubbish at once. */
    private static boolean poison(Slot slot) {
        slot.memory.fill((byte) 0xDB);
        return true;
    }
}
