package io.turbidite.core.memory;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Recycled chunks of memory off the heap, all of one size, charged to one account.
 *
 * <p><em>Thread-safe by one lock</em>, held for a list operation (and for one allocation while the
 * pool grows). The pool owns the memory: one shared arena for all chunks of the common size, closed
 * with the pool, because closing an arena stops every thread for a moment. The rare larger chunk
 * has an arena of its own and is freed when released.
 *
 * <ol>
 *   <li>A chunk has one holder or lies in the pool, never both.
 *   <li>The account is charged for every chunk that exists, held or not: it is memory of the
 *       process.
 * </ol>
 */
public final class ChunkPool implements AutoCloseable {
    /** What components and buffers take unless they know better: 1 MiB. */
    public static final int CHUNK_BYTES_DEFAULT = 1 << 20;

    /** Chunks start on a page of the machine, so that none shares a cache line or a TLB entry. */
    private static final int ALIGNMENT = 4_096;

    private final String owner;
    private final MemoryBudget.Account account;
    private final int chunkBytes;
    private final Arena arena;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Chunk> free = new ArrayDeque<>();
    private final List<Chunk> largeHeld = new ArrayList<>();
    private long bytesReserved;
    private int heldCount;
    private boolean closed;

    private ChunkPool(String owner, MemoryBudget.Account account, int chunkBytes) {
        this.owner = owner;
        this.account = account;
        this.chunkBytes = chunkBytes;
        this.arena = NativeMemory.shared("chunks of " + owner);
    }

    /** A pool of chunks of {@link #CHUNK_BYTES_DEFAULT}. */
    public static ChunkPool create(String owner, MemoryBudget.Account account) {
        return create(owner, account, CHUNK_BYTES_DEFAULT);
    }

    /**
     * An empty pool; it grows as chunks are acquired.
     *
     * @param owner named in errors
     * @param chunkBytes bytes of a common chunk, a power of two of at least 4 KiB
     */
    public static ChunkPool create(String owner, MemoryBudget.Account account, int chunkBytes) {
        if (chunkBytes < 4_096 || Integer.bitCount(chunkBytes) != 1) {
            throw new InvalidRequestException(
                    "chunks of %s must have a power of two of at least 4096 bytes, not %d"
                            .formatted(owner, chunkBytes));
        }
        return new ChunkPool(owner, account, chunkBytes);
    }

    /** A chunk of {@link #chunkBytes()}, or null if the account has no room for one. */
    public @Nullable Chunk acquire() {
        lock.lock();
        try {
            checkOpen();
            Chunk chunk = free.pollLast();
            if (chunk == null) {
                chunk = allocate(chunkBytes, null);
                if (chunk == null) {
                    return null;
                }
            }
            chunk.held = true;
            heldCount++;
            return chunk;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A chunk of at least {@code bytesMin}: a common one if that suffices, else one of exactly that
     * size; null if the account has no room for it.
     */
    public @Nullable Chunk acquire(long bytesMin) {
        if (bytesMin <= chunkBytes) {
            return acquire();
        }
        lock.lock();
        try {
            checkOpen();
            Arena own = NativeMemory.shared("a large chunk of " + owner);
            Chunk chunk = null;
            try {
                chunk = allocate(bytesMin, own);
            } finally {
                if (chunk == null) {
                    own.close();
                }
            }
            if (chunk != null) {
                chunk.held = true;
                heldCount++;
                largeHeld.add(chunk);
            }
            return chunk;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes a chunk back; nobody may touch its bytes any more. After the pool's close this does
     * nothing.
     */
    public void release(Chunk chunk) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (!chunk.held) {
                throw new IllegalStateException("a chunk of " + owner + " is released twice");
            }
            assert poison(chunk);
            chunk.held = false;
            heldCount--;
            Arena own = chunk.ownArena;
            if (own == null) {
                free.addLast(chunk);
            } else {
                largeHeld.remove(chunk);
                own.close();
                bytesReserved -= chunk.byteSize();
                account.release(chunk.byteSize());
            }
        } finally {
            lock.unlock();
        }
    }

    /** How many bytes each chunk has. */
    public int chunkBytes() {
        return chunkBytes;
    }

    /** Bytes charged to the account: held and recycled chunks. */
    public long bytesReserved() {
        lock.lock();
        try {
            return bytesReserved;
        } finally {
            lock.unlock();
        }
    }

    /** Chunks acquired and not yet released; 0 when every holder is gone, so a leak shows here. */
    public int heldCount() {
        lock.lock();
        try {
            return heldCount;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Frees everything, held chunks too: a late access to one throws {@link IllegalStateException},
     * it never reads other memory.
     */
    @Override
    public void close() {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            free.clear();
            arena.close();
            for (Chunk large : largeHeld) {
                Arena own = large.ownArena;
                if (own != null) {
                    own.close();
                }
            }
            largeHeld.clear();
            account.release(bytesReserved);
            bytesReserved = 0;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "ChunkPool[%s: %d held, %d bytes]".formatted(owner, heldCount(), bytesReserved());
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the memory of " + owner);
        }
    }

    private @Nullable Chunk allocate(long bytes, @Nullable Arena ownArena) {
        if (!account.reserve(bytes)) {
            return null;
        }
        MemorySegment segment = null;
        try {
            segment = NativeMemory.allocate(ownArena == null ? arena : ownArena, bytes, ALIGNMENT);
        } finally {
            if (segment == null) {
                account.release(bytes);
            }
        }
        bytesReserved += bytes;
        return new Chunk(segment, ownArena);
    }

    /** With assertions on, a holder that reads after its release finds rubbish at once. */
    private static boolean poison(Chunk chunk) {
        chunk.segment().fill((byte) 0xDB);
        return true;
    }
}
