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
 * Where entries of a component have been copied to: for each ordinal four bytes, the new ordinal
 * plus one, or 0.
 *
 * <p><em>Thread-safe:</em> an entry's place, and what happens to its copy, is guarded by one of a
 * few monitors, chosen by its ordinal and held for some memory accesses. That a source's bit is set
 * before an invalidation is told makes the builder's look at the bit, under the monitor, enough.
 */
final class ComponentEntryCopies implements EntryCopies {
    private static final int LOCK_COUNT = 64;

    private final MutableValidityBitmap source;
    private final MemoryBudget.Account account;
    private final MutableValidityBitmap.Horizon horizon;
    private final Arena arena = NativeMemory.shared("copies of a component");
    private final MemorySegment places;
    private final Object[] locks = new Object[LOCK_COUNT];
    private volatile @Nullable MutableValidityBitmap target;

    private ComponentEntryCopies(
            MutableValidityBitmap source,
            MemoryBudget.Account account,
            MutableValidityBitmap.Horizon horizon) {
        this.source = source;
        this.account = account;
        this.horizon = horizon;
        this.places = NativeMemory.first(arena, account, bytes(source), Integer.BYTES);
        for (int i = 0; i < LOCK_COUNT; i++) {
            locks[i] = new Object();
        }
    }

    /** Null if the account has not enough. */
    static @Nullable ComponentEntryCopies create(
            MutableValidityBitmap source,
            MemoryBudget.Account account,
            MutableValidityBitmap.Horizon horizon) {
        return account.reserve(bytes(source))
                ? new ComponentEntryCopies(source, account, horizon)
                : null;
    }

    private static long bytes(MutableValidityBitmap source) {
        return Math.max(1, source.entryCount()) * Integer.BYTES;
    }

    @Override
    public void begin(MutableValidityBitmap built) {
        places.fill((byte) 0);
        target = built;
    }

    @Override
    public void invalidated(long position, Slice key, long timestamp) {
        synchronized (lock(position)) {
            MutableValidityBitmap built = target;
            int place = places.get(Bytes.I32, position * Integer.BYTES);
            if (built != null && place != 0) {
                built.invalidate(Integer.toUnsignedLong(place) - 1, timestamp, horizon);
            }
        }
    }

    @Override
    public void copied(long position, long ordinal, long successorTimestamp) {
        synchronized (lock(position)) {
            places.set(Bytes.I32, position * Integer.BYTES, (int) (ordinal + 1));
            long invalidated = Math.min(successorTimestamp, source.invalidatedAt(position));
            if (invalidated != MutableValidityBitmap.VALID) {
                Objects.requireNonNull(target).invalidate(ordinal, invalidated, horizon);
            }
        }
    }

    @Override
    public void end() {
        target = null;
        for (Object lock : locks) {
            // whoever is inside may still have the target
            synchronized (lock) {
                assert target == null;
            }
        }
    }

    private Object lock(long position) {
        return locks[(int) position & (LOCK_COUNT - 1)];
    }

    @Override
    public long bytesUsed() {
        return bytes(source);
    }

    @Override
    public void close() {
        arena.close();
        account.release(bytes(source));
    }
}
