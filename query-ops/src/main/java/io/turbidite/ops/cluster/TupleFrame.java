package io.turbidite.ops.cluster;

import io.turbidite.core.bytes.Slice;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * A frame of the engine under reading, in place; {@link RowAppender} has its layout. It comes from
 * a member of the cluster, and its offsets are checked all the same before they are used.
 * <em>Confined to one thread at a time.</em>
 */
final class TupleFrame {
    private static final int END_BYTES = 4;
    private static final int TUPLES_OFFSET = 5;

    private final int fieldCount;
    private byte[] array = new byte[0];
    private MemorySegment segment = MemorySegment.NULL;
    private int start;
    private int countAt;
    private int tupleCount;
    private int nextTuple;

    /** Of tuples with so many fields, the last of which is the record. */
    TupleFrame(int fieldCount) {
        this.fieldCount = fieldCount;
    }

    /** Stands before the first tuple. */
    @SuppressWarnings("ReferenceEquality") // a segment is made once for each array
    void set(ByteBuffer buffer) {
        byte[] bytes = buffer.array();
        if (bytes != array) {
            array = bytes;
            segment = MemorySegment.ofArray(bytes);
        }
        start = buffer.arrayOffset();
        countAt = start + buffer.limit() - END_BYTES;
        tupleCount = Ints.get(bytes, countAt);
        nextTuple = 0;
    }

    /** Forgets the frame. */
    void clear() {
        tupleCount = 0;
        nextTuple = 0;
    }

    boolean hasNext() {
        return nextTuple < tupleCount;
    }

    /** Moves to the next tuple, and the slice to its record. */
    Slice next(Slice record) {
        byte[] bytes = array;
        int from =
                nextTuple == 0 ? TUPLES_OFFSET : Ints.get(bytes, countAt - END_BYTES * nextTuple);
        nextTuple++;
        int data = start + from + END_BYTES * fieldCount;
        int begin = fieldCount == 1 ? 0 : Ints.get(bytes, data - 2 * END_BYTES);
        int end = Ints.get(bytes, data - END_BYTES);
        return record.set(segment, data + begin, end - begin);
    }
}
