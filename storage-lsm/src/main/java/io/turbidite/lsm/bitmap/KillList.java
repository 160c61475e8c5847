package io.turbidite.lsm.bitmap;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * From which timestamp on entries of a component are dead, for those that some reader may still see alive
 * (design §4 rule 5): an open-addressed table of (ordinal, timestamp) off the heap. What the horizon has
 * passed is dead for everybody and need not be listed.
 *
 * <p><em>Thread-safe</em> by its monitor, held for a few memory accesses, but for making room: that is one
 * pass over the table each time it has filled up. Its memory is its bitmap's arena's; a table that was outgrown
 * stays there until the bitmap is closed, which at most doubles what is held.
 */
final class KillList {
    private static final int SLOT_BYTES = 2 * Long.BYTES;
    private static final int FIRST_SLOT_COUNT = 64;
    private static final int SLOT_COUNT_MAX = 1 << 26;

    private final Arena arena;
    private final MemoryBudget.Account account;
    private MemorySegment slots = MemorySegment.NULL;
    private int slotCount;
    private int count;
    private long reservedBytes;

    /** No listed timestamp is higher. Written under the monitor, read by anybody. */
    private volatile long newestTimestamp;

    /**
     * @param account what the tables are reserved from
     */
    KillList(Arena arena, MemoryBudget.Account account) {
        this.arena = arena;
        this.account = account;
    }

    /**
     * Lists an entry that is not listed.
     *
     * @return false if the table is full: make room and try again
     */
    synchronized boolean tryAdd(long ordinal, long timestamp) {
        if (count >= slotCount - slotCount / 4) {
            return false;
        }
        put(ordinal, timestamp);
        count++;
        newestTimestamp = Math.max(newestTimestamp, timestamp);
        return true;
    }

    /** Forgets what is at or below the horizon; takes a larger table if that is less than half of it. */
    synchronized void makeRoom(long horizon) {
        long[] kept = new long[2 * count];
        int keptCount = 0;
        for (int slot = 0; slot < slotCount; slot++) {
            long timestamp = timestamp(slot);
            if (isTaken(slot) && timestamp > horizon) {
                kept[2 * keptCount] = ordinal(slot);
                kept[2 * keptCount + 1] = timestamp;
                keptCount++;
            }
        }
        if (keptCount >= slotCount / 2) {
            takeTable(Math.max(FIRST_SLOT_COUNT, 2 * slotCount));
        } else {
            slots.fill((byte) 0);
        }
        for (int i = 0; i < keptCount; i++) {
            put(kept[2 * i], kept[2 * i + 1]);
        }
        count = keptCount;
    }

    private void takeTable(int wantedSlotCount) {
        if (wantedSlotCount > SLOT_COUNT_MAX) {
            throw new IllegalStateException(
                    "%d kills are younger than the oldest snapshot: close it".formatted(count));
        }
        long bytes = (long) wantedSlotCount * SLOT_BYTES;
        LiveBitmap.reserve(account, bytes);
        reservedBytes += bytes;
        slots = NativeMemory.allocate(arena, bytes, Long.BYTES);
        slotCount = wantedSlotCount;
    }

    /**
     * When an entry died.
     *
     * @return 0 if it is not listed
     */
    synchronized long timestampOf(long ordinal) {
        if (slotCount == 0) {
            return 0;
        }
        int slot = firstSlot(ordinal);
        while (isTaken(slot)) {
            if (ordinal(slot) == ordinal) {
                return timestamp(slot);
            }
            slot = (slot + 1) & (slotCount - 1);
        }
        return 0;
    }

    /** No listed timestamp is higher. */
    long newestTimestamp() {
        return newestTimestamp;
    }

    synchronized int count() {
        return count;
    }

    long reservedBytes() {
        return reservedBytes;
    }

    private void put(long ordinal, long timestamp) {
        int slot = firstSlot(ordinal);
        while (isTaken(slot)) {
            slot = (slot + 1) & (slotCount - 1);
        }
        slots.set(Bytes.I64, (long) slot * SLOT_BYTES, ordinal + 1);
        slots.set(Bytes.I64, (long) slot * SLOT_BYTES + Long.BYTES, timestamp);
    }

    private int firstSlot(long ordinal) {
        return (int) ((ordinal * 0x9E3779B97F4A7C15L) >>> 32) & (slotCount - 1);
    }

    /** Ordinals are stored plus one: zero is a free slot. */
    private boolean isTaken(int slot) {
        return slots.get(Bytes.I64, (long) slot * SLOT_BYTES) != 0;
    }

    private long ordinal(int slot) {
        return slots.get(Bytes.I64, (long) slot * SLOT_BYTES) - 1;
    }

    private long timestamp(int slot) {
        return slots.get(Bytes.I64, (long) slot * SLOT_BYTES + Long.BYTES);
    }
}
