package io.turbidite.core.memory;

import io.turbidite.core.InvalidRequestException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The one place where large memory off the heap is asked of the JVM. <em>Stateless.</em>
 *
 * <p>The JVM counts it against {@code -XX:MaxDirectMemorySize}, which is the heap's size unless given; a
 * budget above that fails here, so the error says what to change.
 */
public final class NativeMemory {
    private NativeMemory() {}

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
}
