package io.turbidite.core.cache;

import io.turbidite.core.memory.MemoryBudget;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Room for pages that have memory of their own, beside the frames of the cache. <em>Thread-safe.
 * </em>
 *
 * <p>Invariant: the pages together have at most {@code bytesMax}, or there is one of them, of any
 * size.
 */
final class RoomBeside {
    private final MemoryBudget.Account account;
    private final long bytesMax;
    private final AtomicLong bytes = new AtomicLong();

    RoomBeside(MemoryBudget.Account account, long bytesMax) {
        this.account = account;
        this.bytesMax = bytesMax;
    }

    /** Whether there was room for a page; then it is taken. */
    boolean take(int pageBytes) {
        long held = bytes.addAndGet(pageBytes);
        if ((held <= bytesMax || held == pageBytes) && account.reserve(pageBytes)) {
            return true;
        }
        bytes.addAndGet(-pageBytes);
        return false;
    }

    void release(long pageBytes) {
        bytes.addAndGet(-pageBytes);
        account.release(pageBytes);
    }

    long bytes() {
        return bytes.get();
    }

    long bytesMax() {
        return bytesMax;
    }
}
