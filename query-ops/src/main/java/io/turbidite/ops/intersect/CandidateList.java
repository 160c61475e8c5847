package io.turbidite.ops.intersect;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.OperatorMemory;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Candidates of one index as they were found, not sorted: most of them will turn out to be no
 * candidates of another. Owns its memory. <em>Confined to one thread.</em>
 *
 * <pre>
 *  0  hash of the primary key
 *  8  timestamp
 * 16  up to where it was checked
 * 24  bytes of the primary key
 * 28  bytes of the secondary key
 * 32  primary key, secondary key
 * </pre>
 */
final class CandidateList implements AutoCloseable {
    private static final int HASH_OFFSET = 0;
    private static final int TIMESTAMP_OFFSET = HASH_OFFSET + Long.BYTES;
    private static final int CHECKED_OFFSET = TIMESTAMP_OFFSET + Long.BYTES;
    private static final int PRIMARY_BYTES_OFFSET = CHECKED_OFFSET + Long.BYTES;
    private static final int SECONDARY_BYTES_OFFSET = PRIMARY_BYTES_OFFSET + Integer.BYTES;
    private static final int KEYS_OFFSET = SECONDARY_BYTES_OFFSET + Integer.BYTES;

    private final OperatorMemory memory;
    private final List<MemorySegment> pieces = new ArrayList<>();

    /** Bytes used of each piece. */
    private int[] lengths = new int[8];

    private final Slice primaryKey = new Slice();
    private final Slice secondaryKey = new Slice();

    /**
     * @param bytesMax most bytes that it holds
     * @param meter told what is held
     */
    CandidateList(RunOptions options, long bytesMax, OperatorMeter meter) {
        this.memory = OperatorMemory.of(options, bytesMax, meter);
    }

    /** Adds a candidate; false, and nothing changes, where there is no room. */
    boolean add(long hash, Slice primary, long timestamp, long checkedUntil, Slice secondary) {
        int bytes = KEYS_OFFSET + primary.length() + secondary.length();
        int last = pieces.size() - 1;
        if (last < 0 || lengths[last] + bytes > pieces.get(last).byteSize()) {
            MemorySegment more = memory.take(bytes);
            if (more == null) {
                return false;
            }
            pieces.add(more);
            last++;
            if (last == lengths.length) {
                lengths = Arrays.copyOf(lengths, 2 * last);
            }
            lengths[last] = 0;
        }
        MemorySegment piece = pieces.get(last);
        int at = lengths[last];
        piece.set(Bytes.I64, at + HASH_OFFSET, hash);
        piece.set(Bytes.I64, at + TIMESTAMP_OFFSET, timestamp);
        piece.set(Bytes.I64, at + CHECKED_OFFSET, checkedUntil);
        piece.set(Bytes.I32, at + PRIMARY_BYTES_OFFSET, primary.length());
        piece.set(Bytes.I32, at + SECONDARY_BYTES_OFFSET, secondary.length());
        MemorySegment.copy(
                primary.segment(), primary.offset(), piece, at + KEYS_OFFSET, primary.length());
        MemorySegment.copy(
                secondary.segment(),
                secondary.offset(),
                piece,
                at + KEYS_OFFSET + primary.length(),
                secondary.length());
        lengths[last] = at + bytes;
        return true;
    }

    /**
     * Adds those to a collector that another index may have too, and forgets all.
     *
     * @param others null: all may be
     * @return false if the collector has no room for them
     */
    boolean moveTo(SortedSide.Collector collector, @Nullable CandidateBits others) {
        boolean fits = true;
        for (int i = 0; fits && i < pieces.size(); i++) {
            fits = move(pieces.get(i), lengths[i], collector, others);
        }
        close();
        return fits;
    }

    private boolean move(
            MemorySegment piece,
            int length,
            SortedSide.Collector collector,
            @Nullable CandidateBits others) {
        int at = 0;
        boolean fits = true;
        while (fits && at < length) {
            int primaryBytes = piece.get(Bytes.I32, at + PRIMARY_BYTES_OFFSET);
            int secondaryBytes = piece.get(Bytes.I32, at + SECONDARY_BYTES_OFFSET);
            int secondary = at + KEYS_OFFSET + primaryBytes;
            if (others == null || others.mayContain(piece.get(Bytes.I64, at + HASH_OFFSET))) {
                fits = collector.addToSort(
                        primaryKey.set(piece, at + KEYS_OFFSET, primaryBytes),
                        piece.get(Bytes.I64, at + TIMESTAMP_OFFSET),
                        piece.get(Bytes.I64, at + CHECKED_OFFSET),
                        secondaryKey.set(piece, secondary, secondaryBytes));
            }
            at = secondary + secondaryBytes;
        }
        return fits;
    }

    @Override
    public void close() {
        pieces.clear();
        memory.close();
    }
}
