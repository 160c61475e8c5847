package io.turbidite.ops.sort;

import io.turbidite.core.memory.NativeMemory;
import io.turbidite.ops.frame.OperatorMeter;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Memory for rows that are longer than a block of a run. Pieces that are given back are used again;
 * those that are too small for what comes are freed first, so that rows of ever more bytes hold no
 * more than what is in use. <em>Confined to one thread at a time.</em>
 */
final class LargePieces implements AutoCloseable {
    private static final int ALIGNMENT = 8;

    private final OperatorMeter meter;
    private final List<Piece> free = new ArrayList<>();
    private final List<Piece> taken = new ArrayList<>();

    /** Memory and what frees it. */
    private record Piece(Arena arena, MemorySegment memory) {}

    /**
     * @param meter told what is held
     */
    LargePieces(OperatorMeter meter) {
        this.meter = meter;
    }

    /** The smallest free piece that suffices, or a new one. */
    MemorySegment take(long bytesMin) {
        Piece best = null;
        for (Piece piece : free) {
            long bytes = piece.memory.byteSize();
            if (bytes >= bytesMin && (best == null || bytes < best.memory.byteSize())) {
                best = piece;
            }
        }
        if (best == null) {
            close();
            best = allocated(bytesMin);
        } else {
            free.remove(best);
        }
        taken.add(best);
        return best.memory;
    }

    private Piece allocated(long bytes) {
        Arena arena = NativeMemory.shared("long rows of a sort");
        MemorySegment memory = NativeMemory.first(arena, bytes, ALIGNMENT);
        meter.work().hold(bytes);
        return new Piece(arena, memory);
    }

    /** Takes back a piece; false if it is none of these. */
    boolean give(MemorySegment memory) {
        for (int i = 0; i < taken.size(); i++) {
            if (taken.get(i).memory.address() == memory.address()) {
                free.add(taken.remove(i));
                return true;
            }
        }
        return false;
    }

    /** Frees the pieces that were given back. */
    @Override
    public void close() {
        for (Piece piece : free) {
            meter.work().hold(-piece.memory.byteSize());
            piece.arena.close();
        }
        free.clear();
    }
}
