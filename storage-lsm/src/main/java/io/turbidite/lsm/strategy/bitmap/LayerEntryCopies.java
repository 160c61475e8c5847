package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Where entries of a frozen memory layer have been copied to, and which of them were invalidated:
 * its entries have no bitmap, and a flush that failed begins again.
 *
 * <p>An open-addressed table off the heap, with room for all entries of the layer:
 *
 * <pre>
 * slot := position i32 (0 = free), new ordinal + 1 i32 (0 = not copied), successor's timestamp i64 (0 = valid)
 * </pre>
 *
 * <p><em>Thread-safe</em> by its monitor, held for a few memory accesses.
 */
final class LayerEntryCopies implements EntryCopies {
    private static final int PLACE = Integer.BYTES;
    private static final int INVALIDATED = 2 * Integer.BYTES;
    private static final int SLOT_BYTES = INVALIDATED + Long.BYTES;

    private final MemoryBudget.Account account;
    private final MutableValidityBitmap.Horizon horizon;
    private final Arena arena = NativeMemory.shared("copies of a memory layer");
    private final MemorySegment slots;
    private final long slotCount;
    private @Nullable MutableValidityBitmap target;

    private LayerEntryCopies(
            long slotCount, MemoryBudget.Account account, MutableValidityBitmap.Horizon horizon) {
        this.account = account;
        this.horizon = horizon;
        this.slotCount = slotCount;
        this.slots = NativeMemory.first(arena, account, slotCount * SLOT_BYTES, Long.BYTES);
    }

    /** Null if the account has not enough. */
    static @Nullable LayerEntryCopies create(
            long entryCount, MemoryBudget.Account account, MutableValidityBitmap.Horizon horizon) {
        // never more than three quarters full
        long slotCount = entryCount + entryCount / 3 + 8;
        return account.reserve(slotCount * SLOT_BYTES)
                ? new LayerEntryCopies(slotCount, account, horizon)
                : null;
    }

    @Override
    public synchronized void begin(MutableValidityBitmap built) {
        for (long at = 0; at < slots.byteSize(); at += SLOT_BYTES) {
            slots.set(Bytes.I32, at + PLACE, 0);
        }
        target = built;
    }

    @Override
    public synchronized void invalidated(long position, Slice key, long timestamp) {
        long at = slot((int) position);
        slots.set(Bytes.I64, at + INVALIDATED, timestamp);
        int place = slots.get(Bytes.I32, at + PLACE);
        MutableValidityBitmap built = target;
        if (built != null && place != 0) {
            built.invalidate(Integer.toUnsignedLong(place) - 1, timestamp, horizon);
        }
    }

    @Override
    public synchronized void copied(long position, long ordinal, long successorTimestamp) {
        long at = slot((int) position);
        slots.set(Bytes.I32, at + PLACE, (int) (ordinal + 1));
        long invalidated = slots.get(Bytes.I64, at + INVALIDATED);
        long successor =
                invalidated == 0 ? successorTimestamp : Math.min(successorTimestamp, invalidated);
        if (successor != MutableValidityBitmap.VALID) {
            Objects.requireNonNull(target).invalidate(ordinal, successor, horizon);
        }
    }

    /** The slot of an entry, which is taken if there is none yet. */
    private long slot(int position) {
        assert position != 0;
        // the high half of a multiplication by a spread hash falls evenly on any number of slots
        long hash = (position * 0x9E3779B97F4A7C15L) >>> 32;
        long slot = (hash * slotCount) >>> 32;
        while (true) {
            long at = slot * SLOT_BYTES;
            int taken = slots.get(Bytes.I32, at);
            if (taken == position) {
                return at;
            }
            if (taken == 0) {
                slots.set(Bytes.I32, at, position);
                return at;
            }
            slot = slot + 1 == slotCount ? 0 : slot + 1;
        }
    }

    @Override
    public synchronized void end() {
        target = null;
    }

    @Override
    public long bytesUsed() {
        return slots.byteSize();
    }

    @Override
    public void close() {
        long bytes = slots.byteSize();
        arena.close();
        account.release(bytes);
    }
}
