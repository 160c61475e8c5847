package io.turbidite.core.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/** An arena that says whose it is. <em>As thread-safe as the arena it hands on to.</em> */
final class OwnedArena implements Arena {
    private final String owner;
    private final Arena arena;
    private final AtomicLong bytes = new AtomicLong();

    private OwnedArena(String owner, Arena arena) {
        this.owner = owner;
        this.arena = arena;
    }

    static Arena of(String owner, Arena arena) {
        OwnedArena owned = new OwnedArena(owner, arena);
        assert Holders.enter(owned);
        return owned;
    }

    @Override
    public MemorySegment allocate(long byteSize, long byteAlignment) {
        MemoryCheck.pass(owner, byteSize);
        MemorySegment segment = arena.allocate(byteSize, byteAlignment);
        bytes.addAndGet(byteSize);
        return segment;
    }

    @Override
    public MemorySegment.Scope scope() {
        return arena.scope();
    }

    @Override
    public void close() {
        arena.close();
        assert Holders.leave(this);
    }

    @Override
    public String toString() {
        return "%s: an arena of %d bytes".formatted(owner, bytes.get());
    }
}
