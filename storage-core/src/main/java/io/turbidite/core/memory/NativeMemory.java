package io.turbidite.core.memory;

import io.turbidite.core.InvalidRequestException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The one place where arenas are opened and large memory off the heap is asked of the JVM.
 * <em>Stateless.</em>
 *
 * <p>The JVM counts it against {@code -XX:MaxDirectMemorySize}, which is the heap's size unless
 * given; a budget above that fails here, so the error says what to change.
 */
public final class NativeMemory {
    private NativeMemory() {}

    /**
     * An arena whose memory any thread may use and close.
     *
     * @param owner who closes it; named by {@link Holders} while it is open
     */
    public static Arena shared(String owner) {
        return OwnedArena.of(owner, Arena.ofShared());
    }

    /**
     * An arena whose memory the calling thread alone may use and close; otherwise as
     * {@link #shared}.
     */
    public static Arena confined(String owner) {
        return OwnedArena.of(owner, Arena.ofConfined());
    }

    /**
     * Zeroed memory that goes when nobody refers to it: for small buffers that have no owner to
     * close them.
     *
     * @throws OutOfMemoryError if the JVM or the machine has no more
     */
    public static MemorySegment unowned(long bytes, long alignment) {
        MemoryCheck.pass("the garbage collector", bytes);
        return Arena.ofAuto().allocate(bytes, alignment);
    }

    /**
     * Zeroed memory of {@code arena}.
     *
     * @throws InvalidRequestException if the JVM or the machine has no more
     */
    public static MemorySegment allocate(Arena arena, long bytes, long alignment) {
        try {
            return arena.allocate(bytes, alignment);
        } catch (OutOfMemoryError e) {
            throw new InvalidRequestException(
                    "the JVM refused %d bytes off the heap, which are within the store's memory budget: lower the budget, or raise -XX:MaxDirectMemorySize (its default is the heap's size)"
                            .formatted(bytes),
                    e);
        }
    }

    /**
     * As {@link #allocate}, of an arena that nobody owns yet: it is closed if there is no memory.
     */
    public static MemorySegment first(Arena fresh, long bytes, long alignment) {
        MemorySegment memory = null;
        try {
            memory = allocate(fresh, bytes, alignment);
            return memory;
        } finally {
            if (memory == null) {
                fresh.close();
            }
        }
    }

    /**
     * As {@link #first}, of bytes that were reserved: the account has them back if there is no
     * memory.
     */
    public static MemorySegment first(
            Arena fresh, MemoryBudget.Account account, long bytes, long alignment) {
        MemorySegment memory = null;
        try {
            memory = first(fresh, bytes, alignment);
            return memory;
        } finally {
            if (memory == null) {
                account.release(bytes);
            }
        }
    }
}
