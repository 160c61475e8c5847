package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;

/**
 * Records that lie in one piece of memory, at most {@value #RECORDS_MAX}: what a stream moved over
 * in one go. Owned by who reads, filled again by each move. <em>Confined to one thread.</em>
 */
public final class RecordRun {
    /** Most records of a run. */
    public static final int RECORDS_MAX = 64;

    private final long[] offsets = new long[RECORDS_MAX];
    private final int[] lengths = new int[RECORDS_MAX];
    private MemorySegment segment = MemorySegment.NULL;
    private int count;

    /** Makes it a run of one record. */
    public void begin(Slice first) {
        segment = first.segment();
        offsets[0] = first.offset();
        lengths[0] = first.length();
        count = 1;
    }

    /**
     * Adds records that lie in the memory of the first one.
     *
     * @param newOffsets where they lie
     * @param from place of the first of them in both arrays
     * @param added how many, for which there is room
     */
    public void add(int[] newOffsets, int[] newLengths, int from, int added) {
        for (int i = 0; i < added; i++) {
            offsets[count + i] = newOffsets[from + i];
        }
        System.arraycopy(newLengths, from, lengths, count, added);
        count += added;
    }

    /** How many records it has; 0 before the first move. */
    public int count() {
        return count;
    }

    /** Moves {@code slice} to a record. */
    public Slice record(int index, Slice slice) {
        return slice.set(segment, offsets[index], lengths[index]);
    }
}
