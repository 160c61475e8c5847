package io.turbidite.core.memory;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Who holds memory off the heap in this process: arenas that are open and accounts that are not
 * empty.
 *
 * <p>Kept where assertions are on, which is where tests run: what a test leaves behind is found by
 * it. Otherwise nothing is counted, and nothing paid for it. <em>Thread-safe by a concurrent
 * set.</em>
 */
public final class Holders {
    private static final Set<Object> HOLDING = ConcurrentHashMap.newKeySet();

    private Holders() {}

    /**
     * Those that hold memory now, each an object of its own whose {@code toString} names the owner;
     * none where assertions are off.
     */
    public static Set<Object> now() {
        return HOLDING.stream().filter(Holders::isHolding).collect(Collectors.toUnmodifiableSet());
    }

    /** Called in an assertion: true. */
    static boolean enter(Object holder) {
        HOLDING.add(holder);
        return true;
    }

    /** Called in an assertion: true. */
    static boolean leave(Object holder) {
        HOLDING.remove(holder);
        // an account that another thread reserves from meanwhile stays
        if (isHolding(holder)) {
            HOLDING.add(holder);
        }
        return true;
    }

    private static boolean isHolding(Object holder) {
        return switch (holder) {
            case MemoryBudget.Account account -> account.bytesUsed() > 0;
            case OwnedArena arena -> arena.scope().isAlive();
            default -> throw new IllegalStateException(holder + " holds no memory");
        };
    }
}
