package io.turbidite.lsm.partition;

import io.turbidite.core.memory.MemoryBudget;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Which versions of a partition's records are live at one timestamp, a bit for the timestamp of
 * each: set if it is the newest version of its key at or below {@link #known}. That is so for good:
 * what flushes and merges do to components since does not change it.
 *
 * <p><em>Thread-safe</em> for one who writes and any who read, by these steps:
 *
 * <ol>
 *   <li>{@link #begin} names the timestamp that is to be known.
 *   <li>Bits of versions above {@link #known} are set; nobody reads them yet. Bits of versions that
 *       they supersede are cleared: readers below {@link #target} can't tell what that means.
 *   <li>{@link #complete}: it is known.
 * </ol>
 *
 * A reader loads {@link #known} first, then bits, then {@link #target}; each load acquires what the
 * store before it has released. So a set bit speaks of a moment that is not before the known one,
 * and a cleared one of a moment that is not after the target.
 *
 * <p>Chunks of longs on the heap, paid from an account: readers outlive what owns them, and need
 * not say when they end.
 */
public final class LiveBits {
    /** Timestamps of a chunk; one of which no version is live takes no memory. */
    static final int CHUNK_TIMESTAMPS = 1 << 16;

    private static final int CHUNK_WORDS = CHUNK_TIMESTAMPS / Long.SIZE;
    private static final long CHUNK_BYTES = CHUNK_WORDS * (long) Long.BYTES;

    /** Of the directory, for a chunk. */
    private static final long ENTRY_BYTES = Long.BYTES;

    /** More would be more memory than any account has. */
    private static final int CHUNK_COUNT_MAX = 1 << 26;

    private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle CHUNK = MethodHandles.arrayElementVarHandle(long[][].class);

    private final MemoryBudget.Account account;

    /** The first timestamp of the first chunk. */
    private final long base;

    private volatile long[] @Nullable [] chunks = {};
    private volatile long known;
    private volatile long target;

    /** Paid from the account; guarded by the monitor, as the next. */
    private long paidBytes;

    private boolean isClosed;

    /**
     * @param from no timestamp below is asked for
     */
    public LiveBits(MemoryBudget.Account account, long from) {
        this.account = account;
        this.base = from / CHUNK_TIMESTAMPS * CHUNK_TIMESTAMPS;
    }

    /** All versions up to this timestamp are known; 0 before the first are. */
    public long known() {
        return known;
    }

    /** Bits that are cleared may have been so by versions up to this timestamp. */
    public long target() {
        return target;
    }

    /**
     * Whether the version with a timestamp is live.
     *
     * @param timestamp at or below {@link #known}, and of one operation
     */
    public boolean isLive(long timestamp) {
        long at = timestamp - base;
        long[] @Nullable [] all = chunks;
        if (at < 0 || at / CHUNK_TIMESTAMPS >= all.length) {
            return false;
        }
        int number = (int) (at / CHUNK_TIMESTAMPS);
        long @Nullable [] chunk = (long[]) CHUNK.getAcquire(all, number);
        return chunk != null && ((long) WORD.getAcquire(chunk, word(at)) >>> at & 1) != 0;
    }

    private static int word(long at) {
        return (int) (at % CHUNK_TIMESTAMPS) / Long.SIZE;
    }

    /**
     * Begins to look for all up to a timestamp, which is above the known one.
     *
     * @return false if there is no memory for it: nothing has changed
     */
    public boolean begin(long timestamp) {
        assert timestamp > known && timestamp >= target : timestamp + " after " + known;
        long count = (timestamp - base) / CHUNK_TIMESTAMPS + 1;
        int before = chunks.length;
        if (count > CHUNK_COUNT_MAX || !pay((count - before) * ENTRY_BYTES)) {
            return false;
        }
        chunks = Arrays.copyOf(chunks, (int) count);
        target = timestamp;
        return true;
    }

    /**
     * Says that a version above the known timestamp is live.
     *
     * @return false if there is no memory for it: it can't be completed
     */
    public boolean set(long timestamp) {
        assert timestamp > known && timestamp <= target : timestamp;
        long at = timestamp - base;
        int number = (int) (at / CHUNK_TIMESTAMPS);
        assert at >= 0 : timestamp + " below " + base;
        long[] chunk = chunks[number];
        if (chunk == null) {
            if (!pay(CHUNK_BYTES)) {
                return false;
            }
            chunk = new long[CHUNK_WORDS];
            CHUNK.setRelease(chunks, number, chunk);
        }
        int word = word(at);
        WORD.setRelease(chunk, word, chunk[word] | 1L << at);
        return true;
    }

    /** Says that a version is not live any more, if it was. */
    public void clear(long timestamp) {
        long at = timestamp - base;
        long[] chunk = chunk(at);
        if (chunk != null) {
            keep(chunk, word(at), ~(1L << at));
        }
    }

    /** Clears all timestamps of a range that are not set in others. */
    public void retain(long first, long last, LiveBits others) {
        long from = Math.max(first, base);
        while (from <= last) {
            long at = from - base;
            long[] chunk = chunk(at);
            if (chunk == null) {
                from = base + (at / CHUNK_TIMESTAMPS + 1) * CHUNK_TIMESTAMPS;
                continue;
            }
            long to = Math.min(last, from | Long.SIZE - 1);
            long ofRange = -1L << from & -1L >>> ~to;
            keep(chunk, word(at), others.wordOf(from) | ~ofRange);
            from = to + 1;
        }
    }

    private static void keep(long[] chunk, int word, long bits) {
        long before = chunk[word];
        if ((before & bits) != before) {
            WORD.setRelease(chunk, word, before & bits);
        }
    }

    /** The chunk of a timestamp; null if none of it is live. */
    private long @Nullable [] chunk(long at) {
        int number = (int) Math.min(Integer.MAX_VALUE, at / CHUNK_TIMESTAMPS);
        return at < 0 || number >= chunks.length ? null : chunks[number];
    }

    /** The bits of the timestamps beside one. */
    private long wordOf(long timestamp) {
        long at = timestamp - base;
        long[] chunk = chunk(at);
        return chunk == null ? 0 : chunk[word(at)];
    }

    /** All up to the target is known. */
    public void complete() {
        known = target;
    }

    private synchronized boolean pay(long bytes) {
        if (isClosed || !account.reserve(bytes)) {
            return false;
        }
        paidBytes += bytes;
        return true;
    }

    /** Gives back what was paid; nothing is set any more. Who still reads may go on. */
    public synchronized void close() {
        isClosed = true;
        account.release(paidBytes);
        paidBytes = 0;
    }
}
