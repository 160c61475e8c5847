package io.turbidite.hashlog.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongConsumer;

/**
 * The addresses of records that were deleted, and that the log still holds.
 *
 * <p><em>Thread-safe:</em> additions take a lock, looks take none and make no garbage. An
 * open-addressed array of words, 0 is free; a larger one is filled before it is published (release,
 * acquired by {@link #contains}), and then those below the log's begin are left out.
 */
public final class DeletedRecords {
    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int SLOT_COUNT_MIN = 64;

    private volatile long[] slots = new long[SLOT_COUNT_MIN];

    /** Taken slots; guarded by this. */
    private int takenCount;

    /** Whether anything was ever deleted: scans look at this first. */
    private volatile boolean any;

    /** Whether the record at {@code address} was deleted. */
    public boolean contains(long address) {
        if (!any) {
            return false;
        }
        long[] in = slots;
        for (int i = slotOf(address, in); ; i = (i + 1) & (in.length - 1)) {
            long word = (long) WORD.getAcquire(in, i);
            if (word == address || word == 0) {
                return word == address;
            }
        }
    }

    /** Whether nothing is deleted. */
    public boolean isEmpty() {
        return !any;
    }

    /**
     * Adds an address.
     *
     * @param begin of the log: what lies below is forgotten when the set grows
     * @return false if it was deleted before
     */
    public synchronized boolean add(long address, long begin) {
        if (contains(address)) {
            return false;
        }
        if (takenCount >= slots.length / 2) {
            grow(begin);
        }
        put(slots, address);
        takenCount++;
        any = true;
        return true;
    }

    /** Adds all of another set that is not changed meanwhile. */
    public void addAll(DeletedRecords others, long begin) {
        others.forEach(begin, address -> add(address, begin));
    }

    /** How many there are from {@code begin} on. */
    public long count(long begin) {
        long count = 0;
        for (long word : slots) {
            count += word != 0 && word >= begin ? 1 : 0;
        }
        return count;
    }

    /** Shows each address from {@code begin} on, in no order. */
    public synchronized void forEach(long begin, LongConsumer sink) {
        for (long word : slots) {
            if (word != 0 && word >= begin) {
                sink.accept(word);
            }
        }
    }

    private void grow(long begin) {
        long kept = count(begin);
        int slotCount = SLOT_COUNT_MIN;
        while (slotCount < 4 * kept) {
            slotCount <<= 1;
        }
        long[] larger = new long[slotCount];
        for (long word : slots) {
            if (word != 0 && word >= begin) {
                put(larger, word);
            }
        }
        takenCount = (int) kept;
        slots = larger;
    }

    private static void put(long[] into, long address) {
        int i = slotOf(address, into);
        while (into[i] != 0) {
            i = (i + 1) & (into.length - 1);
        }
        WORD.setRelease(into, i, address);
    }

    private static int slotOf(long address, long[] in) {
        return (int) ((address * 0x9E37_79B9_7F4A_7C15L) >>> 32) & (in.length - 1);
    }
}
