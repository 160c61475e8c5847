package io.turbidite.hashlog.log;

import io.turbidite.core.InvalidRequestException;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * For each session a bound below everything it has allocated and not yet made visible; their
 * smallest is the safe tail.
 *
 * <p><em>Thread-safe.</em> A slot is written by its session alone.
 *
 * <ol>
 *   <li>A session sets its bound to a tail it has read before it allocates, and lifts it behind a
 *       record after the record's visible word: a release store, paired with the acquire load here.
 *   <li>The tail is read first and the bounds after it. An allocation below that tail happened
 *       before, and so did the store of its bound: allocation is an atomic add on the tail.
 * </ol>
 */
final class InFlight {
    /** Nothing is in flight. */
    static final long IDLE = Long.MAX_VALUE;

    /** Slots lie 128 bytes apart: two lines, because the prefetcher fetches them in pairs. */
    private static final int STRIDE = 16;

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] bounds;
    private final int slotCountMax;
    private final ReentrantLock lock = new ReentrantLock();
    private final BitSet taken = new BitSet();

    /** Slots at and above it were never taken. */
    private volatile int slotCount;

    InFlight(int sessionCountMax) {
        slotCountMax = sessionCountMax;
        bounds = new long[(sessionCountMax + 1) * STRIDE];
        Arrays.fill(bounds, IDLE);
    }

    /** An idle slot for a new session. */
    int take() {
        lock.lock();
        try {
            int slot = taken.nextClearBit(0);
            if (slot == slotCountMax) {
                throw new InvalidRequestException(
                        "%d sessions are open, which is the limit: close one first"
                                .formatted(slotCountMax));
            }
            taken.set(slot);
            slotCount = Math.max(slotCount, slot + 1);
            return slot;
        } finally {
            lock.unlock();
        }
    }

    void free(int slot) {
        set(slot, IDLE);
        lock.lock();
        try {
            taken.clear(slot);
        } finally {
            lock.unlock();
        }
    }

    void set(int slot, long bound) {
        SLOT.setRelease(bounds, (slot + 1) * STRIDE, bound);
    }

    long get(int slot) {
        return (long) SLOT.getAcquire(bounds, (slot + 1) * STRIDE);
    }

    /** The smaller of {@code tail}, which was read before, and all bounds. */
    long smallest(long tail) {
        long smallest = tail;
        int count = slotCount;
        for (int i = 0; i < count; i++) {
            smallest = Math.min(smallest, get(i));
        }
        return smallest;
    }
}
