package io.turbidite.core.file;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Memory that direct reads go into, lent for one read. As many buffers as there are reads at the
 * same time, up to {@value #COUNT_MAX}; more readers than that wait, as they would for the device.
 *
 * <p><em>Thread-safe by one lock</em>, under which nothing is read. Owns its memory.
 */
final class AlignedBuffers implements AutoCloseable {
    /** Larger than most pages; longer transfers are done in pieces. */
    static final int BYTES = 256 << 10;

    private static final int COUNT_MAX = 16;

    /** The JVM aligns by taking that much more. */
    private static final long CHARGED_BYTES = (long) BYTES + DirectDisk.BLOCK_BYTES_MAX;

    private final MemoryBudget.Account account;
    private final Arena arena = NativeMemory.shared("direct I/O");
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition given = lock.newCondition();
    private final ArrayDeque<MemorySegment> free = new ArrayDeque<>();
    private int count;

    AlignedBuffers(MemoryBudget.Account account) {
        this.account = account;
    }

    MemoryBudget.Account account() {
        return account;
    }

    /** A buffer of {@link #BYTES}, aligned to any block; the caller gives it back. */
    MemorySegment take() {
        lock.lock();
        try {
            while (free.isEmpty() && !grow()) {
                given.awaitUninterruptibly();
            }
            return free.removeLast();
        } finally {
            lock.unlock();
        }
    }

    void give(MemorySegment buffer) {
        lock.lock();
        try {
            free.addLast(buffer);
            given.signal();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            arena.close();
            free.clear();
            account.release(count * CHARGED_BYTES);
            count = 0;
        } finally {
            lock.unlock();
        }
    }

    private boolean grow() {
        if (count == COUNT_MAX) {
            return false;
        }
        if (!account.reserve(CHARGED_BYTES)) {
            if (count > 0) {
                return false;
            }
            throw new InvalidRequestException(
                    "no %d bytes are left in the memory budget for direct I/O (%s): raise it, or open the store without direct I/O"
                            .formatted(CHARGED_BYTES, account));
        }
        boolean allocated = false;
        try {
            free.addLast(NativeMemory.allocate(arena, BYTES, DirectDisk.BLOCK_BYTES_MAX));
            allocated = true;
        } finally {
            if (!allocated) {
                account.release(CHARGED_BYTES);
            }
        }
        count++;
        return true;
    }
}
