package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * From which timestamp on entries of a component are invalid, for those that some reader may still
 * see valid (design §4 rule 5): an open-addressed table of (ordinal, timestamp) off the heap. What
 * the horizon has passed is invalid for everybody and need not be listed.
 *
 * <p><em>Thread-safe</em> by its monitor, held for a few memory accesses, but for making room: that
 * is one pass over the table each time it has filled up.
 *
 * <p>An invalidation is never refused: whoever brings one has logged it. What all lists of a store
 * hold together is bounded by those who let writers in; so a table has an arena of its own, and is
 * given back when it is outgrown or when most of it was forgotten.
 */
final class InvalidationTimes {
    private static final int SLOT_BYTES = 2 * Long.BYTES;
    private static final int FIRST_SLOT_COUNT = 64;
    private static final int SLOT_COUNT_MAX = 1 << 26;

    private final MemoryBudget.Account account;

    /** Of the table; null while there is none. */
    private @Nullable Arena arena;

    private MemorySegment slots = MemorySegment.NULL;
    private int slotCount;
    private int count;

    /** No listed timestamp is higher. Written under the monitor, read by anybody. */
    private volatile long newestTimestamp;

    /**
     * @param account pays for the tables
     */
    InvalidationTimes(MemoryBudget.Account account) {
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

    /**
     * Forgets what is at or below the horizon; takes a larger table if that is less than half of
     * it.
     */
    synchronized void makeRoom(long horizon) {
        long[] kept = youngerThan(horizon);
        boolean grows = kept.length / 2 >= slotCount / 2;
        refill(kept, grows ? Math.max(FIRST_SLOT_COUNT, 2 * slotCount) : slotCount);
    }

    /** Forgets what is at or below the horizon; takes a smaller table if that is most of it. */
    synchronized void forget(long horizon) {
        if (newestTimestamp <= horizon) {
            refill(new long[0], 0);
            return;
        }
        long[] kept = youngerThan(horizon);
        int wanted = FIRST_SLOT_COUNT;
        while (kept.length / 2 >= wanted / 2) {
            wanted *= 2;
        }
        if (wanted < slotCount) {
            refill(kept, wanted);
        }
    }

    /** Ordinals and timestamps in turns. */
    private long[] youngerThan(long horizon) {
        long[] kept = new long[2 * count];
        int length = 0;
        for (int slot = 0; slot < slotCount; slot++) {
            long timestamp = timestamp(slot);
            if (isTaken(slot) && timestamp > horizon) {
                kept[length++] = ordinal(slot);
                kept[length++] = timestamp;
            }
        }
        return Arrays.copyOf(kept, length);
    }

    private void refill(long[] kept, int wantedSlotCount) {
        if (wantedSlotCount == slotCount) {
            slots.fill((byte) 0);
        } else {
            takeTable(wantedSlotCount);
        }
        for (int i = 0; i < kept.length; i += 2) {
            put(kept[i], kept[i + 1]);
        }
        count = kept.length / 2;
    }

    private void takeTable(int wantedSlotCount) {
        if (wantedSlotCount > SLOT_COUNT_MAX) {
            throw new IllegalStateException(
                    "%d invalidations are younger than the oldest snapshot: close it"
                            .formatted(count));
        }
        Arena before = arena;
        long bytesBefore = slots.byteSize();
        long bytes = (long) wantedSlotCount * SLOT_BYTES;
        MutableValidityBitmap.reserve(account, bytes);
        // what fails here leaves the list as it was
        Arena made = wantedSlotCount == 0 ? null : NativeMemory.shared("a list of invalidations");
        slots = made == null
                ? MemorySegment.NULL
                : NativeMemory.first(made, account, bytes, Long.BYTES);
        arena = made;
        slotCount = wantedSlotCount;
        if (before != null) {
            before.close();
            account.release(bytesBefore);
        }
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

    /** Gives the memory back; nobody may use the list any more. */
    synchronized void close() {
        if (slotCount > 0) {
            refill(new long[0], 0);
        }
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
