package io.turbidite.core.cache;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A piece of memory carved into slots of one size class. <em>Guarded by the lock of
 * {@link Slabs}.</em>
 *
 * <p>A slab with several slots has the common slab size and may be carved anew for another class; a
 * slab of a large class has one slot and is as large as that.
 */
final class Slab {
    private final Arena arena;
    private final MemorySegment memory;
    private int sizeClass;
    private Slot[] slots = {};
    private Slot[] free = {};
    private int freeCount;

    /** Where in {@link #slots} the clock hand goes on. */
    int hand;

    Slab(Arena arena, MemorySegment memory, int sizeClass) {
        this.arena = arena;
        this.memory = memory;
        carve(sizeClass);
    }

    /** Cuts the memory into free slots of a class; nobody may have one of the old slots. */
    void carve(int newSizeClass) {
        int slotBytes = SizeClasses.bytes(newSizeClass);
        int count = (int) (memory.byteSize() / slotBytes);
        sizeClass = newSizeClass;
        slots = new Slot[count];
        free = new Slot[count];
        for (int i = 0; i < count; i++) {
            slots[i] = new Slot(this, memory.asSlice((long) i * slotBytes, slotBytes));
            free[count - 1 - i] = slots[i];
        }
        freeCount = count;
        hand = 0;
    }

    Slot takeFree() {
        return free[--freeCount];
    }

    void giveFree(Slot slot) {
        slot.frame = null;
        free[freeCount++] = slot;
    }

    int freeCount() {
        return freeCount;
    }

    int sizeClass() {
        return sizeClass;
    }

    int slotCount() {
        return slots.length;
    }

    Slot slot(int index) {
        return slots[index];
    }

    long byteSize() {
        return memory.byteSize();
    }

    void close() {
        arena.close();
    }
}
