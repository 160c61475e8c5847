package io.turbidite.ops.run;

import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.memory.Pool;
import io.turbidite.core.memory.QueryMemory;
import io.turbidite.core.sort.SortMemory;
import io.turbidite.ops.frame.OperatorMeter;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What one operator keeps, within its bound: pieces off the heap, and a charge for arrays on the
 * heap. Freed as a whole; pieces that are given back are kept for what comes.
 *
 * <p>The first pieces are small and kept for the next query; later ones are of one shared arena,
 * closed with the operator, because a store that makes no garbage would see no collection for a
 * long time.
 *
 * <p>Sorting a piece takes arrays about as large as the piece. So as much as the largest one is
 * left free, but for pieces of a single long entry.
 *
 * <p>Where the query has a share of its store's memory for queries, all of this is taken from it
 * before it is allocated: what is refused there is as if the bound were reached. So much of the
 * share's least as is this operator's part of the query is never refused.
 *
 * <p><em>Confined to one thread at a time.</em>
 */
@SuppressWarnings("exports") // what it is to a sort is of our own modules alone
public final class OperatorMemory implements SortMemory, AutoCloseable {
    private static final int PIECE_BYTES_FIRST = 16 << 10;
    private static final int PIECE_BYTES_MAX = 1 << 20;
    private static final int ALIGNMENT = 8;

    /**
     * First pieces, of 16, 64 and 256 KiB, kept from one query to the next and not cleared. An
     * arena that is closed stops all threads of the process, which took longer than the sort of a
     * few rows.
     */
    private static final List<Pool<MemorySegment>> POOLS = IntStream.range(0, 3)
            .mapToObj(i -> new Pool<>(
                    () -> Arena.ofAuto().allocate((long) PIECE_BYTES_FIRST << (2 * i), ALIGNMENT)))
            .toList();

    private final long bytesMax;
    private final QueryMemory.@Nullable Share share;

    /** Null where nobody asks. */
    private final @Nullable OperatorMeter meter;

    /**
     * This operator's part of half of what the query has for certain: a join's parts, one after
     * another, have bounds of more than the whole.
     */
    private final long leastBytesMax;

    private final List<MemorySegment> free = new ArrayList<>();

    /** Pieces that go back to {@link #POOLS}. */
    private final List<MemorySegment> pooled = new ArrayList<>(POOLS.size());

    private @Nullable Arena arena;
    private long pieceBytes;
    private long freeBytes;
    private long chargedBytes;
    private long largestBytes;

    // ---- held of the share
    private boolean entered;
    private long leastBytes;
    private long drawnBytes;

    private OperatorMemory(
            long bytesMax, QueryMemory.@Nullable Share share, @Nullable OperatorMeter meter) {
        this.meter = meter;
        this.bytesMax = bytesMax;
        this.share = share;
        this.leastBytesMax = share == null
                ? 0
                : Math.min(bytesMax, (long) (QueryMemory.LEAST_BYTES
                        / 2
                        * Math.min(1, bytesMax / (double) share.queryBytesMax())));
    }

    /** At most so many bytes of what {@code options} give to the query. */
    public static OperatorMemory of(RunOptions options, long bytesMax) {
        return new OperatorMemory(bytesMax, options.share(), null);
    }

    /**
     * As {@link #of(RunOptions, long)}.
     *
     * @param meter of the operator, told what is held
     */
    public static OperatorMemory of(RunOptions options, long bytesMax, OperatorMeter meter) {
        return new OperatorMemory(bytesMax, options.share(), meter);
    }

    private void count(long bytes) {
        if (meter != null && bytes != 0) {
            meter.work().hold(bytes);
        }
    }

    /**
     * Sets the charge for arrays on the heap; false, and nothing changes, where the bound is
     * reached.
     */
    public boolean charge(long bytes) {
        if (pieceBytes + largestBytes + bytes > bytesMax || !hold(pieceBytes + bytes)) {
            return false;
        }
        count(bytes - chargedBytes);
        chargedBytes = bytes;
        return true;
    }

    /** Sets the charge for arrays on the heap to less than it was, which is never refused. */
    public void lowerCharge(long bytes) {
        assert bytes <= chargedBytes : bytes + " of " + chargedBytes;
        count(bytes - chargedBytes);
        chargedBytes = bytes;
    }

    @Override
    public @Nullable MemorySegment take(long bytesMin) {
        for (int i = 0; i < free.size(); i++) {
            if (free.get(i).byteSize() >= bytesMin) {
                MemorySegment piece = free.remove(i);
                freeBytes -= piece.byteSize();
                return piece;
            }
        }
        MemorySegment piece = takeNew(bytesMin, bytesMax - pieceBytes - chargedBytes);
        if (piece == null && leastBytes < leastBytesMax) {
            // more is not given: what is certain is used up
            piece = takeNew(bytesMin, leastBytesMax - pieceBytes - chargedBytes);
        }
        if (piece == null && pieceBytes > 0 && freeBytes == pieceBytes) {
            // nobody holds any: what is too small makes room for what is needed
            freePieces();
            return take(bytesMin);
        }
        return piece;
    }

    /**
     * A piece that is allocated; null where there is no room for it.
     *
     * @param left how much there is room for
     */
    private @Nullable MemorySegment takeNew(long bytesMin, long left) {
        long wanted =
                largestBytes == 0 ? PIECE_BYTES_FIRST : Math.min(PIECE_BYTES_MAX, largestBytes * 4);
        // the last piece may be a short one, so that the bound is used up
        long bytes = Math.min(wanted, Math.min(left / 2, left - largestBytes)) & -ALIGNMENT;
        if (bytes >= bytesMin) {
            if (!hold(pieceBytes + chargedBytes + bytes)) {
                return null;
            }
            largestBytes = Math.max(largestBytes, bytes);
            return allocate(bytes);
        }
        long exactBytes = (bytesMin + ALIGNMENT - 1) & -ALIGNMENT;
        if ((wanted < bytesMin || pieceBytes == 0)
                && exactBytes <= left
                && hold(pieceBytes + chargedBytes + exactBytes)) {
            return allocate(exactBytes);
        }
        return null;
    }

    /** Holds so many bytes of the share, or more if it does already; false where it is refused. */
    private boolean hold(long bytes) {
        if (share == null) {
            return true;
        }
        if (!entered) {
            share.enter();
            entered = true;
        }
        long missing = bytes - leastBytes - drawnBytes;
        if (missing <= 0) {
            return true;
        }
        long ofLeast = share.takeOfLeast(Math.min(missing, leastBytesMax - leastBytes));
        if (missing > ofLeast && !share.draw(missing - ofLeast)) {
            share.giveOfLeast(ofLeast);
            return false;
        }
        leastBytes += ofLeast;
        drawnBytes += missing - ofLeast;
        return true;
    }

    /** Gives back to the share what is not held any more: all but charges. */
    private void giveBack() {
        if (share == null || !entered) {
            return;
        }
        long drawn = Math.min(drawnBytes, drawnBytes + leastBytes - chargedBytes);
        long ofLeast = leastBytes + drawnBytes - drawn - chargedBytes;
        share.giveBack(drawn);
        share.giveOfLeast(ofLeast);
        drawnBytes -= drawn;
        leastBytes -= ofLeast;
        if (chargedBytes == 0) {
            entered = false;
            share.leave();
        }
    }

    private MemorySegment allocate(long bytes) {
        boolean first = pieceBytes == 0;
        pieceBytes += bytes;
        count(bytes);
        Pool<MemorySegment> pool = poolOf(bytes);
        if (pool != null) {
            MemorySegment piece = pool.take();
            pooled.add(piece);
            return piece;
        }
        return (first ? Arena.ofAuto() : arenaOfNext()).allocate(bytes, ALIGNMENT);
    }

    private static @Nullable Pool<MemorySegment> poolOf(long bytes) {
        for (int i = 0; i < POOLS.size(); i++) {
            if (bytes == (long) PIECE_BYTES_FIRST << (2 * i)) {
                return POOLS.get(i);
            }
        }
        return null;
    }

    @Override
    public void give(MemorySegment piece) {
        free.add(piece);
        freeBytes += piece.byteSize();
    }

    private Arena arenaOfNext() {
        if (arena == null) {
            arena = NativeMemory.shared("operator memory");
        }
        return arena;
    }

    @Override
    public void close() {
        count(-chargedBytes);
        chargedBytes = 0;
        freePieces();
    }

    private void freePieces() {
        free.clear();
        freeBytes = 0;
        count(-pieceBytes);
        pieceBytes = 0;
        largestBytes = 0;
        for (MemorySegment piece : pooled) {
            Pool<MemorySegment> pool = poolOf(piece.byteSize());
            if (pool != null) {
                pool.give(piece);
            }
        }
        pooled.clear();
        if (arena != null) {
            arena.close();
            arena = null;
        }
        giveBack();
    }
}
