package io.turbidite.core.scan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordColumns;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Records that lie in one piece of memory, at most {@value #RECORDS_MAX}: what a stream moved over
 * in one go. Owned by who reads, filled again by each move. <em>Confined to one thread.</em>
 */
public final class RecordRun {
    /** Most records of a run. */
    public static final int RECORDS_MAX = 1_024;

    /** A short query has short runs. */
    private static final int RECORDS_FIRST = 16;

    private long[] offsets = new long[RECORDS_FIRST];
    private int[] lengths = new int[RECORDS_FIRST];
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
        assert count + added <= RECORDS_MAX : count + " and " + added;
        if (count + added > offsets.length) {
            int room = Math.max(2 * offsets.length, count + added);
            offsets = Arrays.copyOf(offsets, room);
            lengths = Arrays.copyOf(lengths, room);
        }
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

    /** What the records take together, from one of them on. */
    public long bytes(int from) {
        long bytes = 0;
        for (int i = from; i < count; i++) {
            bytes += lengths[i];
        }
        return bytes;
    }

    /** Moves {@code slice} to a record. */
    public Slice record(int index, Slice slice) {
        return slice.set(segment, offsets[index], lengths[index]);
    }

    /**
     * Shows the records by columns, until the run is filled again.
     *
     * @throws io.turbidite.core.CorruptionException if a record's header and length don't fit
     *     together
     */
    public void show(RecordColumns columns) {
        columns.wrap(segment, offsets, lengths, count);
    }
}
