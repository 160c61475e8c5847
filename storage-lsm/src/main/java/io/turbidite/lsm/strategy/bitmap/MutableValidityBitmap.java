package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.StoreFailedException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * Which entries of a primary component are invalid, set by writers (the mutable bitmap of LUO19
 * §5): one bit for each ordinal, which serves the record tree and the key tree alike, since they
 * have the same ordinals.
 *
 * <p>A bit has a time (design §4 rule 5): an entry is invalid for readers at or above the timestamp
 * of its successor, and valid below. The time is listed before the bit is set, and forgotten when
 * nobody reads below it any more.
 *
 * <p>Owned by the component's handle. <em>Thread-safe:</em> bits are set by compare-and-swap; an
 * acquiring load that finds one set finds its time listed. Of one entry only one thread at a time
 * may ask for {@link #invalidate}: whoever holds the stripe of its key, or whoever has the
 * component for itself.
 */
public final class MutableValidityBitmap implements AutoCloseable {
    /** What {@link #invalidatedAt} says of an entry that is valid for everybody. */
    public static final long VALID = Long.MAX_VALUE;

    /** What {@link #invalidatedAt} says of an entry that is invalid for everybody. */
    public static final long SETTLED = 0;

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final MemoryBudget.Account account;
    private final Arena arena = NativeMemory.shared("a live bitmap");
    private final MemorySegment words;
    private final long entryCount;
    private final InvalidationTimes invalidations;
    private final AtomicLong invalidCount = new AtomicLong();
    private volatile boolean retired;
    private volatile @Nullable InvalidationSink sink;

    /** Whether a bit was set since {@link #beginSave}. */
    private volatile boolean unsaved;

    private MutableValidityBitmap(Memory memory, long entryCount) {
        this.account = memory.words;
        this.entryCount = entryCount;
        this.words = NativeMemory.first(arena, account, wordBytes(entryCount), Long.BYTES);
        this.invalidations = new InvalidationTimes(memory.invalidations);
    }

    /**
     * What bitmaps are paid from.
     *
     * @param words pays for the bits
     * @param invalidations pays for the lists of invalidations, which grow while a snapshot is open
     */
    public record Memory(MemoryBudget.Account words, MemoryBudget.Account invalidations) {}

    /**
     * A bitmap without invalid entries.
     *
     * @throws StoreFailedException if there is no memory for it
     */
    public static MutableValidityBitmap create(Memory memory, long entryCount) {
        reserve(memory.words, wordBytes(entryCount));
        return new MutableValidityBitmap(memory, entryCount);
    }

    private static long wordBytes(long entryCount) {
        return Math.max(1, (entryCount + Long.SIZE - 1) / Long.SIZE) * Long.BYTES;
    }

    static void reserve(MemoryBudget.Account account, long bytes) {
        if (!account.reserve(bytes)) {
            throw new StoreFailedException(
                    "no memory is left for %s: %d bytes are wanted, %d are free"
                            .formatted(account.owner(), bytes, account.bytesFree()),
                    null);
        }
    }

    /** Ordinals go from 0 to this. */
    public long entryCount() {
        return entryCount;
    }

    /**
     * Says that an entry has a successor.
     *
     * @param timestamp the successor's; {@link #SETTLED} if nobody reads below it
     * @param horizon nobody reads below it
     * @return false if it was invalid already; nothing has changed then
     */
    public boolean invalidate(long ordinal, long timestamp, Horizon horizon) {
        if (isSet(ordinal)) {
            return false;
        }
        while (timestamp != SETTLED && !invalidations.tryAdd(ordinal, timestamp)) {
            invalidations.makeRoom(horizon.timestamp());
        }
        set(ordinal);
        return true;
    }

    /** Says that an entry is invalid for all readers that there are and will be. */
    public void settle(long ordinal) {
        set(ordinal);
    }

    private void set(long ordinal) {
        long offset = offset(ordinal);
        long bit = 1L << ordinal;
        long seen = (long) WORD.getVolatile(words, offset);
        while ((seen & bit) == 0) {
            long witness = (long) WORD.compareAndExchange(words, offset, seen, seen | bit);
            if (witness == seen) {
                invalidCount.incrementAndGet();
                break;
            }
            seen = witness;
        }
        // after the bit: whoever clears it before and reads the bits then has this one
        if (!unsaved) {
            unsaved = true;
        }
    }

    /** Whether an entry is invalid for a reader. */
    public boolean isInvalid(long ordinal, long snapshot) {
        if (!isSet(ordinal)) {
            return false;
        }
        return invalidations.newestTimestamp() <= snapshot
                || invalidations.timestampOf(ordinal) <= snapshot;
    }

    /**
     * The first entry from one ordinal up to another that is invalid for a reader; the latter if
     * there is none.
     *
     * @param end at most {@link #entryCount}
     */
    public long nextInvalid(long from, long end, long snapshot) {
        long at = from;
        while (at < end) {
            long word = (long) WORD.getAcquire(words, offset(at)) >>> at;
            if (word == 0) {
                at = (at | (Long.SIZE - 1)) + 1;
                continue;
            }
            at += Long.numberOfTrailingZeros(word);
            if (at < end && isInvalid(at, snapshot)) {
                return at;
            }
            at++;
        }
        return end;
    }

    /**
     * The first timestamp at which an entry is invalid; {@link #VALID} or {@link #SETTLED} if there
     * is none.
     */
    public long invalidatedAt(long ordinal) {
        return isSet(ordinal) ? invalidations.timestampOf(ordinal) : VALID;
    }

    private boolean isSet(long ordinal) {
        long word = (long) WORD.getAcquire(words, offset(ordinal));
        return ((word >>> ordinal) & 1) != 0;
    }

    private long offset(long ordinal) {
        assert ordinal >= 0 && ordinal < entryCount : ordinal + " of " + entryCount;
        return (ordinal >>> 6) * Long.BYTES;
    }

    /** Hands the ordinals of entries that are invalid for a reader to {@code out}, ascending. */
    public void forEachInvalid(long snapshot, LongConsumer out) {
        for (long first = 0; first < entryCount; first += Long.SIZE) {
            long word = (long) WORD.getAcquire(words, offset(first));
            while (word != 0) {
                long ordinal = first + Long.numberOfTrailingZeros(word);
                word &= word - 1;
                if (isInvalid(ordinal, snapshot)) {
                    out.accept(ordinal);
                }
            }
        }
    }

    /** Entries that are invalid for readers of now. */
    public long invalidCount() {
        return invalidCount.get();
    }

    /** Whether bits were set that no save has begun to see. */
    public boolean isUnsaved() {
        return unsaved;
    }

    /** What is read from now on is going to be saved. */
    public void beginSave() {
        unsaved = false;
    }

    /** What was begun has failed. */
    public void failSave() {
        unsaved = true;
    }

    /**
     * The component is being replaced: a writer that wants to invalidate an entry of it must look
     * where that is now. Called while no writer is inside the partition's gate.
     */
    public void retire() {
        retired = true;
    }

    public boolean isRetired() {
        return retired;
    }

    /**
     * Names who must be told of every invalidation from now on, because the component is being
     * merged; null for nobody. Called while no writer is inside the partition's gate.
     */
    public void tellTo(@Nullable InvalidationSink told) {
        sink = told;
    }

    /** Who must be told of invalidations; null if nobody. */
    public @Nullable InvalidationSink sink() {
        return sink;
    }

    /** Invalidations listed: those that may be younger than the horizon. */
    public int listedCount() {
        return invalidations.count();
    }

    /**
     * Forgets the times of invalidations that nobody can see any more, and gives back what they
     * took.
     */
    public void forgetInvalidations(Horizon horizon) {
        invalidations.forget(horizon.timestamp());
    }

    /** Gives the memory back; nobody may use the bitmap any more. */
    @Override
    public void close() {
        arena.close();
        invalidations.close();
        account.release(wordBytes(entryCount));
    }

    /** Asked when a list of invalidations is full. */
    @FunctionalInterface
    public interface Horizon {
        /** Nobody reads below it, now or later. */
        long timestamp();
    }
}
