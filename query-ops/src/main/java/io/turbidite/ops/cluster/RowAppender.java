package io.turbidite.ops.cluster;

import io.turbidite.core.bytes.Slice;

import org.apache.hyracks.api.comm.IFrame;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.dataflow.common.comm.io.AbstractFrameAppender;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Appends tuples to a frame of the engine, from wherever their bytes lie: its own appender takes
 * arrays of the heap alone. A frame grows for a tuple that is longer. <em>Confined to one thread at
 * a time.</em>
 *
 * <pre>
 * offset        type     what
 * 0             i32 big  size of the frame, in units of the smallest
 * 4             u8       nothing
 * 5             …        tuples, one behind the other; each is
 *                          i32 big × fields: where the field ends, from behind these on
 *                          the fields' bytes
 * end - 4(i+2)  i32 big  where tuple i ends
 * end - 4       i32 big  tuple count
 * </pre>
 */
final class RowAppender extends AbstractFrameAppender {
    private static final int END_BYTES = 4;

    RowAppender(IFrame frame) throws HyracksDataException {
        reset(frame, true);
    }

    /** Appends a tuple of {@code count} fields; false: the frame is full, and stays as it is. */
    boolean append(Slice[] fields, int count) throws HyracksDataException {
        int bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes = Math.addExact(bytes, fields[i].length());
        }
        if (!canHoldNewTuple(count, bytes)) {
            return false;
        }
        int data = tupleDataEndOffset + END_BYTES * count;
        int end = 0;
        for (int i = 0; i < count; i++) {
            Slice field = fields[i];
            MemorySegment.copy(
                    field.segment(),
                    ValueLayout.JAVA_BYTE,
                    field.offset(),
                    array,
                    data + end,
                    field.length());
            end += field.length();
            Ints.put(array, tupleDataEndOffset + END_BYTES * i, end);
        }
        tupleDataEndOffset = data + end;
        int countAt = frame.getFrameSize() - END_BYTES;
        Ints.put(array, countAt - END_BYTES * (tupleCount + 1), tupleDataEndOffset);
        tupleCount++;
        Ints.put(array, countAt, tupleCount);
        return true;
    }

    int count() {
        return tupleCount;
    }
}
