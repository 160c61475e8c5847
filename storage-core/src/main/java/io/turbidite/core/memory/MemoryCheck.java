package io.turbidite.core.memory;

/**
 * Who is asked before memory off the heap is taken: nobody, unless a test wants to know what
 * happens when there is none. It is bound to a thread, as store and background work are in a
 * simulation.
 *
 * <p>Memory is taken in chunks of many KiB, so that asking costs nothing beside it.
 */
public interface MemoryCheck {
    /** The check of the calling thread. */
    ScopedValue<MemoryCheck> BOUND = ScopedValue.newInstance();

    /** Whether an account may have the bytes, if it has room for them; may throw instead. */
    boolean reserves(String owner, long bytes);

    /** Called before the JVM is asked for the bytes; throws what the JVM would. */
    void allocates(String owner, long bytes);

    /** Whether the calling thread's check lets the bytes be reserved. */
    static boolean admits(String owner, long bytes) {
        return !BOUND.isBound() || BOUND.get().reserves(owner, bytes);
    }

    /** The calling thread's check may throw. */
    static void pass(String owner, long bytes) {
        if (BOUND.isBound()) {
            BOUND.get().allocates(owner, bytes);
        }
    }
}
