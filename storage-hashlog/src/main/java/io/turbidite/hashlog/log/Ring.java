package io.turbidite.hashlog.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The pages that are in memory: page {@code p} lies in frame {@code p mod ringPageCount}, so that a
 * place in the ring is the low bits of the address.
 *
 * <p><em>Thread-safe by its users' rules:</em> whoever touches a frame is protected by an epoch or
 * works above the safe tail. All frames are touched at creation, since new memory is zeroed: the
 * first touch of memory costs more than the copy into it. A frame is not zeroed between pages;
 * nothing above the safe tail is ever interpreted.
 */
final class Ring implements AutoCloseable {
    private final LogShape shape;
    private final MemoryBudget.Account account;
    private final Arena arena;
    private final MemorySegment memory;
    private final MemorySegment[] frames;
    private final long mask;

    /** Wall clock of opening and closing of the page in each frame; guarded by the page turn. */
    private final long[] openedMicros;

    private final long[] closedMicros;

    private Ring(LogShape shape, MemoryBudget.Account account) {
        this.shape = shape;
        this.account = account;
        this.mask = shape.ringBytes() - 1;
        this.arena = NativeMemory.shared("a hash log's ring");
        try (Undo undo = Undo.of(arena::close)) {
            this.memory = undo.keep(
                    NativeMemory.allocate(arena, shape.ringBytes(), LogShape.BLOCK_BYTES));
        }
        this.frames = new MemorySegment[shape.ringPageCount()];
        for (int i = 0; i < frames.length; i++) {
            frames[i] = memory.asSlice((long) i * shape.pageBytes(), shape.pageBytes());
        }
        this.openedMicros = new long[frames.length];
        this.closedMicros = new long[frames.length];
    }

    /**
     * A ring of its own memory, charged to {@code account}.
     *
     * @throws InvalidRequestException if the account has no room for it
     */
    static Ring create(LogShape shape, MemoryBudget.Account account) {
        if (!account.reserve(shape.ringBytes())) {
            throw new InvalidRequestException(
                    "the log's ring of %d pages of %d bytes does not fit the memory budget: %s"
                            .formatted(shape.ringPageCount(), shape.pageBytes(), account));
        }
        try (Undo undo = Undo.of(() -> account.release(shape.ringBytes()))) {
            return undo.keep(new Ring(shape, account));
        }
    }

    MemorySegment memory() {
        return memory;
    }

    /** Where {@code address} lies in {@link #memory()}. */
    long offsetOf(long address) {
        return address & mask;
    }

    MemorySegment frame(long page) {
        return frames[index(page)];
    }

    /** Called by the one who turns the tail to {@code page}. */
    void opened(long page, long wallMicros) {
        openedMicros[index(page)] = wallMicros;
        closedMicros[index(page)] = wallMicros;
    }

    void closed(long page, long wallMicros) {
        int i = index(page);
        closedMicros[i] = Math.max(openedMicros[i], wallMicros);
    }

    long openedMicros(long page) {
        return openedMicros[index(page)];
    }

    long closedMicros(long page) {
        return closedMicros[index(page)];
    }

    private int index(long page) {
        return (int) page & (frames.length - 1);
    }

    @Override
    public void close() {
        arena.close();
        account.release(shape.ringBytes());
    }
}
